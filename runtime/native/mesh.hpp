// The connections of this node to all others, and the two threads that serve them: the sender module and the
// receiver module (Tremblay et al., section 4).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "runtime/native/agreement.hpp"
#include "runtime/native/flow.hpp"
#include "runtime/native/local_meeting.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/polling.hpp"
#include "runtime/native/transport.hpp"
#include "runtime/native/udp_meeting.hpp"

namespace heddle::native {

struct MeshOptions {
    Membership membership;
    Agreement agreement;
    std::string address;
    std::uint64_t frame_bytes_max = 0;
    std::chrono::milliseconds meeting_max{};
    Receive receive = Receive::automatic;
    WaitTimes times = {};
    std::uint64_t window = 8U << 20;          ///< see Flow
    std::function<bool()> core_is_free = {};  ///< see Polling
    Local local = Local::shared_memory;
    Protection protection = Protection::integrity;
    PortRange ports = {};                ///< to listen at
    std::string from = {};               ///< the address to connect from; empty: the system chooses
    std::optional<UdpOptions> udp = {};  ///< messages between machines travel by UDP; none: by TCP
    /// Topology::at_start. If it is set, nodes may join and leave; a node with that number or a higher one
    /// joins.
    std::optional<NodeId> at_start = {};
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
    void send(NodeId to, runtime::Bytes message, runtime::Body body, Sender sender) override;
    void pad(NodeId to, std::uint64_t bytes, Sender sender) override;
    bool part() override;
    void leave() override;
    void call(std::function<void()> code) override;
    std::vector<NodeId> connected() const override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::native
