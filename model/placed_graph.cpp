// Runs a placed graph on a node: a task starts when its inputs have come, and its data are sent to the nodes
// that need them. A stolen task takes its data along.
#include "model/placed_graph.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "runtime/node.hpp"
#include "runtime/task_record.hpp"
#include "runtime/wire.hpp"
#include "runtime/worker.hpp"

namespace heddle::model {

namespace {

using runtime::Handler;
using runtime::Node;
using runtime::Reader;
using runtime::Worker;
using runtime::Writer;

/// What a task of a placed graph carries: its number, and where it was stolen, the data that came with it.
struct Payload {
    TaskIndex task = 0;
    std::uint32_t stolen = 0;  ///< of PlacedGraphProgram::hold, or 0
};

PlacedGraphProgram* program_of(Node& node) {
    return dynamic_cast<PlacedGraphProgram*>(&node.program());
}

Payload read_payload(const std::byte* bytes) {
    Payload payload;
    std::memcpy(&payload, bytes, sizeof payload);
    return payload;
}

/// The data of a task that came with it, or else those that wait for it on this node.
Inputs inputs_of(PlacedGraphProgram& program, const Payload& payload) {
    return payload.stolen == 0 ? program.take_inputs(payload.task) : program.release(payload.stolen);
}

void run_task(Worker& worker, runtime::Slot* head, std::byte* bytes) {
    auto& program = static_cast<PlacedGraphProgram&>(worker.program());
    const Payload payload = read_payload(bytes);
    if (payload.stolen != 0) {
        Inputs inputs = inputs_of(program, payload);
        program.execute(worker, head, payload.task, inputs);
    } else {
        program.execute(worker, head, payload.task);
    }
}

std::uint64_t pack(Node& node, const std::byte* bytes, Writer& writer) {
    PlacedGraphProgram& program = *program_of(node);
    const Payload payload = read_payload(bytes);
    const PlacedGraph& plan = program.plan();
    for (const Input& input : inputs_of(program, payload)) {
        const std::size_t size = input.datum ? input.datum->size() : 0;
        writer.put_size(size);
        if (size != 0) writer.put_bytes(*input.datum);
    }
    if (plan.data() == PlacedGraph::Data::carried) return 0;
    std::uint64_t padding = 0;
    for (const std::uint32_t delivery : plan.inputs(payload.task)) padding += plan.delivery(delivery).bytes;
    return padding;
}

bool unpack(Node& node, std::byte* bytes, Reader& reader) {
    PlacedGraphProgram* program = program_of(node);
    Payload payload = read_payload(bytes);
    if (!program || payload.task >= program->plan().graph().tasks()) return false;
    Inputs inputs;
    for (std::size_t left = program->plan().inputs(payload.task).size(); left > 0; --left) {
        const auto datum = reader.get_bytes(reader.get_size());
        if (!reader.ok()) return false;
        inputs.push_back({std::make_shared<runtime::Bytes>(datum.begin(), datum.end()), true});
    }
    payload.stolen = program->hold(std::move(inputs));
    std::memcpy(bytes, &payload, sizeof payload);
    return true;
}

const runtime::Cargo cargo{pack, unpack};

/// Only the task's number travels; the thief makes `stolen`.
const runtime::TaskType task_type("placed_graph.task", run_task, sizeof(TaskIndex), 0, true, &cargo);

const Handler datum_handler("placed_graph.datum", Handler::Kind::work,
                            [](Node& node, NodeId from, auto message) {
                                Reader reader(message);
                                const auto delivery = reader.get<std::uint32_t>();
                                reader.check();
                                PlacedGraphProgram* program = program_of(node);
                                Datum datum = node.take_body();
                                if (!datum) {
                                    const auto small = reader.get_rest();
                                    datum = std::make_shared<runtime::Bytes>(small.begin(), small.end());
                                }
                                if (!program || !program->receive(node, delivery, std::move(datum)))
                                    throw runtime::MalformedMessage(fmt::format(
                                        "no task here waits for delivery {} from node {}", delivery, from));
                            });

}  // namespace

PlacedGraphProgram::PlacedGraphProgram(const PlacedGraph& plan, NodeId node)
    : plan_(plan),
      node_(node),
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

PlacedGraphProgram::~PlacedGraphProgram() = default;

bool PlacedGraphProgram::records(const runtime::TaskType& type) const {
    return &type == &task_type;
}

void PlacedGraphProgram::begin(Worker& worker) {
    const bool strict = plan_.order() == PlacedGraph::Order::strict;
    worker.about_to_end();
    for (const TaskIndex task : plan_.tasks_of(worker.id)) {
        // Not `missing_`: a message may have made it zero, and then the task is in the queue already.
        if (plan_.inputs(task).empty()) put({worker.node(), worker, worker.outbox()}, worker.id.core, task);
        if (strict) break;
    }
}

std::uint32_t PlacedGraphProgram::hold(Inputs inputs) {
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

Inputs PlacedGraphProgram::release(std::uint32_t number) {
    const runtime::SpinLock::Guard guard(stolen_lock_);
    stolen_free_.push_back(number);
    return std::exchange(stolen_[number - 1], {});
}

Inputs PlacedGraphProgram::take_inputs(TaskIndex task) {
    Inputs inputs;
    take_inputs(task, inputs);
    return inputs;
}

void PlacedGraphProgram::take_inputs(TaskIndex task, Inputs& into) {
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

void PlacedGraphProgram::execute(Worker& worker, runtime::Slot* head, TaskIndex task) {
    // Above a task that waits there is none to spare.
    Inputs inputs = std::move(spare_[worker.id.core].inputs);
    take_inputs(task, inputs);
    execute(worker, head, task, inputs);
    spare_[worker.id.core].inputs = std::move(inputs);
}

void PlacedGraphProgram::execute(Worker& worker, runtime::Slot* head, TaskIndex task, Inputs& inputs) {
    Datum datum;
    {
        const runtime::TaskRecord record(worker, task_type.id(), task);
        datum = run(Strand(worker, head), task, inputs);
    }
    inputs.clear();
    worker.about_to_end();
    hand_over({worker.node(), worker, worker.outbox()}, task, datum);
}

void PlacedGraphProgram::hand_over(const Caller& caller, TaskIndex task, const Datum& datum) {
    const std::uint32_t begin = plan_.deliveries_begin(task);
    const std::uint32_t end = plan_.deliveries_begin(task + 1);
    // Messages first: their way is the longer one.
    for (std::uint32_t i = begin; i < end; ++i) {
        if (plan_.delivery(i).node != node_) send(caller, i, datum);
    }
    for (std::uint32_t i = begin; i < end; ++i) {
        if (plan_.delivery(i).node == node_) arrive(caller, plan_.delivery(i), datum);
    }
    if (plan_.order() == PlacedGraph::Order::strict && plan_.next(task) != PlacedGraph::none)
        signal(caller, plan_.next(task));
}

void PlacedGraphProgram::send(const Caller& caller, std::uint32_t delivery, const Datum& datum) {
    const PlacedGraph::Delivery& way = plan_.delivery(delivery);
    const bool declared = plan_.data() == PlacedGraph::Data::declared;
    HEDDLE_ASSERT(declared || (datum && datum->size() == way.bytes));
    caller.outbox.post(way.node, datum_handler, std::as_bytes(std::span(&delivery, 1)),
                       runtime::Enclosure{datum, declared ? way.bytes : 0});
    caller.outbox.count_data(way.bytes);
}

bool PlacedGraphProgram::receive(Node& node, std::uint32_t delivery, Datum datum) {
    if (delivery >= plan_.deliveries() || plan_.delivery(delivery).node != node_) return false;
    arrive({node, node.receiver(), node.receiver_outbox()}, plan_.delivery(delivery), std::move(datum));
    return true;
}

// Invariant: what a signal announces was written before it, and the last signal, which makes the task ready,
// has seen all others.
void PlacedGraphProgram::arrive(const Caller& caller, const PlacedGraph::Delivery& delivery, Datum datum) {
    held_[delivery.local].datum = std::move(datum);
    for (const TaskIndex consumer : plan_.consumers(delivery)) signal(caller, consumer);
}

void PlacedGraphProgram::signal(const Caller& caller, TaskIndex task) {
    caller.context.charge(caller.context.costs->sync);
    // Where one signal is missing it is this one.
    auto& missing = missing_[plan_.local(task)];
    if (missing.load(std::memory_order_acquire) != 1 && missing.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
    put(caller, plan_.placement().of(task).core, task);
}

void PlacedGraphProgram::put(const Caller& caller, CoreId core, TaskIndex task) {
    if (Recorder* const recorder = caller.context.recorder) [[unlikely]]
        recorder->task_ready(node_, task, caller.context.backend->now(caller.context));
    const runtime::RankedTask ready{plan_.rank(task), &task_type, task};
    Unready& unready = unready_[core];
    if (caller.context.id.core != core) {
        unready.made_ready.fetch_add(1, std::memory_order_relaxed);
    } else {
        auto& count = unready.made_ready_here;
        count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (caller.node.worker(core).keep(ready)) return;
    }
    caller.node.put_ranked(caller.context, caller.outbox, core, ready);
}

}  // namespace heddle::model
