// The part of a worker that looks for work: what waits on its node, its colleagues' tasks, and the victims
// that its policy names. When and how long it sleeps is decided here; how it sleeps, in worker.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "runtime/core/strands.hpp"
#include "runtime/node.hpp"
#include "runtime/token.hpp"
#include "runtime/worker.hpp"

namespace heddle::runtime {

namespace {

/// Tasks longer than so many times back_off_max are coarse; and a worker without work for so many times
/// back_off_max takes them for coarse, because it may have seen none.
constexpr int coarse_task = 16;
constexpr int long_idle = 1000;

/// A worker backs off fewer than `rounds_max` times within `least_time`, or the run is refused: ten
/// nanoseconds for each round are far less than a message takes.
constexpr std::uint32_t rounds_max = 1'000'000;
constexpr Time least_time = std::chrono::milliseconds(100);

}  // namespace

void Worker::poll_now() {
    charge(costs->poll);
    backend->poll(*this);
}

bool Worker::run_something(Slot* head, const Waitable* awaited) {
    poll();
    if (run_strands(head) || run_ready(head) || run_token(head) || run_shared(head)) return true;
    if (awaited && depth_ >= deep) {
        rest(backend->now(*this) + node_.schedule().stealing.back_off_max, awaited);
        return false;
    }
    if (run_ranked(head)) return true;
    if (node_.balancer().on()) node_.balancer().idle(*this);
    enter_now(Activity::stealing);
    if (awaiting_answer_) {
        rest(never, awaited);
        if (!requesting_.load(std::memory_order_seq_cst)) awaiting_answer_ = false;
        return policy_->steals_within_node() && scan_node(id.core + 1, head);
    }
    const Victim victim = policy_->next();
    switch (victim.kind) {
        case Victim::Kind::core:
            return steal_from(victim.index, head);
        case Victim::Kind::colleagues:
            return scan_node(victim.index, head);
        case Victim::Kind::node:
            if (ask_node(victim.index)) return false;
            back_off(awaited);
            break;
        case Victim::Kind::far_node:
            if (node_.steals().request_far(*this, victim.index)) ++counters_.steal_attempts;
            return false;
        case Victim::Kind::lifeline:
            ++counters_.steal_attempts;
            node_.steals().tie_lifeline(*this, victim.index);
            return false;
        case Victim::Kind::rest:
            back_off(awaited);
            break;
        case Victim::Kind::sleep:
            rest(never, awaited);
            break;
    }
    return policy_->steals_within_node() && scan_node(id.core + 1, head);
}

/// False if as many requests of this node are under way as may be.
bool Worker::ask_node(NodeId victim) {
    if (!node_.steals().may_request()) return false;
    ++counters_.steal_attempts;
    awaiting_answer_ = true;
    requesting_.store(true, std::memory_order_seq_cst);
    node_.steals().request(*this, victim);
    return true;
}

// The wait follows the grain of the tasks. While tasks are short, work comes and goes quickly, and the wait
// ends at `back_off_max`. If the worker's last task was long, or it has had no work for long, it waits for a
// share of the time T without work: it loses at most that share of T, and the number of its requests grows
// with log T.
void Worker::back_off(const Waitable* awaited) {
    const Stealing& settings = node_.schedule().stealing;
    if (++failures_ >= settings.retries) back_off_ = settings.back_off_max;
    const Time now = backend->now(*this);
    expect_time_to_pass(now);
    if (!std::exchange(idle_since_known_, true)) idle_since_ = now;
    const Time idle = now - idle_since_;
    const bool coarse =
        last_task_ > coarse_task * settings.back_off_max || idle > long_idle * settings.back_off_max;
    const auto share = static_cast<Time::rep>(settings.back_off_share * static_cast<double>(idle.count()));
    rest(now + (coarse ? std::max(back_off_, Time(share)) : back_off_), awaited);
    back_off_ = std::min(2 * back_off_, settings.back_off_max);
}

/// If nothing that a thief does takes time, a simulation of a second needs billions of rounds.
void Worker::expect_time_to_pass(Time now) {
    if (++rounds_ < rounds_max) return;
    if (now - rounds_begin_ < least_time) {
        throw Error(fmt::format("worker {} of node {} looked for work {} times within {}", id.core, id.node,
                                rounds_, print_time(now - rounds_begin_)),
                    "let the search take time: raise schedule.stealing.back_off_max, or state a latency or "
                    "overheads");
    }
    rounds_ = 0;
    rounds_begin_ = now;
}

bool Worker::run_strands(Slot* head) {
    if (!node_.uses_strands()) return false;
    const bool steals = !strands_->any_ready();
    if (steals && !(steals_within_node() && node_.strands().any_stealable())) return false;
    if (idle()) node_.begin_activity(id.core);
    bool ran = false;
    if (steals) {
        charge(costs->steal_attempt);
        ++counters_.steal_attempts;
    }
    if (!steals || node_.strands().steal(*strands_, id.core + 1)) {
        if (steals) {
            charge(costs->steal);
            ++counters_.steals_within_node;
        }
        begin_task();
        Slot* const outer = std::exchange(loose_, nullptr);
        ran = strands_->run(head);
        loose_ = outer;
        end_task();
    }
    if (idle()) node_.end_activity(*this);
    return ran;
}

bool Worker::run_ready(Slot* head) {
    if (node_.ready().size() == 0) return false;
    if (idle()) node_.begin_activity(id.core);
    const auto task = node_.ready().take();
    if (task) {
        begin_task();
        charge(costs->token);
        count_task();
        execute(*task->type, head, task->payload);
        end_task();
    }
    if (idle()) node_.end_activity(*this);
    return task != nullptr;
}

bool Worker::run_token(Slot* head) {
    if (node_.tokens().size() == 0) return false;
    if (idle()) node_.begin_activity(id.core);
    const auto token = node_.tokens().take();
    if (token) {
        begin_task();
        charge(costs->token);
        count_task();
        if (recorder) [[unlikely]]
            note_victim(token->from);
        execute(*token->type, head, token->payload);
        end_task();
        node_.steals().send_result(*this, *token);
    }
    if (idle()) node_.end_activity(*this);
    return token != nullptr;
}

/// Tries the other workers that may have something, from `begin` on.
bool Worker::scan_node(CoreId begin, Slot* head) {
    if (node_.cores() == 1) return false;
    charge(costs->steal_attempt);  // for the look at the set of active workers
    return node_.any_victim(begin % node_.cores(),
                            [&](CoreId core) { return core != id.core && steal_from(core, head); });
}

bool Worker::steal_from(CoreId victim, Slot* head) {
    Deque& deque = node_.worker(victim).deque();
    const bool far = !node_.topology().near(id.core, victim);
    charge(costs->steal_attempt + (far ? costs->steal_far : Time::zero()));
    ++counters_.steal_attempts;
    if (deque.shared() == 0) {
        if (steal_ranked(node_.worker(victim), head)) return true;
        deque.ask();
        return false;
    }
    if (idle()) node_.begin_activity(id.core);
    Slot* slot = deque.take();
    if (slot) {
        const TaskType& type = *slot->type;
        alignas(16) std::byte copy[payload_bytes];
        if (type.detached()) {
            std::memcpy(copy, slot->payload, type.arguments_bytes());
            complete(*slot);
        } else {
            slot->state.store(taken_by(id.core), std::memory_order_relaxed);
        }
        if (deque.shared() == 0) {
            deque.ask();
        } else {
            node_.wake_one(*this);  // there is more than was woken for
        }
        charge(costs->steal);
        ++counters_.steals_within_node;
        count_task();
        begin_task();
        if (recorder) [[unlikely]]
            note_origin(node_.worker(victim), slot);
        execute(type, head, type.detached() ? copy : slot->payload);
        end_task();
        if (!type.detached()) {
            complete(*slot);
            node_.worker(victim).awaited_done(*this);
        }
    }
    if (idle()) node_.end_activity(*this);
    return slot != nullptr;
}

}  // namespace heddle::runtime
