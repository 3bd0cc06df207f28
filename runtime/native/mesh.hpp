// The connections of this node to all others, and the two threads that serve them: the sender module and the
// receiver module (Tremblay et al., section 4). Carries messages and control frames; what control frames mean
// is for coordination.hpp.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/native/frame.hpp"
#include "runtime/native/membership.hpp"

namespace heddle::native {

struct MeshOptions {
    Membership membership;
    std::uint64_t fingerprint = 0;
    std::string address;
    std::uint64_t frame_bytes_max = 0;
    std::chrono::milliseconds meeting_max{};
};

class Mesh {
public:
    /// All called on the receiver's thread, one at a time.
    struct Events {
        std::function<void(NodeId from, std::span<const std::byte> message, runtime::Body body)> deliver;
        std::function<void(NodeId from, FrameKind kind, std::span<const std::byte> payload)> control;
        std::function<void(NodeId node, const std::string& reason)> lost;  ///< once
    };

    /// Meets the other nodes, and connects to each. Throws Error where one does not come, or runs another
    /// program.
    explicit Mesh(const MeshOptions& options);

    /// Stops the threads and closes the connections.
    ~Mesh();

    /// Starts the sender and the receiver.
    void start(Events events);

    /// Queues a frame for another node. Any thread.
    void post(NodeId to, FrameKind kind, runtime::Bytes payload = {}, runtime::Body body = {});
    void post_to_all(FrameKind kind);

    /// Says goodbye to all others and waits for theirs. False where a node was lost.
    bool part();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::native
