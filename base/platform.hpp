// The machine that a run is for: nodes, cores, memory, network, and what the scheduler's operations cost on
// it. A description only: the simulator builds it (sim/), a native run takes its node and core counts from
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"

namespace heddle {

/// What one operation of the scheduler costs on a core of the platform (design: the overhead table).
/// All zero: an ideal scheduler. The defaults are of the order of a current core's; see docs/platforms.md.
struct Overheads {
    Time fork{};             ///< create a task and push it
    Time join{};             ///< pop an un-stolen task
    Time steal_attempt{};    ///< look at another worker of the node, in vain
    Time steal{};            ///< take a task from another worker of the node
    Time sync{};             ///< signal a sync slot
    Time token{};            ///< take a token from the node's token queue, or put one there
    Time message_enqueue{};  ///< hand a message to the sender module (paid by the worker)
    Time message_send{};     ///< send one message (paid by the sender module)
    Time message_receive{};  ///< receive one message and run its handler (paid by the receiver module)
    Time wake_up{};          ///< from an unpark to the parked worker's next instruction

    static Overheads defaults();
};

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

struct Platform {
    NodeId nodes = 1;
    CoreId cores = 0;                ///< of each node; 0: natively the machine's own, in simulation 1
    double core_speed = 10e9;        ///< flops per second, each core
    double memory_bandwidth = 40e9;  ///< bytes per second, shared by the cores of a node
    Network network;
    Overheads overheads = Overheads::defaults();

    /// A SimGrid platform file; its hosts are the nodes, in the order of the file. `nodes`, `cores`,
    /// `core_speed` and `network` then come from the file, except those that the YAML states (`stated_*`).
    std::string file;
    bool stated_nodes = false;
    bool stated_cores = false;
    bool stated_core_speed = false;

    Location where;  ///< of the `platform` key, for errors found later
};

const char* name(Network::Topology topology);
const char* name(Network::CostModel cost_model);
const char* name(Network::Contention contention);

/// Checks what no single value shows: a zero count, a shape that does not hold the nodes. Fills in an empty
/// `shape` and `cables`. Throws Error.
void complete(Platform& platform);

}  // namespace heddle
