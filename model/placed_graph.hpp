// Runs a task graph whose tasks were placed before the run by code of partitioners/. Each worker runs its own
// tasks in the order of the schedule. Each datum is sent once to every node that needs it, while senders and
// receivers go on computing. A subclass of PlacedGraphPart, or of PlacedGraphProgram, defines what a task
// does.
//
// After Gautier, Besseron, Pigeon: "KAAPI: a thread scheduling runtime system for data flow computations on
// cluster of multi-processors", section 3.5 (partitioned threads with send and receive tasks) and 3.3 (a
// stolen task takes its data along, and
// its results go home).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/placement.hpp"
#include "base/task_graph.hpp"
#include "model/fork_join.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/run/program.hpp"
#include "runtime/sources/ranked_queue.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::model {

/// A graph with its placement, and which worker sends which data to which node. Immutable; all nodes of a
/// process share it.
class PlacedGraph {
public:
    /// How a worker goes through its tasks.
    enum class Order : std::uint8_t {
        strict,  ///< exactly in the order of the schedule: it waits for the next one, even if a later is
                 ///< ready
        ready,   ///< the first in the order of those that are ready
    };

    /// What an edge's bytes are.
    enum class Data : std::uint8_t {
        declared,  ///< as many bytes travel, beside what the tasks really hand over
        carried,   ///< what the tasks hand over, exactly
    };

    /// A datum on its way from a task to all its successors on one node. Edges of one task to one node that
    /// carry equally many bytes stand for one datum.
    struct Delivery {
        NodeId node = 0;
        std::uint32_t local = 0;  ///< its number among the deliveries to that node
        std::uint64_t bytes = 0;
        std::size_t consumers_begin = 0;
        std::uint32_t consumers = 0;
    };

    /// `sequence`: all tasks, each after its predecessors; workers run theirs in this order. `graph` must
    /// outlive the object. Asserts that the sequence is one.
    PlacedGraph(const TaskGraph& graph, Placement placement, std::span<const TaskIndex> sequence, Order order,
                Data data);

    const TaskGraph& graph() const { return *graph_; }
    const Placement& placement() const { return placement_; }
    Order order() const { return order_; }
    Data data() const { return data_; }

    /// The deliveries of a task's datum have the numbers from `deliveries_begin(task)` to before
    /// `deliveries_begin(task + 1)`.
    std::uint32_t deliveries_begin(TaskIndex task) const { return deliveries_begin_[task]; }
    std::uint32_t deliveries() const { return static_cast<std::uint32_t>(deliveries_.size()); }
    const Delivery& delivery(std::uint32_t number) const { return deliveries_[number]; }
    std::span<const TaskIndex> consumers(const Delivery& delivery) const {
        return {consumers_.data() + delivery.consumers_begin, delivery.consumers};
    }
    /// The delivery that brings each predecessor's datum to the task's node, in the order of the graph's
    /// predecessors.
    std::span<const std::uint32_t> inputs(TaskIndex task) const {
        return {inputs_.data() + inputs_begin_[task], inputs_.data() + inputs_begin_[task + 1]};
    }

    std::uint32_t rank(TaskIndex task) const { return rank_[task]; }
    /// None of a node that is not in the placement's grid: it joined later.
    std::span<const TaskIndex> tasks_of(WorkerId worker) const {
        if (!has(worker.node)) return {};
        const std::size_t index = std::size_t{worker.node} * placement_.grid().cores + worker.core;
        return {of_worker_.data() + of_worker_begin_[index], of_worker_.data() + of_worker_begin_[index + 1]};
    }
    /// The task's number among those of its node, and how many a node has.
    std::uint32_t local(TaskIndex task) const { return local_[task]; }
    std::uint32_t tasks_on(NodeId node) const { return has(node) ? tasks_on_[node] : 0; }

    /// The deliveries to a node, in the order of Delivery::local.
    std::span<const std::uint32_t> incoming(NodeId node) const {
        if (!has(node)) return {};
        return {incoming_.data() + incoming_begin_[node], incoming_.data() + incoming_begin_[node + 1]};
    }

    /// Where order is strict: the task that its worker runs after this one; `none` for the last.
    static constexpr TaskIndex none = ~TaskIndex{0};
    TaskIndex next(TaskIndex task) const { return next_[task]; }

    /// Bytes of data that a run sends between nodes where nothing is stolen.
    std::uint64_t bytes_between_nodes() const;

    /// What a message of data carries besides them: headers, and of declared data the few bytes that the
    /// tasks really hand over.
    static constexpr std::uint64_t message_bytes_besides = 20;

private:
    bool has(NodeId node) const { return node < placement_.grid().nodes; }
    void place_tasks(std::span<const TaskIndex> sequence);
    void find_deliveries();

    const TaskGraph* graph_;
    Placement placement_;
    Order order_;
    Data data_;
    std::vector<std::uint32_t> rank_, local_, tasks_on_;
    std::vector<TaskIndex> of_worker_, next_;
    std::vector<std::size_t> of_worker_begin_;
    std::vector<std::uint32_t> deliveries_begin_;
    std::vector<Delivery> deliveries_;
    std::vector<TaskIndex> consumers_;
    std::vector<std::size_t> inputs_begin_, incoming_begin_;
    std::vector<std::uint32_t> inputs_, incoming_;
};

/// What a task hands to its successors. Shared by those of a node.
using Datum = runtime::Body;

/// A predecessor's datum, as a task gets it.
struct Input {
    Datum datum;
    /// No other task of this node is still to take it. One that took it before may still be at work on it, or
    /// it may be on its way to another node: change it in place only where the graph gives it a single
    /// reader.
    bool last = false;
};
using Inputs = std::vector<Input>;

/// One node's part of a placed graph. Every node of the run has one. A program may have several graphs: all
/// nodes must attach their parts in the same order.
class PlacedGraphPart {
public:
    /// `plan` must outlive the part.
    PlacedGraphPart(const PlacedGraph& plan, NodeId node);
    virtual ~PlacedGraphPart();
    PlacedGraphPart(const PlacedGraphPart&) = delete;
    PlacedGraphPart& operator=(const PlacedGraphPart&) = delete;

    /// Makes the part known to messages, in Program::set_up.
    void attach(runtime::Node& node);
    /// Makes the worker's tasks ready that wait for no data. Called once by each worker of each node. False
    /// if there is none.
    bool start(runtime::Worker& worker);

    const PlacedGraph& plan() const { return plan_; }

    // --- for the messages
    /// A datum has come from another node, and the receiver of `node` has it. False if the message makes no
    /// sense.
    bool receive(runtime::Node& node, std::uint32_t delivery, Datum datum);
    /// Whether a number of a task or delivery in a message is one of this part, and which.
    bool has_task(std::uint32_t number) const { return number - first_task_ < tasks_; }
    TaskIndex task(std::uint32_t number) const { return number - first_task_; }
    bool has_delivery(std::uint32_t number) const { return number - first_delivery_ < plan_.deliveries(); }
    std::uint32_t delivery(std::uint32_t number) const { return number - first_delivery_; }
    /// Keeps the data that came with a stolen task until it runs. Returns their number, which is not 0.
    std::uint32_t hold(Inputs inputs);
    /// Takes them out again.
    Inputs release(std::uint32_t number);
    /// What the task needs, taken out of the node's store.
    Inputs take_inputs(TaskIndex task);
    /// Runs a task on a worker, whether it belongs to this node or was stolen.
    void execute(runtime::Worker& worker, runtime::Slot* head, TaskIndex task, Inputs& inputs);
    /// The same for a task of this node, with what waits for it here.
    void execute(runtime::Worker& worker, runtime::Slot* head, TaskIndex task);

protected:
    /// Does the work of a task. Returns what its successors get, which may be null if no task reads it.
    virtual Datum run(Strand strand, TaskIndex task, const Inputs& inputs) = 0;

private:
    /// Tasks that miss data. Ready ones wait in the workers' queues.
    class Unready final : public runtime::WorkSource {
    public:
        explicit Unready(CoreId cores) : cores_(cores) {}
        bool run(runtime::Worker& /*worker*/, runtime::Slot* /*head*/) override { return false; }
        bool expects(const runtime::Worker& worker) const override;

        /// A core's own. Its worker counts down without a read-modify-write.
        struct alignas(64) Count {
            std::uint32_t tasks = 0;
            std::atomic<std::uint32_t> made_ready_here{0};  ///< by the core's worker
            std::atomic<std::uint32_t> made_ready{0};       ///< by others
        };
        Count& operator[](CoreId core) { return cores_[core]; }

    private:
        std::vector<Count> cores_;
    };

    struct Held {
        Datum datum;
        std::atomic<std::uint32_t> readers{0};  ///< tasks of this node that have not taken it yet
    };

    /// The acting context: a worker, or the receiver.
    struct Caller {
        runtime::Node& node;
        runtime::Context& context;
        runtime::Outbox& outbox;
    };

    void hand_over(const Caller& caller, TaskIndex task, const Datum& datum);
    void send(const Caller& caller, std::uint32_t delivery, const Datum& datum);
    void arrive(const Caller& caller, const PlacedGraph::Delivery& delivery, Datum datum);
    void signal(const Caller& caller, TaskIndex task);
    void put(const Caller& caller, CoreId core, TaskIndex task);
    void take_inputs(TaskIndex task, Inputs& into);

    /// Memory for the inputs of a worker's next task, so that none is asked for.
    struct alignas(64) Spare {
        Inputs inputs;
        bool in_use = false;
    };

    const PlacedGraph& plan_;
    NodeId node_;
    std::uint32_t tasks_;
    std::uint32_t first_task_ = 0;      ///< its tasks and deliveries are numbered from here on in messages,
    std::uint32_t first_delivery_ = 0;  ///< after those of the parts that were attached before
    std::vector<Held> held_;            ///< by Delivery::local
    std::vector<std::atomic<std::uint32_t>> missing_;  ///< signals, by PlacedGraph::local
    Unready unready_;
    std::vector<Spare> spare_;       ///< by core
    runtime::SpinLock stolen_lock_;  ///< over the next two
    std::vector<Inputs> stolen_;
    std::vector<std::uint32_t> stolen_free_;  ///< numbers that `hold` may give
};

/// A program that runs one placed graph, and nothing else.
class PlacedGraphProgram : public runtime::Program, public PlacedGraphPart {
public:
    using PlacedGraphPart::PlacedGraphPart;

    void set_up(runtime::Node& node) override { attach(node); }
    void begin(runtime::Worker& worker) override {
        if (!start(worker)) worker.begins_nothing();
    }
};

}  // namespace heddle::model
