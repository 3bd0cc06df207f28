// A node's part in stealing between nodes: sends its workers' requests, and answers those of other nodes.
#include "runtime/stealing/steal_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/comm/task_message.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/sources/gift.hpp"

namespace heddle::runtime {

namespace {

// What a message holds in place of a worker's number.
constexpr CoreId no_worker = Home::no_worker;        ///< tokens that answer no request: a lifeline's
constexpr CoreId far_request = Home::no_worker - 1;  ///< the request of a node, for which no worker waits

const Handler request_handler(
    "steal.request", Handler::Kind::control,
    [](Node& node, NodeId from, auto message) {
        node.steals().on_request(from, value_in<StealService::Request>(message));
    },
    Handler::IfGone::here);
const Handler refusal_handler(
    "steal.refusal", Handler::Kind::control,
    [](Node& node, NodeId, auto message) { node.steals().answered(value_in<CoreId>(message)); },
    Handler::IfGone::drop);
const Handler tokens_handler(
    "steal.tokens", Handler::Kind::work,
    [](Node& node, NodeId from, auto message) { node.steals().on_tokens(from, message); },
    Handler::IfGone::here);
const Handler result_handler("steal.result", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    node.steals().on_result(from, message);
});

}  // namespace

bool StealService::may_request() {
    const std::uint32_t most = node_.schedule().stealing.requests;
    if (under_way_.fetch_add(1, std::memory_order_seq_cst) < most) return true;
    request_ended();
    return false;
}

void StealService::request(Worker& thief, NodeId victim) {
    const Request request{thief.id.core, 0};
    thief.outbox().post(victim, request_handler, bytes_of(request));
}

// The answer is no reason for this node to go on: a token counts as work under way from its sending on, and a
// refusal makes none. So the run may end while the request is under way.
bool StealService::request_far(Worker& thief, NodeId victim) {
    if (far_under_way_.exchange(true, std::memory_order_seq_cst)) return false;
    const Request request{far_request, 0};
    thief.outbox().post(victim, request_handler, bytes_of(request));
    return true;
}

bool StealService::answered(CoreId core) {
    if (core == far_request) far_under_way_.store(false, std::memory_order_seq_cst);
    return core < node_.cores() && node_.worker(core).request_answered();
}

void StealService::tie_lifeline(Worker& thief, NodeId victim) {
    if (node_.schedule().stealing.amount == Stealing::Amount::one) {
        const SpinLock::Guard guard(lock_);
        if (std::find(tied_.begin(), tied_.end(), victim) == tied_.end()) tied_.push_back(victim);
    }
    const Request request{no_worker, 1};
    thief.outbox().post(victim, request_handler, bytes_of(request));
}

// Work spreads beyond the neighbours of a node that has it: a node passes on what it is given to those that
// wait at the ends of its own lifelines. If nodes give one task at a time, its workers need that one, so it
// asks for more than they need. It asks again only when it was given something, so what it is given beyond
// its workers' need is bounded by what its neighbours have to give.
void StealService::pass_on(NodeId giver) {
    if (!anybody_waits()) return;
    Outbox& outbox = node_.receiver_outbox();
    serve_waiting(outbox);
    if (!anybody_waits() || node_.schedule().stealing.amount != Stealing::Amount::one) return;
    {
        const SpinLock::Guard guard(lock_);
        if (std::find(tied_.begin(), tied_.end(), giver) == tied_.end()) return;
    }
    const Request request{no_worker, 1};
    outbox.post(giver, request_handler, bytes_of(request));
}

void StealService::send_result(Worker& worker, Token& token) {
    token.holds = Holds::nothing;  // from here on it is the caller's, or in a message
    if (token.home.core == Home::no_worker) return;
    if (token.home.node == node_.id()) {
        Worker& owner = node_.worker(token.home.core);
        Slot& slot = *owner.deque().slot(token.home.index);
        std::memcpy(slot.payload, token.payload, token.type->result_bytes());
        Worker::complete(slot);
        owner.awaited_done(worker);
        return;
    }
    post_result(node_, worker.outbox(), token.home.node, result_handler, bytes_of(token.home), *token.type,
                token.payload);
}

std::uint32_t StealService::give(Outbox& outbox, NodeId thief, CoreId core) {
    using Amount = Stealing::Amount;
    const Amount amount = node_.schedule().stealing.amount;
    std::uint32_t wanted = 1;
    // A trip between clusters is long, so it brings more than a task.
    if (core == far_request || amount != Amount::one) {
        const std::uint32_t most = amount == Amount::donation ? Gift::most_donated : Gift::most_tasks;
        wanted = std::clamp((node_.sources().givable() + 1) / 2, 1U, most);
    }
    return give(outbox, thief, core, wanted);
}

std::uint32_t StealService::give(Outbox& outbox, NodeId thief, CoreId core, std::uint32_t wanted) {
    const bool donates = node_.schedule().stealing.amount == Stealing::Amount::donation;
    const CoreId first = donates ? 0 : next_core_.fetch_add(1, std::memory_order_relaxed) % node_.cores();
    Gift gift(node_, outbox, thief, core, wanted, first);
    node_.sources().give(gift);
    return gift.send(tokens_handler);
}

std::uint32_t StealService::give_away(Outbox& outbox, NodeId to) {
    return give(outbox, to, no_worker);
}

std::uint32_t StealService::give_all(Outbox& outbox, NodeId to) {
    return give(outbox, to, no_worker, Gift::most_donated);
}

void StealService::forget(Outbox& outbox, NodeId leaver) {
    std::vector<Waiting> dropped;
    {
        const SpinLock::Guard guard(lock_);
        std::erase(tied_, leaver);
        const auto first = std::stable_partition(
            kept_.begin(), kept_.end(), [&](const Waiting& request) { return request.thief != leaver; });
        dropped.assign(first, kept_.end());
        kept_.erase(first, kept_.end());
        waiting_.fetch_sub(static_cast<std::uint32_t>(dropped.size()), std::memory_order_seq_cst);
    }
    for (const Waiting& request : dropped)
        if (request.core != no_worker) refuse(outbox, request);
}

void StealService::ask_workers() {
    node_.active().any_from(0, [&](CoreId core) {
        Deque& deque = node_.worker(core).deque();
        if (deque.shared() == 0) deque.ask();
        return false;
    });
}

void StealService::on_request(NodeId thief, Request request) {
    Outbox& outbox = node_.receiver_outbox();
    // The victim has left.
    if (thief == node_.id()) return request.lifeline ? void() : refuse(outbox, {thief, request.core});
    // A leaver's lifeline, which its `close` has overtaken: nothing may be sent there (Members).
    if (node_.members() && !node_.members()->list()->contains(thief)) return;
    node_.receiver().charge(node_.receiver().costs->steal_attempt);
    if (give(outbox, thief, request.core) != 0) return;
    // A far thief loses two long latencies if it must ask again, and no worker of it waits meanwhile.
    const bool patient =
        request.core == far_request || node_.schedule().stealing.busy == Stealing::Busy::wait;
    const bool waits = patient && !node_.active().empty();
    if (!request.lifeline && !waits) {
        refuse(outbox, {thief, request.core});
        ask_workers();
        return;
    }
    keep({thief, request.lifeline ? no_worker : request.core});
    // Ask after keeping: a worker that publishes, or becomes active, from now on sees the request, and so
    // does the last worker that becomes passive.
    node_.active().any_from(0, [&](CoreId core) {
        node_.worker(core).deque().ask();
        return false;
    });
    if (!request.lifeline && node_.active().empty()) refuse_waiting(outbox);
}

void StealService::refuse(Outbox& outbox, Waiting request) {
    outbox.post(request.thief, refusal_handler, bytes_of(request.core));
}

void StealService::keep(Waiting request) {
    const SpinLock::Guard guard(lock_);
    const bool known =
        request.core == no_worker && std::any_of(kept_.begin(), kept_.end(), [&](const Waiting& other) {
            return other.thief == request.thief && other.core == no_worker;
        });
    if (known) return;
    kept_.push_back(request);
    waiting_.fetch_add(1, std::memory_order_seq_cst);
}

void StealService::serve_waiting(Outbox& outbox) {
    while (anybody_waits()) {
        Waiting request{};
        {
            const SpinLock::Guard guard(lock_);
            if (kept_.empty()) return;
            request = kept_.front();
            kept_.erase(kept_.begin());
            waiting_.fetch_sub(1, std::memory_order_seq_cst);
        }
        if (give(outbox, request.thief, request.core) != 0) continue;
        {
            const SpinLock::Guard guard(lock_);
            kept_.insert(kept_.begin(), request);
            waiting_.fetch_add(1, std::memory_order_seq_cst);
        }
        if (node_.active().empty()) refuse_waiting(outbox);
        return;
    }
}

// Invariant: a request that is kept has been seen by a worker that was active after it was kept, or by
// the context that kept it and found no worker active. A context that puts a request back is active, or
// refuses again.
void StealService::refuse_waiting(Outbox& outbox) {
    if (!anybody_waits()) return;
    std::vector<Waiting> refused;
    {
        const SpinLock::Guard guard(lock_);
        const auto first = std::stable_partition(
            kept_.begin(), kept_.end(), [](const Waiting& request) { return request.core == no_worker; });
        refused.assign(first, kept_.end());
        kept_.erase(first, kept_.end());
        waiting_.fetch_sub(static_cast<std::uint32_t>(refused.size()), std::memory_order_seq_cst);
    }
    for (const Waiting& request : refused) refuse(outbox, request);
}

void StealService::on_tokens(NodeId victim, std::span<const std::byte> message) {
    Reader reader(message);
    const Body body = node_.take_body();
    Reader in_body(body);
    const auto core = reader.get<CoreId>();
    std::uint32_t count = 0;
    while (reader.ok() && !reader.done()) {
        const auto header = reader.get<Gift::TaskHeader>();
        const TaskType* type = find_task_type(header.type & ~Gift::TaskHeader::in_body);
        if (!reader.ok() || !type) break;
        Reader& cargo = (header.type & Gift::TaskHeader::in_body) != 0 ? in_body : reader;
        auto token = std::make_unique<Token>();
        token->type = type;
        token->home = header.home;
        token->from = victim;
        const auto arguments = reader.get_bytes(type->arguments_bytes());
        if (!reader.ok()) break;
        std::memcpy(token->payload, arguments.data(), arguments.size());
        if (type->cargo() && !type->cargo()->unpack(node_, token->payload, cargo)) break;
        ++count;
        if (type->detached() && node_.schedule().token_queue == TokenQueues::node) {
            node_.shared_tokens().put_arrived(*type, std::span(token->payload).first(type->arguments_bytes()),
                                              victim);
        } else {
            token->holds = Holds::arguments;
            node_.arrived().put(std::move(token));
        }
    }
    if (!reader.done() || !in_body.done()) throw MalformedMessage("its tasks cannot be read");
    // Those for a node that has left come back. They were stolen from no other node.
    if (victim != node_.id()) note_loot(victim, count);
    if (core != no_worker) note_granted(victim);
    // The worker that asked may be busy by now: then another one is woken in its place.
    std::uint32_t woken = answered(core) ? 1 : 0;
    for (; woken < count; ++woken) node_.wake_one(node_.receiver());
    if (core == no_worker) pass_on(victim);
}

void StealService::note_loot(NodeId victim, std::uint32_t tasks) {
    loot_.emplace_back(victim, tasks);
    if (loot_.size() < 2 * loot_summed_ + 64) return;
    const auto sums = stolen_from();
    loot_.assign(sums.begin(), sums.end());
    loot_summed_ = loot_.size();
}

void StealService::note_granted(NodeId victim) {
    ++granted_;
    if (node_.topology().distances.far(node_.id(), victim)) ++far_granted_;
}

void StealService::add_granted(Counters& counters) const {
    counters.requests_granted += granted_;
    counters.far_granted += far_granted_;
}

std::map<NodeId, std::uint64_t> StealService::stolen_from() const {
    std::map<NodeId, std::uint64_t> sums;
    for (const auto& [victim, tasks] : loot_) sums[victim] += tasks;
    return sums;
}

void StealService::on_result(NodeId from, std::span<const std::byte> message) {
    Reader reader(message);
    const auto home = reader.get<Home>();
    if (!reader.ok() || home.core >= node_.cores() || home.index >= node_.schedule().deque_slots) {
        throw MalformedMessage(fmt::format("node {} sent a result for a task that is not here", from));
    }
    Worker& owner = node_.worker(home.core);
    Slot& slot = *owner.deque().taken_slot(home.index);
    if (slot.state.load(std::memory_order_acquire) != Slot::pending || !slot.type)
        throw MalformedMessage(fmt::format("node {} sent a result for a task that is not away", from));
    read_result(node_, *slot.type, reader.get_rest(), slot.payload);
    Worker::complete(slot);
    owner.awaited_done(node_.receiver());
}

}  // namespace heddle::runtime
