// Implements EARTH's operations between nodes: invoking a thread, dropping items into a mailbox, ending an
// activation.
#include "model/earth.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "model/earth/exclusive.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::model::earth {

namespace {

using runtime::bytes_of;
using runtime::Handler;
using runtime::Node;
using runtime::Reader;
using runtime::TaskType;

const Handler invoke_handler("earth.invoke", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    Reader reader(message);
    const auto id = reader.get<runtime::TaskTypeId>();
    const auto parameters = reader.get_rest();
    const TaskType* const type = runtime::find_task_type(id);
    reader.check();
    if (!type || !type->detached() || type->arguments_bytes() != parameters.size())
        throw runtime::MalformedMessage(fmt::format("node {} invokes a function that is not here", from));
    node.put_ready(node.receiver(), *type, parameters);
});

const Handler drop_handler("earth.drop_in", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    const auto mailbox = reader.get<Global<Mailbox>>();
    reader.check();
    Mailbox& target = mailbox.on(node.id());
    node.touched(&target, sizeof target);
    target.put(node, node.receiver(), reader.get_rest());
});

/// The task that runs a program's `main`.
const TaskType main_type("earth.main",
                         [](runtime::Worker& worker, runtime::Slot*, std::byte*) {
                             static_cast<Program&>(worker.program()).main(Em(worker, nullptr));
                         },
                         0, 0, false, {.end = TaskType::End::detached});

void make_ready(Frame& frame, Node& node, runtime::Context& caller, const ScheduledFiber& fiber) {
    Frame* const pointer = &frame;
    if (fiber.priority == 0) return node.make_ready(caller, *fiber.type, bytes_of(pointer));
    const bool by_worker = caller.id.core < node.cores();
    auto& outbox = by_worker ? node.worker(caller.id.core).outbox() : node.receiver_outbox();
    auto& earth = node.state<EarthNode>();
    node.ranked().put(
        caller, outbox, by_worker ? caller.id.core : 0,
        {earth.next_rank(fiber.priority), fiber.type, reinterpret_cast<std::uintptr_t>(pointer)});
}

}  // namespace

namespace detail {

std::string demangled(const char* name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
    return status == 0 ? text.get() : name;
}

void schedule(Frame& frame, Node& node, runtime::Context& caller, const ScheduledFiber& fiber,
              bool exclusive) {
    if (exclusive) {
        bool made = false;
        ExclusiveFibers& others = frame.exclusive(made);
        if (made) remember(node, frame, nullptr);
        if (!others.begin_or_wait(fiber)) return;
    }
    make_ready(frame, node, caller, fiber);
}

void schedule_next_exclusive(Frame& frame, runtime::Worker& worker) {
    bool made = false;
    if (const auto fiber = frame.exclusive(made).next()) make_ready(frame, worker.node(), worker, *fiber);
}

void remember(Node& node, Frame& frame, void (*destroy)(Frame&)) {
    node.state<EarthNode>().remember(frame, destroy);
}

void forget(Node& node, Frame& frame) {
    node.state<EarthNode>().forget(frame);
}

void terminated_too_early(const Frame& frame, const std::string& fiber, NodeId node) {
    throw Error(fmt::format("{} on node {} has terminated while {} was scheduled", frame.function().name,
                            node, fiber),
                "terminate in the last fiber, which waits for a signal of each other one");
}

WorkerFrames::WorkerFrames(runtime::Worker& worker) : pool(worker.node().state<EarthNode>().make_pool()) {}

}  // namespace detail

// --- mailboxes

void Mailbox::open(NodeId node, runtime::SyncSlot& slot) {
    node_ = node;
    slot_ = &slot;
}

void Mailbox::put(Node& node, runtime::Context& caller, std::span<const std::byte> item) {
    if (!slot_)
        throw Error("an item for a mailbox that was not initialized",
                    "call init_mailbox before its address is given away");
    {
        const runtime::SpinLock::Guard guard(lock_);
        items_.emplace_back(item.begin(), item.end());
    }
    slot_->signal(node, caller);
}

std::optional<runtime::Bytes> Mailbox::take(NodeId here) {
    if (slot_ && here != node_) {
        throw Error(fmt::format("node {} takes an item out of a mailbox of node {}", here, node_),
                    "retrieve items on the mailbox's node");
    }
    const runtime::SpinLock::Guard guard(lock_);
    if (items_.empty()) return std::nullopt;
    runtime::Bytes item = std::move(items_.front());
    items_.pop_front();
    return item;
}

// --- execution modules

void Em::invoke_elsewhere(NodeId node, const TaskType& type, std::span<const std::byte> parameters) const {
    if (node >= num_nodes()) {
        throw Error(fmt::format("node {} invokes a thread on node {}, and there are {}", node_id(), node,
                                num_nodes()),
                    "nodes are numbered from 0");
    }
    const runtime::TaskTypeId id = type.id();
    worker_->outbox().post(node, invoke_handler, bytes_of(id), runtime::Outbox::Urgency::gathered,
                           parameters);
}

void Em::move(Global<const std::byte> source, Global<std::byte> target, std::size_t bytes,
              SlotArgument slot) const {
    if (checked() && source.node == node_id()) touch(&source.on(node_id()), bytes);
    if (checked() && target.node == node_id()) touch(&target.on(node_id()), bytes);
    runtime::move_bytes(*worker_, source, target, bytes, to_sptr(slot));
}

void Em::drop_in(Global<Mailbox> mailbox, std::span<const std::byte> item) const {
    if (mailbox.node != node_id()) {
        worker_->outbox().post(mailbox.node, drop_handler, bytes_of(mailbox),
                               runtime::Outbox::Urgency::gathered, item);
        return;
    }
    Mailbox& here = mailbox.on(node_id());
    if (checked()) touch(&here, sizeof here);
    here.put(worker_->node(), *worker_, item);
}

std::size_t Em::retrieve_item(Mailbox& mailbox, std::span<std::byte> into) const {
    const auto item = mailbox.take(node_id());
    if (!item) return 0;
    if (item->size() > into.size()) {
        throw Error(fmt::format("an item of {} bytes does not fit into {}", item->size(), into.size()),
                    "use retrieve_item_addr where items may be larger");
    }
    std::copy(item->begin(), item->end(), into.begin());
    return item->size();
}

runtime::Bytes Em::retrieve_item_addr(Mailbox& mailbox) const {
    return mailbox.take(node_id()).value_or(runtime::Bytes{});
}

// --- the program

void Program::set_up(Node& node) {
    earth_ = &node.state<EarthNode>();
    if (checked_) earth_->check();
}

void Program::begin(runtime::Worker& worker) {
    if (worker.id != WorkerId{0, 0}) return worker.begins_nothing();
    std::byte nothing{};
    worker.execute(main_type, worker.base(), &nothing);
}

}  // namespace heddle::model::earth
