// A tree of calls (SpawnTree) that is opened before the run, down to some depth, so that a partitioner can
// place it. Each node above that depth becomes a task of a graph. Each subtree below becomes one task, which
// runs by fork/join and may be stolen in pieces. The placing itself is code of partitioners/, the running of
// model/.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/placed_graph.hpp"
#include "workloads/placed_run.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

/// The tree of a program's calls, and what the program counts in it. `Count` is default-constructed as
/// nothing and added by `+=`, in any order.
template <class Tree>
concept SpawnTree = requires(const Tree tree, const typename Tree::Arguments& node, model::Strand strand,
                             typename Tree::Count count, std::vector<typename Tree::Arguments>& children) {
    { tree.root() } -> std::same_as<typename Tree::Arguments>;
    /// Appends the node's children; none where the program goes on sequentially.
    { tree.children(node, children) } -> std::same_as<void>;
    /// Tree nodes from this one down, itself included: known or expected.
    { tree.weight(node) } -> std::convertible_to<double>;
    /// What the program counts at a node whose children are tasks of their own.
    { tree.visit(node) } -> std::same_as<typename Tree::Count>;
    /// Runs the whole program from this node down.
    { tree.run(strand, node) } -> std::same_as<typename Tree::Count>;
    { tree.answer(count) } -> std::same_as<runtime::Answer>;
    { tree.argument_bytes() } -> std::convertible_to<std::size_t>;  ///< of one task
    { tree.unit_flops() } -> std::convertible_to<double>;           ///< work at one tree node
    {count += count};
};

/// How far a tree is opened.
struct UnrollLimits {
    /// The setting that every workload with a spawn tree has.
    static Setting setting();

    /// True where the setting, or else the placement, asks for it.
    static bool wanted(const Settings& settings, const runtime::Schedule& schedule);

    /// The stated depth; or where it is 0, the first depth with `leaves_per_worker` tasks for each worker, or
    /// where there is none, with `tasks_per_worker` in all down to it.
    UnrollLimits(const Settings& settings, const WorkerGrid& grid);

    static constexpr std::size_t leaves_per_worker = 8;
    static constexpr std::size_t tasks_per_worker = 32;
    static constexpr std::size_t tasks_max = 4'000'000;

    /// True where the tree is to be opened no further. `leaves`: tree nodes at this depth; `tasks`: down to
    /// it.
    bool reached(std::int64_t depth, std::size_t leaves, std::size_t tasks) const;
    /// Throws Error for more than `tasks_max` tasks.
    void check(std::size_t tasks) const;

private:
    std::int64_t depth_;
    std::size_t leaves_wanted_;
    std::size_t tasks_wanted_;
    Location where_;
};

/// The part of an unrolled tree that does not depend on what its nodes are. `parents[t]`: the task that
/// spawns task t, which comes before it; task 0 is the root.
class UnrolledGraph {
public:
    UnrolledGraph(std::span<const TaskIndex> parents, std::span<const double> flops,
                  std::size_t argument_bytes, const ClusterView& cluster, const runtime::Schedule& schedule);

    const TaskGraph& graph() const { return graph_; }
    const model::PlacedGraph& plan() const { return placed_->plan; }
    const Forecast& forecast() const { return placed_->forecast; }

private:
    TaskGraph graph_;
    std::optional<PlacedRun> placed_;
};

/// A tree, opened and placed. Immutable; all nodes of a process share it.
template <SpawnTree Tree>
class Unrolled {
public:
    using Arguments = typename Tree::Arguments;

    Unrolled(Tree tree, const UnrollLimits& limits, const ClusterView& cluster,
             const runtime::Schedule& schedule)
        : tree_(std::move(tree)) {
        std::vector<TaskIndex> parents = open(limits);
        std::vector<double> flops(arguments_.size(), tree_.unit_flops());
        for (TaskIndex task = 0; task < arguments_.size(); ++task) {
            if (!opened_[task]) flops[task] *= tree_.weight(arguments_[task]);
        }
        placed_ = std::make_unique<UnrolledGraph>(parents, flops, tree_.argument_bytes(), cluster, schedule);
    }

    const Tree& tree() const { return tree_; }
    const TaskGraph& graph() const { return placed_->graph(); }
    const model::PlacedGraph& plan() const { return placed_->plan(); }
    Forecast forecast() const { return placed_->forecast(); }
    const Arguments& arguments(TaskIndex task) const { return arguments_[task]; }
    /// True where the node's children are tasks of the graph.
    bool opened(TaskIndex task) const { return opened_[task]; }

private:
    /// Depth by depth, so that parents come before their children. Returns the parents.
    std::vector<TaskIndex> open(const UnrollLimits& limits) {
        std::vector<TaskIndex> parents{0};
        std::vector<Arguments> children;
        arguments_.push_back(tree_.root());
        opened_.push_back(false);
        std::size_t begin = 0;
        for (std::int64_t depth = 0; begin < arguments_.size(); ++depth) {
            const std::size_t end = arguments_.size();
            if (limits.reached(depth, end - begin, end)) break;
            for (std::size_t task = begin; task < end; ++task) {
                children.clear();
                tree_.children(arguments_[task], children);
                opened_[task] = !children.empty();
                arguments_.insert(arguments_.end(), children.begin(), children.end());
                parents.insert(parents.end(), children.size(), static_cast<TaskIndex>(task));
                opened_.resize(arguments_.size(), false);
                limits.check(arguments_.size());
            }
            begin = end;
        }
        return parents;
    }

    Tree tree_;
    std::vector<Arguments> arguments_;
    std::vector<bool> opened_;
    std::unique_ptr<UnrolledGraph> placed_;
};

/// One node's part of an unrolled tree. Every worker counts for itself what its tasks count, and the answer
/// adds it up: nothing goes back up the tree.
template <SpawnTree Tree>
class UnrolledProgram final : public model::PlacedGraphProgram {
public:
    UnrolledProgram(const Unrolled<Tree>& unrolled, NodeId node)
        : PlacedGraphProgram(unrolled.plan(), node),
          unrolled_(unrolled),
          of_core_(unrolled.plan().placement().grid().cores) {}

    const Tree& tree() const { return unrolled_.tree(); }
    runtime::Work unit() const override { return {tree().unit_flops(), 0}; }

    runtime::Answer answer() const override {
        typename Tree::Count all{};
        for (const OfCore& one : of_core_) all += one.count;
        return tree().answer(all);
    }

protected:
    model::Datum run(model::Strand strand, TaskIndex task, const model::Inputs&) override {
        const auto& arguments = unrolled_.arguments(task);
        typename Tree::Count count{};
        if (unrolled_.opened(task)) {
            strand.work();
            count = tree().visit(arguments);
        } else {
            count = tree().run(strand, arguments);
        }
        // After the run, not across it: other tasks may have run on this worker meanwhile.
        of_core_[strand.worker().id.core].count += count;
        return {};
    }

private:
    /// Of one worker, which alone writes it.
    struct alignas(64) OfCore {
        typename Tree::Count count{};
    };

    const Unrolled<Tree>& unrolled_;
    std::vector<OfCore> of_core_;
};

/// The unrolled tree, where the settings or the placement ask for one; nothing where the program begins at
/// its root.
template <SpawnTree Tree>
std::unique_ptr<const Unrolled<Tree>> unroll(Tree tree, const Settings& settings, const ClusterView& cluster,
                                             const runtime::Schedule& schedule) {
    if (!UnrollLimits::wanted(settings, schedule)) return nullptr;
    return std::make_unique<const Unrolled<Tree>>(std::move(tree), UnrollLimits(settings, cluster.grid),
                                                  cluster, schedule);
}

}  // namespace heddle::workloads
