// The native world: a process is a node, and each worker a pthread. If there are other nodes, a sender and a
// receiver thread use TCP (Tremblay et al., "Implementation of the EARTH programming model on SMP clusters",
// section 4). Or one thread does both over MPI, or there is none and the workers poll. Time is the steady
// clock; operations are not charged.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/native/agreement.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/mesh_network.hpp"
#include "runtime/native/mpi_mesh.hpp"
#include "runtime/native/polling.hpp"
#include "runtime/native/protection.hpp"

namespace heddle::native {

// In an order that reads well. There is one object a run.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct NativeOptions {
    CoreId cores = 1;  ///< workers of this node; host::machine_cores() for all there are
    std::uint64_t stack_bytes = 64ULL << 20;    ///< stack of one worker; touched only as it is used
    std::optional<Membership> membership = {};  ///< none: a run of one node
    Agreement agreement = {};                   ///< nodes with different ones refuse each other
    bool bind = true;          ///< bind workers to cores, where all workers on this machine fit its cores
    double core_speed = 10e9;  ///< flops per second: how long work lasts that is only declared
    std::vector<std::uint32_t> group = {};             ///< Topology::group; empty: all nodes in one group
    std::shared_ptr<const NetworkRoutes> routes = {};  ///< Topology::routes
    /// Of each network of `routes`, which knows names and members: what carries it. Empty: all as stated
    /// below.
    std::vector<MeshNetwork> networks = {};
    Time latency{};        ///< Topology::latency
    double bandwidth = 0;  ///< Topology::bandwidth

    /// Messages travel by MPI (membership: `join_mpi`), or with `networks` those of some networks. None: by
    /// TCP.
    std::optional<MpiOptions> mpi = {};
    std::string address = "127.0.0.1";  ///< TCP: the address to listen on for other nodes
    PortRange ports = {};               ///< TCP and UDP: the ports to use
    std::string from = {};  ///< the address of this machine to connect from; empty: the system chooses
    Protection protection = Protection::integrity;  ///< TCP: of messages on the way
    std::uint64_t frame_bytes_max = 1ULL << 40;     ///< largest message between nodes
    Receive receive = Receive::automatic;           ///< TCP: how the receiver waits for messages
    WaitTimes times = {};                           ///< how long threads look before they sleep
    std::uint64_t window = 8U << 20;  ///< bytes to one other node that may be under way until workers wait
    /// TCP: how long to wait for the others at the start. None: meeting_time.
    std::optional<std::chrono::milliseconds> meeting_max = {};
    bool gate_open = true;  ///< false: each push and pop looks for requests, as where operations are charged
    Local local = Local::shared_memory;  ///< what connects processes of one machine, without `mpi`
    std::optional<UdpOptions> udp = {};  ///< between machines messages travel by UDP; none: by TCP
    bool single_module = false;          ///< TCP: no sender and no receiver; workers poll (polled_mesh.hpp)

    // Nodes that join and leave; without MPI only.
    std::optional<NodeId> at_start = {};  ///< Topology::at_start; a node of that number or higher joins
    std::optional<Time> leave_at = {};    ///< this node is to leave then, as on SIGUSR1
    /// Node 0 asks the launcher for node `node` at time `at`.
    struct Join {
        Time at;
        NodeId node;
    };
    std::vector<Join> joins = {};
    /// This node was to join, but the run was over: `run` returns then, and no worker has worked. Default:
    /// says so on standard error and ends the process with exit code 0.
    std::function<void()> on_over = {};

    /// Another node was lost, and why; called once, on a thread of the backend's. The run cannot end well
    /// after that: a handler that returns makes `run` throw Error once the local workers have returned.
    /// Default: writes `heddle: node 2 was lost (connection closed); the run cannot go on` to standard error
    /// and ends the process with exit code 4. With MPI, MPI itself then ends all processes.
    std::function<void(NodeId node, const std::string& reason)> on_lost = {};
};

/// Exit code of a process that ends because a worker or handler failed.
inline constexpr int exit_code_failed = 2;
/// Exit code of a process that ends because another node was lost.
inline constexpr int exit_code_lost = 4;

/// One node of a native run. `work` and `deliver` must not let an exception out: it ends the process, except
/// where the run has a single worker, whose exception `run` passes on.
class NativeBackend final : public runtime::Backend {
public:
    /// Throws Error for options that make no sense. Opens nothing yet.
    explicit NativeBackend(NativeOptions options);
    ~NativeBackend() override;

    const runtime::Topology& topology() const override;

    /// Meets the other nodes, starts all together, runs to the end. Throws Error where nodes do not meet in
    /// time, run different binaries, or threads cannot be started. A node that joins begins in the run's
    /// time; for a node that leaves it returns before the run ends. SIGUSR1 to this process asks the node to
    /// leave, if nodes may.
    void run(const runtime::NodeFactory& make_node) override;

    Time now(const runtime::Context& context) const override;
    Time recent(const runtime::Context& context) const override;
    Time about(const runtime::Context& context) const override;
    void pause(runtime::Context& context) override;
    void park(runtime::Context& context, Time deadline) override;
    void receive(runtime::Context& context, Time deadline, const std::function<bool()>& done) override;
    void unpark(runtime::Context& caller, CoreId core) override;
    void compute(runtime::Context& context, const runtime::Work& work,
                 const std::function<void()>& code) override;

    /// Throws Error for a message of more than `frame_bytes_max`. Padding goes ahead of it, in frames of its
    /// own. Holds a worker back while more than `window` is under way to that node; a handler never.
    void send(runtime::Context& context, NodeId to, runtime::Bytes message, runtime::Enclosure enclosure = {},
              runtime::Path path = {}) override;
    runtime::Bytes buffer(runtime::Context& context) override;
    /// With `single_module`, where there are other nodes.
    bool poll(runtime::Context& context) override;
    void io(runtime::Context& caller, double bytes, std::function<void()> code,
            std::function<void(runtime::Context& context)> done) override;
    /// Asks the launcher, and does not wait. If it cannot, a line on standard error says why.
    std::unique_ptr<runtime::MemoryView> make_view(NodeId node, const runtime::ViewOptions& options,
                                                   runtime::FaultHandler& handler) override;
    void start_nodes(runtime::Context& caller, NodeId count) override;
    Time elapsed() const override;

    /// On node 0: the error of the times of nodes on other machines, once the run has begun. Zero on one
    /// machine.
    Time clock_error() const;

    /// On node 0: the names of the machines that the nodes are on, by node, once the run has begun. Empty for
    /// a node that never joined. To be asked when no thread of the run is at work.
    std::vector<std::string> hosts() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::native
