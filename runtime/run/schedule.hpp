// The settings of the `schedule` section: how tasks are placed and stolen. The policies that use them are in
// runtime/stealing/.
#pragma once

#include <cstdint>
#include <string>

#include "base/settings.hpp"
#include "base/time.hpp"
#include "runtime/memory_view.hpp"

namespace heddle::runtime {

struct Stealing {
    std::string victim = "local_first";  ///< a name of runtime::victim_policies()
    Settings own{};                      ///< those that this policy declares; none declared: its defaults
    enum class Amount : std::uint8_t {
        one,
        half,
        /// Half of all that waits with the victim's workers, one by one from each in turn, beginning with the
        /// first, and dealt to the thief's workers in turn (Lowenthal, Subramanian: "HyFi:
        /// Architecture-independent parallelism on networks of multiprocessors", section 3.5).
        donation,
    };
    Amount amount = Amount::one;  ///< of what another node gives at once
    std::uint32_t requests = 4;   ///< that a node may have under way to others
    enum class Busy : std::uint8_t {
        refuse,  ///< says no
        wait     ///< keeps the request until there is something to give, or no worker is active
    };
    Busy busy = Busy::refuse;  ///< what a node does whose workers have work and nothing to share
    Time back_off_min = std::chrono::microseconds(1);
    Time back_off_max = std::chrono::microseconds(100);
    double back_off_share = 1.0 / 16;  ///< of the time without work, if that is longer than back_off_max
    std::uint32_t retries =
        16;  ///< failed attempts before the policy's last resort (wait back_off_max, lifelines)
};

/// What sends and receives a node's messages (EARTH paper, section 5: RTS 2.0 and RTS 1.2).
enum class Modules : std::uint8_t {
    separate,  ///< modules of their own, beside the workers
    single,    ///< the workers themselves, between tasks
    worker,    ///< each worker sends for itself; a receiver beside the workers
};

/// Detached tasks that move to other nodes unasked (runtime/stealing/balancer.hpp).
struct Balancing {
    enum class Policy : std::uint8_t {
        none,
        sender,      ///< a node that has many gives some to any node
        neighbours,  ///< nodes know what their neighbours have, and give to those that have less
    };
    Policy policy = Policy::none;
    std::uint32_t threshold = 8;  ///< tasks: how many are many, and what difference matters
};

/// Where detached tasks that may leave the node (EARTH's tokens) wait.
enum class TokenQueues : std::uint8_t {
    worker,  ///< in the deque of the worker that made them
    node,    ///< in one queue of the node (runtime/sources/token_deque.hpp)
};

/// Shared memory between nodes (model/dsm/shared_memory.hpp).
struct SharedPages {
    std::string protocol = "write_invalidate";  ///< a name of dsm::protocols()
    std::uint32_t page_bytes = 4096;
    std::uint32_t group = 1;     ///< pages that are moved together, as if they were one
    std::uint32_t prefetch = 0;  ///< pages after the one that is asked for, which are asked for too
    /// Which node is the home of a page: where the page begins, and what serializes the requests for it.
    enum class Placement : std::uint8_t {
        block,   ///< equal parts of each array, in the order of nodes
        cyclic,  ///< each page of an array on another node
        first,   ///< homes are cyclic, but a page begins at the node that first touches it
    };
    Placement placement = Placement::block;
    Trigger trigger = Trigger::automatic;
};

/// How the first forks spread over the run.
enum class Start : std::uint8_t {
    none,  ///< they wait for thieves
    tree,  ///< along a tree of all workers, until each has work (runtime/sources/start_tree.hpp)
};

/// When forks are plain calls: if enough tasks wait (Lowenthal, Subramanian: "HyFi", section 4.4).
struct Pruning {
    enum class Policy : std::uint8_t {
        none,          ///< never
        queue_length,  ///< while `threshold` tasks wait with the worker
        node_length,   ///< while `threshold` tasks for each worker wait on the node
    };
    Policy policy = Policy::none;
    std::uint32_t threshold = 1;  ///< at least 1
};

struct Schedule {
    std::string placement = "none";   ///< none, block, cyclic (see partitioners/)
    std::string placement_file = {};  ///< that the placement `file` reads
    Start start = Start::none;
    Pruning pruning;
    Stealing stealing;
    Balancing balancing;
    Modules modules = Modules::separate;
    TokenQueues token_queue = TokenQueues::worker;
    SharedPages memory;
    std::uint64_t seed = 1;
    /// How long a worker without work looks again and again before it sleeps, natively where it has a core to
    /// itself: in a run of several nodes, and of one. Waking up then takes tens of microseconds, on virtual
    /// machines now and then milliseconds (in simulation Overheads::wake_up_asleep). On several nodes an idle
    /// worker looks for work from time to time, each time for so long.
    Time spin = std::chrono::microseconds(5);
    Time spin_alone = std::chrono::microseconds(200);
    std::uint32_t deque_slots = 1U << 17;          ///< tasks that one worker can hold
    std::uint64_t stack_bytes = 8U << 20;          ///< stack of one worker
    std::uint64_t strand_stack_bytes = 64U << 10;  ///< stack of one strand
    /// A task that has forked so many tasks, which run without it, waits for them before it forks more. 0: it
    /// does not. Bounds the memory of models that keep a task until it runs.
    std::uint64_t fork_window = 0;
    std::uint32_t aggregate_bytes =
        4096;  ///< small active messages to one node are sent together up to this size
};

}  // namespace heddle::runtime
