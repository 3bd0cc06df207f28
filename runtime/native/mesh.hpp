// The connections of this node to all others, and the two threads that serve them: the sender module and the
// receiver module (Tremblay et al., section 4).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/native/agreement.hpp"
#include "runtime/native/flow.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/mesh_network.hpp"
#include "runtime/native/parker.hpp"
#include "runtime/native/polling.hpp"
#include "runtime/native/transport.hpp"

namespace heddle::native {

struct MeshOptions {
    Membership membership;
    Agreement agreement;
    /// By number; one, or those of a platform with several (base/network_routes.hpp).
    std::vector<MeshNetwork> networks = {MeshNetwork{}};
    std::uint64_t frame_bytes_max = 0;
    std::chrono::milliseconds meeting_max{};
    Receive receive = Receive::automatic;
    WaitTimes times = {};
    std::uint64_t window = 8U << 20;          ///< see Flow
    std::function<bool()> core_is_free = {};  ///< see Polling
    Protection protection = Protection::integrity;
    /// Topology::at_start. If it is set, nodes may join and leave; a node with that number or a higher one
    /// joins.
    std::optional<NodeId> at_start = {};
    /// That its threads may run on (host::bind_to_cores). None: all.
    std::vector<unsigned> cores = {};
    bool amid_workers = false;  ///< each of these cores has a worker that is bound to it
    bool has_core = true;       ///< this machine has a core more than the run's workers there
    /// The first node on the way to node 0. If it ends before this one takes part, the run is over.
    NodeId towards_lead = 0;
};

class Mesh final : public Transport {
public:
    /// Meets the other nodes, and connects to each. Throws Error where one does not come, or runs another
    /// program.
    explicit Mesh(const MeshOptions& options);

    /// Stops the threads and closes the connections.
    ~Mesh() override;

    void start(Events events) override;
    void post(NodeId to, FrameKind kind, runtime::Bytes payload, runtime::SentBody body) override;
    void send(NodeId to, NetworkId network, runtime::Bytes&& message, runtime::SentBody&& body,
              Sender sender) override;
    void pad(NodeId to, NetworkId network, std::uint64_t bytes, Sender sender) override;
    bool part() override;
    void leave() override;
    void call(std::function<void()> code) override;
    void begin() override;
    void expect(NodeId node) override;
    void has_joined(NodeId node) override;

    /// A worker parks here (Parker::park), and receives meanwhile if no other worker does. Events then come
    /// on its thread.
    Deadline rest(Parker& parker, Deadline from, Deadline until, std::chrono::nanoseconds spin);

    /// The same for a wait that probably ends soon: until `done()`, and never asleep. May return at once.
    Deadline receive_until(Parker& parker, Deadline from, Deadline until, std::chrono::nanoseconds spin,
                           const std::function<bool()>& done);

    /// A worker at work takes what has come through memory (Topology::polled_in_passing). `now`: the present
    /// time, or a little earlier. True: something has come.
    bool look_in_passing(Deadline now);

    /// Wakes the worker that rests, and that `Parker::unpark` says sleeps elsewhere. Any thread.
    void rouse();

    std::vector<NodeId> connected() const override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::native
