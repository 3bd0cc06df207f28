// Which processors of a machine may change places in any schedule. Of unused ones that are alike a search
// looks at the first only. Says nothing of tasks.
#pragma once

#include <cstddef>
#include <vector>

#include "partitioners/schedulers/problem.hpp"

namespace heddle::schedulers {

class Symmetry {
public:
    /// Keeps a reference to the problem.
    explicit Symmetry(const Problem& problem);

    /// The first so many processors are enough for any schedule, up to an exchange of processors.
    ProcessorIndex processors() const { return processors_; }
    /// The nodes of these.
    ProcessorIndex nodes() const { return nodes_; }
    /// The processors of a node, from first to before last.
    std::pair<ProcessorIndex, ProcessorIndex> processors_of(ProcessorIndex node) const {
        return problem_.processors_of(node);
    }

    /// Whether all nodes are alike that have as many processors as the first one.
    bool nodes_alike() const { return nodes_alike_; }
    bool is_full(ProcessorIndex node) const {
        const auto [first, end] = processors_of(node);
        return end - first == size_;
    }
    /// Whether the processors of the node are alike.
    bool alike_within(ProcessorIndex node) const { return alike_within_.empty() || alike_within_[node]; }

    /// The first processor behind an unused one that may differ from it, if all processors behind that one
    /// which are like it are unused, too.
    ProcessorIndex behind_unused(ProcessorIndex processor) const;

    /// How many processors differ from each other before any is used; 1 for nodes that are alike.
    std::size_t kinds() const;

    /// Exchanges processors that are alike so that all are among processors(). They are numbered in the order
    /// in which the sequence of all tasks uses them. `processor`: of each task.
    void renumber(const std::vector<TaskIndex>& sequence, std::vector<ProcessorIndex>& processor) const;

private:
    const Problem& problem_;
    ProcessorIndex processors_, nodes_, size_;
    bool nodes_alike_;
    std::vector<bool> alike_within_;  ///< of each node; empty: of all
};

}  // namespace heddle::schedulers
