// The connections of this node to all others, and the two threads that serve them: the sender module and the
// receiver module (Tremblay et al., section 4).
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "runtime/native/membership.hpp"
#include "runtime/native/transport.hpp"

namespace heddle::native {

struct MeshOptions {
    Membership membership;
    std::uint64_t fingerprint = 0;
    std::string address;
    std::uint64_t frame_bytes_max = 0;
    std::chrono::milliseconds meeting_max{};
};

class Mesh final : public Transport {
public:
    /// Meets the other nodes, and connects to each. Throws Error where one does not come, or runs another
    /// program.
    explicit Mesh(const MeshOptions& options);

    /// Stops the threads and closes the connections.
    ~Mesh() override;

    void start(Events events) override;
    void post(NodeId to, FrameKind kind, runtime::Bytes payload, runtime::Body body) override;
    bool part() override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::native
