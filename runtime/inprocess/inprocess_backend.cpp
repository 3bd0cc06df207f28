// Runs all nodes in one thread: workers are fibers, and each step a seeded random choice picks a fiber or a
// message.
#include "runtime/inprocess/inprocess_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/fiber_notes.hpp"
#include "base/fiber_switch.hpp"
#include "base/lost_fibers.hpp"
#include "base/random.hpp"
#include "memory/memory_view.hpp"
#include "runtime/inprocess/kept_stacks.hpp"

namespace heddle::inprocess {

namespace context = boost::context;
using runtime::Context;

namespace {

/// So long that a worker which looks for work a million times, while others take steps, is not taken for one
/// whose search takes no time (worker_search.cpp).
constexpr Time step = std::chrono::nanoseconds(10);

struct Fiber {
    context::fiber fiber;
    FiberNotes notes;
    Context* context = nullptr;
    bool parked = false;
    bool permit = false;
    bool started = false;
    bool finished = false;
    Time deadline = never;
};

struct Node {
    runtime::NodeProgram* program = nullptr;
    std::deque<Fiber> workers;  // a deque: what is in it does not move; empty before the node starts
};

runtime::Topology topology_of(const Options& options) {
    runtime::Topology topology{.nodes = options.nodes, .cores = options.cores, .group = options.group};
    topology.group.resize(options.nodes, 0);
    topology.distances = NodeDistances(topology.group, nullptr, Time::zero());
    topology.routes = options.routes;
    topology.at_start = options.at_start;
    topology.gates_open = options.gate_open;
    topology.receives = options.receives;
    if (options.gate_open) topology.undeclared = Activity::working;
    return topology;
}

}  // namespace

/// A message under way.
struct Sent {
    runtime::Bytes message;
    runtime::SentBody body;
    Time due{};  ///< it does not arrive before

    std::uint64_t bytes() const { return message.size() + body->size(); }
};

/// Messages on one way stay in order.
struct Way {
    NodeId from;
    NodeId to;
    CoreId sender = 0;  ///< where messages of other contexts may overtake
    bool with_body = false;
    NetworkId network = 0;

    auto operator<=>(const Way&) const = default;
};

struct InprocessBackend::State {
    Options options;
    runtime::Topology topology;
    Random random;
    std::uint64_t wakes = 0;  ///< for no reason
    Time now{};
    std::unique_ptr<KeptStacks> stacks{};
    std::deque<Node> nodes{};
    context::fiber scheduler{};
    std::exception_ptr failure{};
    std::map<Way, std::deque<Sent>> under_way{};  ///< no list is empty
    std::uint64_t under_way_bytes = 0;
    std::uint64_t most_under_way_bytes = 0;
    std::vector<std::function<void()>> io{};  ///< what is done when code that blocks has ended
    std::size_t next_member_event = 0;
    // What a step may choose from. Here, so that a step allocates no memory.
    std::vector<Fiber*> ready{};
    std::vector<std::map<Way, std::deque<Sent>>::iterator> due{};

    Fiber& fiber(const Context& context) { return nodes[context.id.node].workers[context.id.core]; }

    void switch_out(Fiber& fiber) {
        // Also when the worker is abandoned, which comes out of `resume` as an exception.
        struct Back {
            FiberNotes& notes;
            ~Back() { notes.after_suspend(); }
        };
        fiber.notes.before_suspend();
        const Back back{fiber.notes};
        scheduler = resumed(std::move(scheduler));
    }

    static void resume(Fiber& fiber) {
        fiber.notes.before_resume();
        fiber.fiber = resumed(std::move(fiber.fiber));
        fiber.notes.after_resume();
    }

    /// Unwinds the workers that have not finished when the run fails.
    void abandon() {
        for (Node& node : nodes) {
            for (Fiber& fiber : node.workers) {
                if (fiber.finished) continue;
                if (fiber.context->faults != 0) {
                    lose(std::move(fiber.fiber));  // Context::faults
                } else {
                    if (fiber.started) fiber.notes.before_resume();
                    fiber.fiber = {};
                    if (fiber.started) fiber.notes.after_unwind();
                }
                fiber.finished = true;
            }
        }
    }

    /// Starts a node that has not started.
    void start(NodeId node) {
        if (!nodes[node].workers.empty()) return;
        nodes[node].workers.resize(options.cores);
        for (CoreId core = 0; core < options.cores; ++core) {
            // Behind the clock from the start, so that every charge is a chance for others.
            nodes[node].program->context(core).horizon = options.gate_open ? never : Time::zero();
            start(node, core);
        }
    }

    void start(NodeId node, CoreId core) {
        Fiber& fiber = nodes[node].workers[core];
        fiber.context = &nodes[node].program->context(core);
        fiber.context->fiber_notes.follow(fiber.notes);
        fiber.fiber = context::fiber(std::allocator_arg, fiber.notes.noted(StackAllocator{stacks.get()}),
                                     [this, node, core, &fiber](context::fiber&& caller) {
                                         fiber.notes.after_entry();
                                         fiber.started = true;
                                         scheduler = std::move(caller);
                                         try {
                                             nodes[node].program->work(core);
                                         } catch (const context::detail::forced_unwind&) {
                                             fiber.notes.before_exit();
                                             throw;
                                         } catch (...) {
                                             failure = std::current_exception();
                                         }
                                         fiber.finished = true;
                                         fiber.notes.before_exit();
                                         return std::move(scheduler);
                                     });
    }

    bool runnable(Fiber& fiber) const {
        return !fiber.finished && (!fiber.parked || fiber.permit || fiber.deadline <= now);
    }

    /// The worker of that node that runs now; null if none does.
    Context* running(NodeId node) {
        if (node >= nodes.size()) return nullptr;
        for (Fiber& fiber : nodes[node].workers)
            if (fiber.started && !fiber.finished && !fiber.fiber) return fiber.context;
        return nullptr;
    }

    bool all_finished() const {
        for (const Node& node : nodes) {
            for (const Fiber& fiber : node.workers) {
                if (!fiber.finished) return false;
            }
        }
        return true;
    }

    /// Nodes join and leave whose time has come.
    void change_members() {
        for (; next_member_event < options.member_events.size(); ++next_member_event) {
            const MemberEvent& event = options.member_events[next_member_event];
            if (event.at > now) return;
            if (event.joins) {
                start(event.node);
            } else if (!nodes[event.node].workers.empty()) {
                nodes[event.node].program->leave();
            }
        }
    }

    /// One random worker's step or one message's arrival. False where nothing can happen at this time.
    bool step_once() {
        change_members();
        ready.clear();
        for (Node& node : nodes) {
            for (Fiber& fiber : node.workers) {
                if (runnable(fiber)) ready.push_back(&fiber);
            }
        }
        due.clear();
        for (auto line = under_way.begin(); line != under_way.end(); ++line)
            if (line->second.front().due <= now) due.push_back(line);
        const std::uint64_t choices = ready.size() + due.size() + io.size();
        if (choices == 0) return false;
        now += step;
        if (options.faults.wakes_percent != 0 && wakes < options.faults.wakes_max &&
            random.below(100) < options.faults.wakes_percent && wake_for_no_reason())
            return true;
        const std::uint64_t choice = random.below(choices);
        if (choice < ready.size()) {
            Fiber& chosen = *ready[choice];
            if (chosen.parked) chosen.parked = chosen.permit = false;
            resume(chosen);
        } else if (choice >= ready.size() + due.size()) {
            const auto ended = io.begin() + static_cast<std::ptrdiff_t>(choice - ready.size() - due.size());
            const auto done = std::move(*ended);
            io.erase(ended);
            done();
        } else {
            deliver(due[choice - ready.size()]);
        }
        return true;
    }

    void deliver(std::map<Way, std::deque<Sent>>::iterator line) {
        const NodeId from = line->first.from, to = line->first.to;
        Sent sent = std::move(line->second.front());
        line->second.pop_front();
        under_way_bytes -= sent.bytes();
        if (line->second.empty()) under_way.erase(line);
        // The sender may keep its own.
        runtime::Body body;
        if (sent.body) body = std::make_shared<runtime::Bytes>(sent.body->begin(), sent.body->end());
        // A process would have ended.
        if (nodes[to].program->has_left())
            throw Error(
                fmt::format("a message from node {} is under way to node {}, which has left", from, to),
                "this is an error of the scheduler: please report it with the seed");
        nodes[to].program->deliver(from, sent.message, std::move(body));
    }

    /// One message that is due there, on the stack of the caller.
    void deliver_to(NodeId node) {
        std::vector<std::map<Way, std::deque<Sent>>::iterator> coming;
        for (auto line = under_way.begin(); line != under_way.end(); ++line)
            if (line->first.to == node && line->second.front().due <= now) coming.push_back(line);
        if (coming.empty()) return;
        now += step;
        deliver(coming[random.below(coming.size())]);
    }

    /// True if a worker was parked.
    bool wake_for_no_reason() {
        std::vector<Fiber*> parked;
        for (Node& node : nodes) {
            for (Fiber& fiber : node.workers)
                if (fiber.parked && !fiber.finished) parked.push_back(&fiber);
        }
        if (parked.empty()) return false;
        ++wakes;
        Fiber& chosen = *parked[random.below(parked.size())];
        chosen.parked = chosen.permit = false;
        resume(chosen);
        return true;
    }

    /// Time passes until a worker's deadline, or until a message is due. Throws Error if there is none.
    void skip_to_deadline() {
        Time next = never;
        for (const auto& [way, messages] : under_way) next = std::min(next, messages.front().due);
        if (next_member_event < options.member_events.size())
            next = std::min(next, options.member_events[next_member_event].at);
        std::uint32_t parked = 0;
        for (const Node& node : nodes) {
            for (const Fiber& fiber : node.workers) {
                if (fiber.finished) continue;
                ++parked;
                next = std::min(next, fiber.deadline);
            }
        }
        if (next == never) {
            throw Error(fmt::format(
                "deadlock: {} workers wait, and nothing is under way that could wake them", parked));
        }
        now = std::max(now, next);
    }
};

InprocessBackend::InprocessBackend(const Options& options)
    : state_(new State{options, topology_of(options), Random(options.seed)}) {
    state_->stacks = KeptStacks::take(options.stack_bytes);
}

InprocessBackend::~InprocessBackend() {
    state_->nodes.clear();  // and the fibers' stacks
    KeptStacks::leave(std::move(state_->stacks));
}

const runtime::Topology& InprocessBackend::topology() const {
    return state_->topology;
}

void InprocessBackend::run(const runtime::NodeFactory& make_node) {
    State& state = *state_;
    state.nodes.resize(state.options.nodes);
    for (NodeId id = 0; id < state.options.nodes; ++id) {
        state.nodes[id].program = &make_node(id);
        for (CoreId core = 0; core <= state.options.cores; ++core) {
            Context& context = state.nodes[id].program->context(core);
            context.backend = this;
            context.id = {id, core};
        }
    }
    const NodeId first = state.options.at_start.value_or(state.options.nodes);
    for (NodeId id = 0; id < first; ++id) state.start(id);
    try {
        while (!state.all_finished() || !state.under_way.empty()) {
            if (!state.step_once()) state.skip_to_deadline();
            if (state.failure) std::rethrow_exception(std::exchange(state.failure, nullptr));
        }
    } catch (...) {
        state.abandon();
        throw;
    }
}

Time InprocessBackend::now(const Context&) const {
    return state_->now;
}

void InprocessBackend::pause(Context& context) {
    // A handler runs at once; only workers are interrupted.
    if (context.id.core == state_->options.cores) return;
    state_->switch_out(state_->fiber(context));
}

void InprocessBackend::park(Context& context, Time deadline) {
    Fiber& fiber = state_->fiber(context);
    fiber.parked = true;
    fiber.deadline = deadline;
    state_->switch_out(fiber);
    fiber.deadline = never;
}

/// Other contexts act meanwhile, and it may give up at any time.
void InprocessBackend::receive(Context& context, Time deadline, const std::function<bool()>& done) {
    State& state = *state_;
    Fiber& fiber = state.fiber(context);
    while (!std::exchange(fiber.permit, false) && !done() && state.now < deadline) {
        const std::uint64_t choice = state.random.below(8);
        if (choice == 0) return;
        if (choice < 4) {
            state.deliver_to(context.id.node);
        } else {
            state.switch_out(fiber);
        }
    }
}

void InprocessBackend::unpark(Context& caller, CoreId core) {
    state_->nodes[caller.id.node].workers[core].permit = true;
}

void InprocessBackend::compute(Context& context, const runtime::Work&, const std::function<void()>& code) {
    if (code) code();
    if (!state_->options.gate_open) pause(context);
}

void InprocessBackend::send(Context& context, NodeId to, runtime::Bytes message, runtime::Enclosure enclosure,
                            runtime::Path path) {
    HEDDLE_ASSERT(to < state_->options.nodes && to != context.id.node);
    if (const auto& routes = state_->topology.routes) {
        const std::vector<NetworkId>& networks = routes->between(context.id.node, to);
        HEDDLE_ASSERT(std::find(networks.begin(), networks.end(), path.network) != networks.end());
    }
    const Faults& faults = state_->options.faults;
    Way way{context.id.node, to};
    way.network = path.network;
    if (faults.reorders) {
        way.sender = context.id.core;
        way.with_body = static_cast<bool>(enclosure.body);
    }
    Time due{};
    if (faults.delay_max != 0)
        due = state_->now + static_cast<Time::rep>(state_->random.below(faults.delay_max)) * step;
    Sent sent{std::move(message), std::move(enclosure.body).owned(), due};
    state_->under_way_bytes += sent.bytes();
    state_->most_under_way_bytes = std::max(state_->most_under_way_bytes, state_->under_way_bytes);
    state_->under_way[way].push_back(std::move(sent));
}

void InprocessBackend::io(Context& caller, double /*bytes*/, std::function<void()> code,
                          std::function<void(Context& context)> done) {
    code();
    state_->io.emplace_back([this, id = caller.id.node, done = std::move(done)] {
        Context context;
        context.backend = this;
        context.id = {id, state_->options.cores};
        done(context);
    });
    if (!state_->options.gate_open && caller.id.core < state_->options.cores) pause(caller);
}

bool InprocessBackend::poll(Context&) {
    return false;
}

std::unique_ptr<runtime::MemoryView> InprocessBackend::make_view(NodeId node,
                                                                 const runtime::ViewOptions& options,
                                                                 runtime::FaultHandler& handler) {
    HEDDLE_ASSERT(node < state_->options.nodes);
    return memory::make_view(options, handler, [this, node] { return state_->running(node); });
}

void InprocessBackend::start_nodes(Context& /*caller*/, NodeId count) {
    State& state = *state_;
    for (NodeId id = 0; id < state.options.nodes && count > 0; ++id) {
        if (!state.nodes[id].workers.empty()) continue;
        state.start(id);
        --count;
    }
}

Time InprocessBackend::elapsed() const {
    return state_->now;
}

std::uint64_t InprocessBackend::most_under_way_bytes() const {
    return state_->most_under_way_bytes;
}

}  // namespace heddle::inprocess
