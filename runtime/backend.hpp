// The seam between the scheduler and its world. Code that reads a clock, sleeps, blocks, uses the network or
// starts a thread calls this interface. So the scheduler never knows whether its world is real. Three
// backends implement it: runtime/native (pthreads, TCP), sim (SimGrid) and runtime/inprocess (for tests).
// tests/conformance_test.cpp tests that all three keep the contract.
//
// A local task does not cross the seam: to push, pop and run it are plain memory operations. If operations
// must be charged, as in simulation, the topology says that gates are closed: then each operation takes a
// slow path, which calls Context::charge.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/activity.hpp"
#include "base/fiber_notes.hpp"
#include "base/ids.hpp"
#include "base/network_routes.hpp"
#include "base/node_distances.hpp"
#include "base/platform.hpp"
#include "base/recorder.hpp"
#include "base/time.hpp"
#include "runtime/memory_view.hpp"

namespace heddle::runtime {

class Backend;

/// Leaves new elements as they are until a caller writes them, because filling large data twice takes long.
template <class T>
struct Unfilled : std::allocator<T> {
    template <class U>
    struct rebind {  // NOLINT(readability-identifier-naming): the standard's name
        using other = Unfilled<U>;
    };
    Unfilled() = default;
    template <class U>
    Unfilled(const Unfilled<U>&) noexcept {}  // NOLINT(google-explicit-constructor): as allocators convert
    template <class U>
    void construct(U* at) noexcept {
        ::new (static_cast<void*>(at)) U;
    }
    template <class U, class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }
};

using Bytes = std::vector<std::byte, Unfilled<std::byte>>;

}  // namespace heddle::runtime

// Compiled once. An allocator of its own makes the vector's destructor a loop over all bytes, which goes only
// where the compiler optimizes; and a program has one copy of it, perhaps that of a file that does not.
extern template class std::vector<std::byte, heddle::runtime::Unfilled<std::byte>>;

namespace heddle::runtime {

/// Large data that a message takes along. Shared, so that a send need not copy it: after the send no thread
/// changes it.
using Body = std::shared_ptr<Bytes>;

/// What a send takes of such data, or of other memory: bytes, and what keeps them until they have left.
class SentBody {
public:
    SentBody() = default;
    SentBody(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): none, as for a Body
    // NOLINTNEXTLINE(google-explicit-constructor): all of it
    SentBody(Body body) : bytes_(body ? std::span<const std::byte>(*body) : std::span<const std::byte>()) {
        keeper_ = std::move(body);
    }
    /// Bytes of the sender's, which it changes again as soon as `keeper` is released. Any thread may do that.
    static SentBody lent(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper) {
        SentBody body;
        body.bytes_ = bytes;
        body.keeper_ = std::move(keeper);
        body.lent_ = true;
        return body;
    }

    /// `bytes` bytes of it from `offset` on.
    SentBody part(std::size_t offset, std::size_t bytes) const {
        SentBody part = *this;
        part.bytes_ = bytes_.subspan(offset, bytes);
        return part;
    }

    /// For a world that reads them later than it returns from the send: a copy of what is lent.
    SentBody owned() && {
        return lent_ ? SentBody(std::make_shared<Bytes>(bytes_.begin(), bytes_.end())) : std::move(*this);
    }

    explicit operator bool() const { return keeper_ != nullptr; }
    const std::span<const std::byte>& operator*() const { return bytes_; }
    const std::span<const std::byte>* operator->() const { return &bytes_; }
    void reset() { *this = {}; }

private:
    std::span<const std::byte> bytes_;
    std::shared_ptr<const void> keeper_;
    bool lent_ = false;
};

/// What travels with a message. `padding` counts bytes without content, for user data that a program only
/// declares. They take their time on the network, and are not delivered.
struct Enclosure {
    SentBody body{};
    std::uint64_t padding = 0;

    std::uint64_t size() const { return body->size() + padding; }
};

/// Which way a message takes between two nodes that several networks may join.
struct Path {
    NetworkId network = 0;  ///< it joins both nodes; 0 where one network joins all
    /// It leaves after the messages in turn that its node sent over this network before, instead of sharing
    /// the bandwidth with them: so the first of many fragments arrives early.
    bool in_turn = false;
};

/// What a piece of user work costs: floating-point operations, and bytes to and from the node's memory.
struct Work {
    double flops = 0;
    double bytes = 0;
    bool goes_on = false;  ///< of one piece with the work before: the noise of tasks is the same for both
};

/// Bytes per second from one group of nodes to others, on average. Of a single message, 0: unknown. Of
/// several together, 0: as many as their nodes' links have.
struct Crossing {
    double within = 0;   ///< of one message between two nodes of a group
    double message = 0;  ///< of one message to another group
    double to_one = 0;   ///< of all that the nodes of a group send to one other group
    double to_all = 0;   ///< of all that they send to all other groups
    bool duplex = true;  ///< what comes back at the same time takes nothing away
};

/// The nodes as the scheduler sees them. `group[n]`: the switch, group, row or cluster of node n; nodes of
/// one group are near, and `distances` knows how near. `latency` and `bandwidth` (bytes per second) are those
/// of a message between two nodes that has the network to itself, on average over the pairs; zero if unknown.
struct Topology {
    NodeId nodes = 1;
    CoreId cores = 1;
    /// If nodes may join and leave (runtime/run/members.hpp): nodes 0 to *at_start - 1 begin the run, the
    /// others, up to `nodes`, may join. Nothing: all nodes take part from the beginning to the end.
    std::optional<NodeId> at_start{};
    std::vector<std::uint32_t> group;
    NodeDistances distances{};  ///< over the same nodes and groups
    /// Where several networks join the nodes; null: one network joins all.
    std::shared_ptr<const NetworkRoutes> routes{};
    Time latency{};
    double bandwidth = 0;
    Crossing crossing{};
    double core_speed = 0;  ///< flops per second of a core, on average over the nodes and their cores
    CoreId near_cores = 0;  ///< this many cores in a row are near each other; 0: all are
    Cache cache{};          ///< what a copy's bytes are counted by
    // What the scheduler must know of the world, and may not ask it otherwise.
    /// A worker that looks at memory again and again keeps no other thread from running.
    bool own_cores = false;
    /// Local operations need no charge: the fast path may be taken.
    bool gates_open = false;
    /// Workers deliver the messages themselves: in `poll`, between tasks, and while `send` holds them back.
    bool polled = false;
    /// Workers may receive where they wait for something that probably comes soon (Backend::receive).
    bool receives = false;
    /// Workers should `poll` in passing while they are at work: the receiver has no core of its own, and
    /// would take one of theirs for each message.
    bool polled_in_passing = false;
    /// What the time of a task counts as for which it declares no work.
    Activity undeclared = Activity::overhead;
    /// Workers may tell a recorder of what happened so long ago.
    Time recorded_late{};

    /// Whether two cores of one node are near each other.
    bool near(CoreId a, CoreId b) const { return near_cores == 0 || a / near_cores == b / near_cores; }
};

/// What a backend keeps for a context derives from this. Only that backend looks into it.
struct BackendPart {};

/// One thread of control of a node: a worker, or the module that delivers messages (the receiver). The
/// backend owns `clock` and `horizon`; the scheduler adds its costs through `charge`.
///
/// What every operation looks at comes first, in two lines of the cache (a simulation has thousands of
/// these); the second is the time sheet's.
struct alignas(64) Context {
    Backend* backend = nullptr;
    WorkerId id;           ///< the receiver has core == topology().cores
    Time clock{};          ///< charged so far; stays zero where nothing is charged
    Time horizon = never;  ///< the earliest time at which another on the node may act; not below zero
    BackendPart* backend_part = nullptr;  ///< the backend's own
    /// What each operation is charged. Shared by all that are charged the same.
    const Overheads* costs = &no_overheads;
    Recorder* recorder = nullptr;  ///< records the run; null: no recorder
    const void* hot = nullptr;     ///< memory that it will look at first when it goes on; a hint
    TimeSheet times;               ///< of a worker
    /// Accesses that it has begun and that are not permitted yet. While there are some its stacks cannot be
    /// unwound: no exception can pass an instruction that is not a call.
    std::uint32_t faults = 0;
    /// Set by a backend whose contexts are fibers. The scheduler tells it of stacks of its own.
    [[no_unique_address]] FiberNotesLink fiber_notes;

    /// From `time` on this worker does `next`. Returns what it did before.
    Activity enter(Activity next, Time time) {
        if (recorder) recorder->entered(id, next, time);
        return times.enter(next, time);
    }

    /// Adds an operation's cost to this context's clock, and lets other contexts act if their time has come.
    void charge(Time cost);

    /// The same for an operation on something that the contexts of a node use one at a time. It is in use
    /// until `free`, which this operation moves on. Contexts charge in the order of their clocks, so its
    /// present user came before this context.
    void charge_in_turn(Time cost, Time& free) {
        free = checked_sum(free > clock ? free : clock, cost);
        charge(free - clock);
    }

    struct Standing {
        Time clock;
        Time horizon;
    };
    /// From now on, to `stand_back`, this context acts in the time of `caller`, in one go. Written only where
    /// something changes: workers that take turns would pass the line to and fro.
    Standing stand_in_for(const Context& caller) {
        const Standing own{clock, horizon};
        take({caller.clock, never});
        return own;
    }
    /// Returns what was charged to it, for `caller` to be charged.
    Time stand_back(const Context& caller, Standing own) {
        const Time cost = clock - caller.clock;
        take(own);
        return cost;
    }

private:
    void take(Standing other) {
        if (clock != other.clock) clock = other.clock;
        if (horizon != other.horizon) horizon = other.horizon;
    }
};

/// What a node runs: the scheduler implements this, a backend calls it.
class NodeProgram {
public:
    virtual ~NodeProgram() = default;

    /// The context of a worker (core < cores) or of the receiver (core == cores). Stable for the object's
    /// life.
    virtual Context& context(CoreId core) = 0;

    /// The body of one worker. Returns when the run is over. Called once for each core, each on its own
    /// thread of control.
    virtual void work(CoreId core) = 0;

    /// One message has arrived. Called for one message at a time on a node, but at the same time as its
    /// workers run. Never blocks: of the seam's operations it may use now, charge, unpark and send only.
    /// `body` is what was enclosed. From now on it belongs to the node alone.
    virtual void deliver(NodeId from, std::span<const std::byte> message, Body body) = 0;

    /// Where bytes that a message encloses go as they come.
    struct Room {
        std::span<std::byte> bytes;
        std::shared_ptr<const void> keeper;  ///< of other memory than the program's
    };
    /// A backend may ask this before it reads the `bytes` bytes that `message` encloses, and then delivers
    /// the message without a body when they are there. Without room it delivers a body. Called on the thread
    /// that delivers, which may deliver others before.
    virtual Room room(NodeId /*from*/, std::span<const std::byte> /*message*/, std::uint64_t /*bytes*/) {
        return {};
    }

    /// This node is to leave the run. Called as `deliver` is, and only where nodes may leave. When the node
    /// has given away what it has, its `work` returns on all workers.
    virtual void leave() {}

    /// Whether `work` has returned because the node has left, and not because the run is over. From then on
    /// no node sends to it, and what it has sent has arrived.
    virtual bool has_left() const { return false; }
};

/// Makes the program of one node. The backend sets backend, id and costs of its contexts before anything
/// runs.
using NodeFactory = std::function<NodeProgram&(NodeId)>;

class Backend {
public:
    virtual ~Backend() = default;

    virtual const Topology& topology() const = 0;

    /// Runs the nodes that live in this process to their end: returns when every worker's `work` has returned
    /// and every message sent before that has been delivered. Called once. Throws Error if the world cannot
    /// be built.
    virtual void run(const NodeFactory& make_node) = 0;

    /// Time since the run's start on the caller's node. In simulation the same on all nodes.
    virtual Time now(const Context& context) const = 0;

    /// The same for a moment that closely follows this context's last call of `now` or `park`: perhaps the
    /// time of that, so that no clock is read. In simulation exact.
    virtual Time recent(const Context& context) const { return now(context); }

    /// The same, perhaps some milliseconds too early, but faster. In simulation exact.
    virtual Time about(const Context& context) const { return now(context); }

    /// Called by Context::charge only: other contexts of the node act up to this context's clock.
    virtual void pause(Context& context) = 0;

    /// Blocks a worker until a context unparks it or `deadline` (see `now`) has come. An unpark that came
    /// since the last park returned makes this one return at once; several count as one. May also return for
    /// no reason. On a polled node it delivers what comes meanwhile, as `poll` does. When it returns, the
    /// present time is `recent`.
    virtual void park(Context& context, Time deadline) = 0;

    /// For a wait that probably ends soon: delivers what comes, on the caller, until `done()`, or a context
    /// unparks the worker, or `deadline` has come. What it promises beyond that is as of `park`, but it never
    /// sleeps, and returns where looking on would not pay. Only where the topology says `receives`.
    virtual void receive(Context& /*context*/, Time /*deadline*/, const std::function<bool()>& /*done*/) {}

    /// Wakes worker `core` of the caller's own node. Everything written before is seen by the woken worker.
    virtual void unpark(Context& caller, CoreId core) = 0;

    /// User work of a declared cost: runs `code` once on the caller. In simulation the caller's clock then
    /// advances by the time that a core needs for `work`, sharing its node's memory bandwidth. Without `code`
    /// the work is only declared: a real core is then kept busy for as long as a core of the platform would
    /// need for its flops.
    virtual void compute(Context& context, const Work& work, const std::function<void()>& code) = 0;

    /// Sends a message to another node (never to the caller's own), which `path` joins with it. May hold a
    /// worker back while too much is under way there; in a handler it does not block. Messages from one
    /// context to one node arrive in order if they take the same path; between contexts there is no order.
    /// In simulation a large one may be overtaken, without contention any one.
    /// Lent bytes are released when they are written, if that is before they arrive, or at once.
    virtual void send(Context& context, NodeId to, Bytes message, Enclosure enclosure = {},
                      Path path = {}) = 0;

    /// Untouched memory of `bytes` for what worker `worker` uses as often as its stack, in one page table
    /// with that: simulated workers are many. Nothing where the caller is to take its own. Asked once for
    /// each worker, while the backend makes its node, and always for as many bytes.
    virtual std::span<std::byte> beside_stack(WorkerId /*worker*/, std::size_t /*bytes*/) { return {}; }

    /// An empty buffer for a message. It may have room already, from a message that has been handled.
    virtual Bytes buffer(Context& /*context*/) { return {}; }

    /// Delivers what has arrived, on the caller and in its time, unless another worker does. True if it
    /// delivered something. Where the topology says `polled_in_passing` the present time is to be `recent`
    /// (runtime/core/poll_pace.hpp). Where it says neither, it does nothing.
    virtual bool poll(Context& context) = 0;

    /// Runs `code`, which may block, beside the node's workers, and then `done`, with a context that may
    /// unpark only. Neither throws. In simulation `code` runs at once, and `done` after the node's disk has
    /// moved `bytes` for it.
    virtual void io(Context& caller, double bytes, std::function<void()> code,
                    std::function<void(Context& context)> done) = 0;

    /// Memory of node `node`, which lives in this process, whose pages permit what the caller says. Accesses
    /// that are not permitted come to `handler`, which must outlive the view. Before the run or in it; the
    /// view must be destroyed before the backend. Throws Error with advice.
    virtual std::unique_ptr<MemoryView> make_view(NodeId node, const ViewOptions& options,
                                                  FaultHandler& handler) = 0;

    /// On node 0: starts up to `count` of the nodes that may join and never did, the lowest first, as the
    /// world can: where it cannot, nothing happens. A node that has started can exchange messages with all
    /// others.
    virtual void start_nodes(Context& /*caller*/, NodeId /*count*/) {}

    /// Time since the start as an observer sees it. May be called from any thread while the run is on.
    virtual Time elapsed() const = 0;
};

// Neither number is negative, so without signs their sum cannot wrap: a clock beyond all times is beyond the
// horizon as well, and the backend refuses it.
inline void Context::charge(Time cost) {
    const auto sum = static_cast<std::uint64_t>(clock.count()) + static_cast<std::uint64_t>(cost.count());
    clock = Time(static_cast<std::int64_t>(sum));
    if (sum >= static_cast<std::uint64_t>(horizon.count())) [[unlikely]]
        backend->pause(*this);
}

}  // namespace heddle::runtime
