// The machine that a run is for: nodes, cores, memory, network, and the cost of each operation of the
// scheduler. A description only: the simulator builds such a machine, a native run reads the numbers of nodes
// and cores from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "base/memory_bandwidth.hpp"
#include "base/time.hpp"

namespace heddle {

/// What the bytes of a message of some size take of a processor at each end, besides the message itself.
struct MessageBytes {
    std::uint64_t size = 0;
    Time send{};
    Time receive{};

    auto operator<=>(const MessageBytes&) const = default;
};

/// What `bytes` bytes take at that end: between two of the sizes a line, below the first the line from
/// nothing, beyond the last that of the last two. The sizes ascend, and there is one at least. Throws Error
/// where that lies after the last moment.
Time time_of_bytes(const std::vector<MessageBytes>& sizes, Time MessageBytes::*end, std::uint64_t bytes);

/// What one operation of the scheduler costs on a core of the platform (design: the overhead table).
/// All zero: an ideal scheduler. The defaults are of the order of a current core's; see docs/platforms.md.
struct Overheads {
    Time fork{};              ///< create a task and push it
    Time join{};              ///< pop an un-stolen task
    Time fork_shared{};       ///< added to a fork and its join if the task is shown to thieves at once
    Time closure{};           ///< dataflow: added to the fork and join of a task, which has accesses
    Time steal_attempt{};     ///< look at another worker of the node and find no task
    Time steal{};             ///< take a task from another worker of the node
    Time steal_far{};         ///< added if that worker is on another socket, task or not
    Time readiness{};         ///< for each access of a task that a thief looks at for what is ready
    Time sync{};              ///< signal a sync slot
    Time strand{};            ///< start a strand
    Time strand_switch{};     ///< go on with another strand
    Time token{};             ///< take a token from the node's token queue, or put one there
    Time compute{};           ///< added to each piece of work that a program hands to Worker::compute
    Time placed_task{};       ///< placed graphs: added for each task, besides `token`
    Time placed_input{};      ///< placed graphs: added for each input of a task, besides `sync`
    Time ready_elsewhere{};   ///< placed graphs: added for an input that another context makes (paid there)
    Time message_enqueue{};   ///< hand a message to the sender module (paid by the worker)
    Time message_send{};      ///< send one message (paid by the sender module)
    Time message_receive{};   ///< receive one message and run its handler (paid by the receiver module)
    Time message_send_kib{};  ///< added for each KiB of it: copies into the system, checksums
    Time message_receive_kib{};  ///< the same where it arrives
    Time message_rouse{};        ///< added if its receiver sleeps, on the same machine (paid by the sender)
    Time message_interrupt{};    ///< taken from a core if its receiver sleeps while all of its cores compute
    Time message_match{};        ///< at an endpoint, of a message with its receive (paid by both workers)
    Time message_thread{};       ///< messaging: added for a thread's message (paid by both threads)
    Time poll{};                 ///< look for messages (schedule.modules: single; paid by the worker)
    Time poll_peer{};            ///< added to each look for messages, for each other node
    Time wake_up{};              ///< from an unpark to the parked worker's next instruction
    Time wake_up_asleep{};       ///< added if the worker, or the receiver, looks no more and sleeps
    Time wake_up_deep{};         ///< added if the worker has been parked for `deep_sleep` or longer
    Time wake_up_message{};      ///< added if the handler of a message wakes the worker
    Time wake_up_receiving{};    ///< in their place if it receives for a strand that waits; 0: it never does
    Time deep_sleep{};           ///< a core that idles for so long sleeps deeply
    Time unpark{};               ///< wake a parked worker (paid by the worker or handler that wakes it)
    Time page_fault{};           ///< from an access that a page does not permit to its handler, and back
    Time page_protect{};         ///< change what accesses one page, or one run of pages, permits
    Time page_fill{};            ///< put a fetched page in place, besides the copy of its bytes
    Time page_first{};           ///< added when a node may access a page for the first time: its memory
    Time page_diff_kib{};        ///< for each KiB that is copied to a twin, compared with it or patched

    static Overheads defaults();

    /// In place of `message_send_kib` and `message_receive_kib`, if it is not empty: what the bytes of
    /// messages of some sizes take.
    std::vector<MessageBytes> message_bytes{};

    /// Of a message of so many bytes. Throws Error where the sum lies after the last moment.
    Time sending(std::uint64_t bytes) const {
        if (!message_bytes.empty()) [[unlikely]]
            return checked_sum(message_send, time_of_bytes(message_bytes, &MessageBytes::send, bytes));
        return with_bytes(message_send, message_send_kib, bytes);
    }
    Time receiving(std::uint64_t bytes) const {
        if (!message_bytes.empty()) [[unlikely]]
            return checked_sum(message_receive, time_of_bytes(message_bytes, &MessageBytes::receive, bytes));
        return with_bytes(message_receive, message_receive_kib, bytes);
    }
    /// Whether large messages take longer to receive than small ones.
    bool receives_by_size() const { return message_receive_kib > Time::zero() || !message_bytes.empty(); }
    /// Of so many bytes of pages whose changes a protocol finds or applies. Throws Error as above.
    Time diffing(std::uint64_t bytes) const { return with_bytes(Time::zero(), page_diff_kib, bytes); }

private:
    static Time with_bytes(Time fixed, Time per_kib, std::uint64_t bytes) {
        if (per_kib == Time::zero()) [[likely]]
            return fixed;
        const TimeSum sum = TimeSum(fixed) + TimeSum(per_kib) * static_cast<std::int64_t>(bytes) / 1024;
        if (sum > TimeSum(last_moment)) refuse_moment();
        return Time(static_cast<std::int64_t>(sum.count()));
    }
};

/// Where nothing is charged.
inline constexpr Overheads no_overheads{};

/// How the nodes are connected.
struct Network {
    enum class Topology : std::uint8_t { star, fat_tree, torus, dragonfly };

    Topology topology = Topology::star;
    double bandwidth = 12.5e9;                    ///< bytes per second, each link, each direction
    Time latency = std::chrono::microseconds(1);  ///< of one link
    Time gap{};  ///< least time between two messages leaving one node (LogGP's g)

    /// fat_tree: nodes per leaf switch, then children per switch of each higher level. dragonfly: groups,
    /// chassis per group, routers per chassis, nodes per router. torus: extent of each dimension. Empty:
    /// chosen from the node count. The product must be the node count at least.
    std::vector<std::uint32_t> shape;

    /// fat_tree: parallel cables to each parent, a level each (1: full tree, tapered). Empty: enough for full
    /// bisection.
    std::vector<std::uint32_t> cables;

    /// How messages share bandwidth. `full`: large ones in SimGrid, small ones are calculated. `exact`: all
    /// in SimGrid. `none`: every message has the network to itself, as task schedulers assume; no link is
    /// shared, no card busy.
    enum class Contention : std::uint8_t { full, exact, none };
    Contention contention = Contention::full;

    /// Messages below this size are small: they are calculated, unless contention is `exact`.
    std::uint64_t small_message_bytes = 4096;

    /// SimGrid's network model. `CM02`: latency and bandwidth as written. `LV08`: latency times 13.01,
    /// bandwidth times 0.97.
    enum class CostModel : std::uint8_t { CM02, LV08 };
    CostModel cost_model = CostModel::CM02;
};

/// One of several networks of a platform. What it does not state is as in Platform::network.
struct PartialNetwork {
    std::string name;
    std::vector<NodeId> members;  ///< ascending
    std::optional<Network::Topology> topology{};
    std::optional<double> bandwidth{};
    std::optional<Time> latency{};
    std::optional<Time> gap{};
    std::vector<std::uint32_t> shape{};  ///< of this network alone, as are its cables
    std::vector<std::uint32_t> cables{};
    Location where{};
};

/// How messages pass gateways, and networks that join the same nodes (base/network_routes.hpp).
struct Gateways {
    /// What a message between nodes that no network joins is divided into.
    std::uint64_t fragment_bytes = 64 << 10;
    /// At most so many bytes of the messages from one node to another are at gateways.
    std::uint64_t window_bytes = 4 << 20;
    /// Messages use all networks that join two nodes at the same time.
    bool all_rails = false;
};

/// How much the time of work differs from what it should be: relative standard deviations.
struct Noise {
    double node = 0;  ///< of a factor for each node, drawn once
    double task = 0;  ///< of a factor for each piece of work
};

/// What happens to a node while a run is on. One of `speed`, `stop` and `member` is stated. A machine stops
/// with all of its nodes: its memory bus and its card stop too.
struct NodeEvent {
    Time at{};
    NodeId node = 0;
    std::optional<double> speed{};  ///< of its cores from then on, as a factor of what they had at first
    std::optional<bool> stop{};     ///< true: nothing goes on on its machine; false: it goes on where it was
    std::optional<bool> member{};   ///< true: it joins the run; false: it leaves it
    Location where{};
};

/// What happens to a link while a run is on: its figures from then on, as factors of what they were at first.
/// At least one of them is stated; one that is not stays as it is.
struct LinkEvent {
    Time at{};
    std::string link{};  ///< as SimGrid names it; without `_UP` and `_DOWN`: both directions
    std::optional<double> bandwidth{};
    std::optional<double> latency{};
    Location where{};
};

/// Serves one call after the other.
struct Disk {
    double bandwidth = 1e9;                         ///< bytes per second
    Time latency = std::chrono::microseconds(100);  ///< of each call
};

/// What messages between the nodes of a machine take. Messages of one node to another pass one after the
/// other.
struct SharedMemory {
    Time latency = std::chrono::nanoseconds(300);
    double bandwidth = 10e9;  ///< bytes per second, from one node to one other
};

/// What decides how many bytes a copy moves (runtime/core/copy.hpp).
struct Cache {
    std::uint64_t line = 64;           ///< bytes; memory moves whole lines
    std::uint64_t bytes = 1ULL << 20;  ///< of each core
};

struct Platform {
    static constexpr NodeId nodes_max = 10'000'000;

    NodeId nodes = 1;
    /// Nodes 0 to nodes_at_start - 1 begin the run, the others may join. 0: all begin it.
    NodeId nodes_at_start = 0;
    /// So many neighbouring nodes share a machine: its memory bus, disk and network card. Divides `nodes`.
    NodeId processes = 1;
    SharedMemory shared_memory;
    CoreId cores = 0;          ///< of each node; 0: natively the machine's own, in simulation 1
    double core_speed = 10e9;  ///< flops per second, each core
    MemoryBandwidth memory_bandwidth = 40e9;  ///< shared by the cores of a machine
    double core_memory_bandwidth = 0;  ///< bytes per second, the most that one core gets; 0: no such limit
    Cache cache;
    Disk disk;           ///< of each machine
    CoreId sockets = 1;  ///< of each node; the cores are divided evenly among them
    /// If no network is described: how many neighbouring nodes are near each other, cluster by cluster.
    std::vector<std::uint32_t> clusters;
    Network network;
    std::vector<PartialNetwork> networks;  ///< empty: `network` joins all nodes
    Gateways gateways;
    Overheads overheads = Overheads::defaults();

    /// Factors of `core_speed`: of the nodes, and of the cores within each node. A list that is shorter than
    /// these begins again; empty: all 1.
    std::vector<double> node_speeds;
    std::vector<double> core_speeds;
    Noise noise;
    std::vector<NodeEvent> events;       ///< in any order
    std::vector<LinkEvent> link_events;  ///< in any order

    /// Whether nodes may join and leave.
    bool members_change() const;
    /// How many nodes begin the run.
    NodeId beginners() const { return nodes_at_start == 0 ? nodes : nodes_at_start; }

    /// `node_speeds` and `core_speeds` of that core.
    double speed_factor(NodeId node, CoreId core) const;

    /// The network joins machines, so its topology counts these.
    NodeId machines() const { return nodes / processes; }

    /// A SimGrid platform file; its hosts are the machines, in the order of the file. `nodes`, `cores`,
    /// `core_speed` and `network` then come from the file, except those that the YAML states (`stated_*`).
    std::string file;

    /// Which hosts of the file are machines: names, in which `*`, `?` and `[0-9]` stand for letters as in a
    /// shell. The hosts of the first entry come first, and within an entry in the order of the file. Empty:
    /// all hosts.
    std::vector<std::string> hosts;
    bool stated_nodes = false;
    bool stated_cores = false;
    bool stated_core_speed = false;

    Location where;  ///< of the `platform` key, for errors found later
};

const char* name(Network::Topology topology);
const char* name(Network::CostModel cost_model);
const char* name(Network::Contention contention);

/// The cluster of each of `nodes` nodes: that of `Platform::clusters`, or one for all if it is empty. Throws
/// Error if the clusters do not hold as many nodes.
std::vector<std::uint32_t> cluster_of_nodes(const std::vector<std::uint32_t>& clusters, NodeId nodes);

/// Checks what no single value shows: a zero count, a shape that does not hold the nodes. Fills in an empty
/// `shape` and `cables`. Throws Error.
void complete(Platform& platform);

/// Checks sockets, factors, noise and events of nodes, and puts these in the order of time. Part of
/// `complete`; where a file states the counts, to be called when they are known. Throws Error.
void complete_nodes(Platform& platform);

/// Puts the events of links in the order of time, and checks them. Part of `complete`. Throws Error.
void complete_link_events(Platform& platform);

}  // namespace heddle
