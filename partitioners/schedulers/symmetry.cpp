// Compares speeds, tables of times and distances of processors.
#include "partitioners/schedulers/symmetry.hpp"

#include <algorithm>
#include <unordered_map>

namespace heddle::schedulers {

Symmetry::Symmetry(const Problem& problem)
    : problem_(problem),
      processors_(problem.processors()),
      nodes_alike_(problem.equal_speeds() && problem.equal_distances()) {
    const auto [first, end] = problem.processors_of(0);
    size_ = end - first;
    // A schedule uses a node for each task at most.
    const std::uint64_t enough = std::uint64_t{std::max<TaskIndex>(problem.tasks(), 1)} * size_;
    if (nodes_alike_ && enough < processors_) processors_ = static_cast<ProcessorIndex>(enough);
    nodes_ = problem.node(processors_ - 1) + 1;
    if (problem.equal_speeds()) return;
    alike_within_.assign(nodes_, true);
    for (ProcessorIndex node = 0; node < nodes_; ++node) {
        const auto [from, until] = processors_of(node);
        for (TaskIndex task = 0; task < problem.tasks() && alike_within_[node]; ++task)
            alike_within_[node] = problem.same_time_until(task, from, until) == until;
    }
}

ProcessorIndex Symmetry::behind_unused(ProcessorIndex processor) const {
    const ProcessorIndex node = problem_.node(processor);
    const auto [first, end] = processors_of(node);
    if (nodes_alike_ && processor == first) return processors_;
    return alike_within(node) ? end : processor + 1;
}

std::size_t Symmetry::kinds() const {
    if (nodes_alike_) return 1;
    std::size_t sum = 0;
    for (ProcessorIndex node = 0; node < nodes_; ++node) {
        const auto [first, end] = processors_of(node);
        sum += alike_within(node) ? 1 : end - first;
    }
    return sum;
}

void Symmetry::renumber(const std::vector<TaskIndex>& sequence,
                        std::vector<ProcessorIndex>& processor) const {
    if (!nodes_alike_) return;
    struct Node {
        ProcessorIndex number = 0, used = 0;
    };
    std::unordered_map<ProcessorIndex, Node> node_of;
    std::unordered_map<ProcessorIndex, ProcessorIndex> number_of;
    const bool all = processors_ == problem_.processors();
    ProcessorIndex used = 0;
    for (const TaskIndex task : sequence) {
        const ProcessorIndex old = processor[task], node = problem_.node(old);
        const auto [its, is_new] = node_of.try_emplace(node);
        // A last node that is smaller stays where it is, unless there are enough others.
        if (is_new) its->second.number = all && !is_full(node) ? node : used++;
        const auto [number, is_first] = number_of.try_emplace(old);
        if (is_first) number->second = processors_of(its->second.number).first + its->second.used++;
        processor[task] = number->second;
    }
}

}  // namespace heddle::schedulers
