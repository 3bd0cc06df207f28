// Runs a placed graph on a node. A task starts when its inputs have come, and its data are sent to the nodes
// that need them. A stolen task takes its data along.
#include "model/placed_graph.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/task_record.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::model {

namespace {

using runtime::Handler;
using runtime::Node;
using runtime::Reader;
using runtime::Worker;
using runtime::Writer;

/// What a task of a placed graph carries: its number in messages, and, if it was stolen, the data that came
/// with it.
struct Payload {
    std::uint32_t number = 0;
    std::uint32_t stolen = 0;  ///< of PlacedGraphPart::hold, or 0
};

/// The parts of a node, in the order in which they were attached.
struct Parts : runtime::State<Node> {
    explicit Parts(Node& /*node*/) {}

    /// Null if there is none of which `is(part)` is true.
    template <class Is>
    PlacedGraphPart* find(const Is& is) const {
        for (PlacedGraphPart* const part : parts)
            if (is(*part)) return part;
        return nullptr;
    }
    PlacedGraphPart* of_task(std::uint32_t number) const {
        return find([=](const PlacedGraphPart& part) { return part.has_task(number); });
    }
    PlacedGraphPart* of_delivery(std::uint32_t number) const {
        return find([=](const PlacedGraphPart& part) { return part.has_delivery(number); });
    }

    std::vector<PlacedGraphPart*> parts;
};

Payload read_payload(const std::byte* bytes) {
    Payload payload;
    std::memcpy(&payload, bytes, sizeof payload);
    return payload;
}

/// The data of a task that came with it, or else those that wait for it on this node.
Inputs inputs_of(PlacedGraphPart& part, const Payload& payload) {
    return payload.stolen == 0 ? part.take_inputs(part.task(payload.number)) : part.release(payload.stolen);
}

void run_task(Worker& worker, runtime::Slot* head, std::byte* bytes) {
    const Payload payload = read_payload(bytes);
    PlacedGraphPart& part = *worker.node().state<Parts>().of_task(payload.number);
    const TaskIndex task = part.task(payload.number);
    if (payload.stolen != 0) {
        Inputs inputs = inputs_of(part, payload);
        part.execute(worker, head, task, inputs);
    } else {
        part.execute(worker, head, task);
    }
}

std::uint64_t pack(Node& node, const std::byte* bytes, Writer& writer) {
    const Payload payload = read_payload(bytes);
    PlacedGraphPart& part = *node.state<Parts>().of_task(payload.number);
    const PlacedGraph& plan = part.plan();
    for (const Input& input : inputs_of(part, payload)) {
        const std::size_t size = input.datum ? input.datum->size() : 0;
        writer.put_size(size);
        if (size != 0) writer.put_bytes(*input.datum);
    }
    if (plan.data() == PlacedGraph::Data::carried) return 0;
    std::uint64_t padding = 0;
    for (const std::uint32_t delivery : plan.inputs(part.task(payload.number)))
        padding += plan.delivery(delivery).bytes;
    return padding;
}

bool unpack(Node& node, std::byte* bytes, Reader& reader) {
    Payload payload = read_payload(bytes);
    PlacedGraphPart* const part = node.state<Parts>().of_task(payload.number);
    if (!part) return false;
    Inputs inputs;
    for (std::size_t left = part->plan().inputs(part->task(payload.number)).size(); left > 0; --left) {
        const auto datum = reader.get_bytes(reader.get_size());
        if (!reader.ok()) return false;
        inputs.push_back({std::make_shared<runtime::Bytes>(datum.begin(), datum.end()), true});
    }
    payload.stolen = part->hold(std::move(inputs));
    std::memcpy(bytes, &payload, sizeof payload);
    return true;
}

const runtime::Cargo cargo{pack, unpack};

/// Only the task's number travels; the thief makes `stolen`.
const runtime::TaskType task_type("placed_graph.task", run_task, sizeof(Payload::number), 0, true,
                                  {.cargo = &cargo, .records = runtime::TaskType::Records::itself});

const Handler datum_handler("placed_graph.datum", Handler::Kind::work,
                            [](Node& node, NodeId from, auto message) {
                                Reader reader(message);
                                const auto delivery = reader.get<std::uint32_t>();
                                reader.check();
                                PlacedGraphPart* const part = node.state<Parts>().of_delivery(delivery);
                                Datum datum = node.take_body();
                                if (!datum) {
                                    const auto small = reader.get_rest();
                                    datum = std::make_shared<runtime::Bytes>(small.begin(), small.end());
                                }
                                if (!part || !part->receive(node, part->delivery(delivery), std::move(datum)))
                                    throw runtime::MalformedMessage(fmt::format(
                                        "no task here waits for delivery {} from node {}", delivery, from));
                            });

}  // namespace

PlacedGraphPart::PlacedGraphPart(const PlacedGraph& plan, NodeId node)
    : plan_(plan),
      node_(node),
      tasks_(static_cast<std::uint32_t>(plan.graph().tasks())),
      held_(plan.incoming(node).size()),
      missing_(plan.tasks_on(node)),
      unready_(plan.placement().grid().cores),
      spare_(plan.placement().grid().cores) {
    for (CoreId core = 0; core < plan.placement().grid().cores; ++core) {
        const auto tasks = plan.tasks_of({node, core});
        unready_[core].tasks = static_cast<std::uint32_t>(tasks.size());
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            const auto inputs = static_cast<std::uint32_t>(plan.inputs(tasks[i]).size());
            const bool waits_its_turn = plan.order() == PlacedGraph::Order::strict && i > 0;
            missing_[plan.local(tasks[i])].store(inputs + (waits_its_turn ? 1 : 0));
        }
    }
    for (const std::uint32_t number : plan.incoming(node)) {
        const PlacedGraph::Delivery& delivery = plan.delivery(number);
        held_[delivery.local].readers.store(delivery.consumers);
    }
}

PlacedGraphPart::~PlacedGraphPart() = default;

void PlacedGraphPart::attach(Node& node) {
    auto& parts = node.state<Parts>().parts;
    if (!parts.empty()) {
        const PlacedGraphPart& before = *parts.back();
        first_task_ = before.first_task_ + before.tasks_;
        first_delivery_ = before.first_delivery_ + before.plan_.deliveries();
    }
    parts.push_back(this);
    node.sources().add(unready_);
}

bool PlacedGraphPart::Unready::expects(const Worker& worker) const {
    const Count& count = cores_[worker.id.core];
    return count.tasks != count.made_ready_here.load(std::memory_order_relaxed) +
                              count.made_ready.load(std::memory_order_relaxed);
}

bool PlacedGraphPart::start(Worker& worker) {
    const bool strict = plan_.order() == PlacedGraph::Order::strict;
    bool any = false;
    worker.about_to_end();
    for (const TaskIndex task : plan_.tasks_of(worker.id)) {
        // Not `missing_`: a message may have made it zero, and then the task is in the queue already.
        if (plan_.inputs(task).empty()) {
            put({worker.node(), worker, worker.outbox()}, worker.id.core, task);
            any = true;
        }
        if (strict) break;
    }
    return any;
}

std::uint32_t PlacedGraphPart::hold(Inputs inputs) {
    const runtime::SpinLock::Guard guard(stolen_lock_);
    if (stolen_free_.empty()) {
        stolen_.push_back(std::move(inputs));
        return static_cast<std::uint32_t>(stolen_.size());
    }
    const std::uint32_t number = stolen_free_.back();
    stolen_free_.pop_back();
    stolen_[number - 1] = std::move(inputs);
    return number;
}

Inputs PlacedGraphPart::release(std::uint32_t number) {
    const runtime::SpinLock::Guard guard(stolen_lock_);
    stolen_free_.push_back(number);
    return std::exchange(stolen_[number - 1], {});
}

Inputs PlacedGraphPart::take_inputs(TaskIndex task) {
    Inputs inputs;
    take_inputs(task, inputs);
    return inputs;
}

void PlacedGraphPart::take_inputs(TaskIndex task, Inputs& into) {
    for (const std::uint32_t delivery : plan_.inputs(task)) {
        Held& held = held_[plan_.delivery(delivery).local];
        // Invariant: every reader has its copy before it counts itself off, so the last one may take it.
        if (held.readers.load(std::memory_order_acquire) == 1) {
            into.push_back({std::move(held.datum), true});
            continue;
        }
        Datum datum = held.datum;
        const bool last = held.readers.fetch_sub(1, std::memory_order_acq_rel) == 1;
        if (last) held.datum.reset();
        into.push_back({std::move(datum), last});
    }
}

void PlacedGraphPart::execute(Worker& worker, runtime::Slot* head, TaskIndex task) {
    Spare& spare = spare_[worker.id.core];
    if (spare.in_use) [[unlikely]] {  // by a task below on the stack, which waits
        Inputs inputs = take_inputs(task);
        return execute(worker, head, task, inputs);
    }
    spare.in_use = true;
    take_inputs(task, spare.inputs);
    execute(worker, head, task, spare.inputs);
    spare.in_use = false;
}

void PlacedGraphPart::execute(Worker& worker, runtime::Slot* head, TaskIndex task, Inputs& inputs) {
    const auto count = static_cast<Time::rep>(inputs.size());
    worker.charge(worker.costs->placed_task + count * worker.costs->placed_input);
    Datum datum;
    {
        const runtime::TaskRecord record(worker, task_type.id(), first_task_ + task);
        datum = run(Strand(worker, head), task, inputs);
    }
    inputs.clear();
    worker.about_to_end();
    hand_over({worker.node(), worker, worker.outbox()}, task, datum);
}

void PlacedGraphPart::hand_over(const Caller& caller, TaskIndex task, const Datum& datum) {
    const std::uint32_t begin = plan_.deliveries_begin(task);
    const std::uint32_t end = plan_.deliveries_begin(task + 1);
    // Messages first: their way is the longer one. Those to one node stand in a row.
    std::uint32_t here = begin;
    std::uint32_t here_end = begin;
    for (std::uint32_t i = begin; i < end; ++i) {
        if (plan_.delivery(i).node != node_) {
            send(caller, i, datum);
        } else {
            if (here == here_end) here = i;
            here_end = i + 1;
        }
    }
    for (; here < here_end; ++here) arrive(caller, plan_.delivery(here), datum);
    if (plan_.order() == PlacedGraph::Order::strict && plan_.next(task) != PlacedGraph::none)
        signal(caller, plan_.next(task));
}

void PlacedGraphPart::send(const Caller& caller, std::uint32_t delivery, const Datum& datum) {
    const PlacedGraph::Delivery& way = plan_.delivery(delivery);
    const bool declared = plan_.data() == PlacedGraph::Data::declared;
    HEDDLE_ASSERT(declared || (datum && datum->size() == way.bytes));
    const std::uint32_t number = first_delivery_ + delivery;
    caller.outbox.post(way.node, datum_handler, std::as_bytes(std::span(&number, 1)),
                       runtime::Enclosure{datum, declared ? way.bytes : 0});
    caller.outbox.count_data(way.bytes);
}

bool PlacedGraphPart::receive(Node& node, std::uint32_t delivery, Datum datum) {
    if (delivery >= plan_.deliveries() || plan_.delivery(delivery).node != node_) return false;
    arrive({node, node.receiver(), node.receiver_outbox()}, plan_.delivery(delivery), std::move(datum));
    return true;
}

// Invariant: what a signal announces was written before it, and the last signal, which makes the task ready,
// has seen all others.
void PlacedGraphPart::arrive(const Caller& caller, const PlacedGraph::Delivery& delivery, Datum datum) {
    held_[delivery.local].datum = std::move(datum);
    for (const TaskIndex consumer : plan_.consumers(delivery)) signal(caller, consumer);
}

void PlacedGraphPart::signal(const Caller& caller, TaskIndex task) {
    const Overheads& costs = *caller.context.costs;
    caller.context.charge(costs.sync);
    // The lines of the datum and of the count go to another core.
    if (costs.ready_elsewhere != Time::zero() && caller.context.id.core != plan_.placement().of(task).core)
        caller.context.charge(costs.ready_elsewhere);
    // Where one signal is missing it is this one.
    auto& missing = missing_[plan_.local(task)];
    if (missing.load(std::memory_order_acquire) != 1 && missing.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
    put(caller, plan_.placement().of(task).core, task);
}

void PlacedGraphPart::put(const Caller& caller, CoreId core, TaskIndex task) {
    if (Recorder* const recorder = caller.context.recorder) [[unlikely]]
        recorder->task_ready(node_, first_task_ + task, caller.context.backend->now(caller.context));
    const runtime::RankedTask ready{std::uint64_t{first_task_} + plan_.rank(task), &task_type,
                                    first_task_ + task};
    Unready::Count& unready = unready_[core];
    if (caller.context.id.core != core) {
        unready.made_ready.fetch_add(1, std::memory_order_relaxed);
    } else {
        auto& count = unready.made_ready_here;
        count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (caller.node.worker(core).keep(ready)) return;
    }
    caller.node.ranked().put(caller.context, caller.outbox, core, ready);
}

}  // namespace heddle::model
