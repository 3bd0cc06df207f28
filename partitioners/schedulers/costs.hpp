// The times of tasks and the delays of messages of a problem, computed once: a search asks for each of them
// some ten thousand times. Makes no decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "partitioners/schedulers/problem.hpp"

namespace heddle::schedulers {

class Costs {
public:
    /// Of the first `processors` processors. Keeps a reference to the problem. Tables that would be large are
    /// left out; what they would have is then computed each time.
    Costs(const Problem& problem, ProcessorIndex processors);

    /// Problem::time.
    double time(TaskIndex task, ProcessorIndex processor) const {
        return times_.empty() ? problem_.time(task, processor)
                              : times_[task * times_of_a_task_ + (times_of_a_task_ == 1 ? 0 : processor)];
    }
    /// Problem::delay of the bytes of a link that is in the graph's predecessors() of a task.
    double delay_in(const TaskGraph::Link& link, ProcessorIndex from, ProcessorIndex to) const {
        return ins_.empty() ? problem_.delay(link.bytes, from, to)
                            : ins_[static_cast<std::size_t>(&link - first_in_) * kinds_ + kind(from, to)];
    }
    /// The same in the successors() of a task.
    double delay_out(const TaskGraph::Link& link, ProcessorIndex from, ProcessorIndex to) const {
        return outs_.empty() ? problem_.delay(link.bytes, from, to)
                             : outs_[static_cast<std::size_t>(&link - first_out_) * kinds_ + kind(from, to)];
    }

private:
    /// Pairs of processors of one kind have the same delays. 0: a processor and itself.
    std::size_t kind(ProcessorIndex from, ProcessorIndex to) const {
        if (kind_of_pair_.empty()) {
            if (from == to) return 0;
            return kinds_ == 2 || problem_.node(from) == problem_.node(to) ? 1 : 2;
        }
        return kind_of_pair_[std::size_t{from} * processors_ + to];
    }
    struct Pair {
        ProcessorIndex from, to;
    };
    std::vector<Pair> find_kinds();

    const Problem& problem_;
    const ProcessorIndex processors_;
    std::size_t times_of_a_task_ = 1;
    std::vector<double> times_;
    std::vector<std::uint16_t> kind_of_pair_;  ///< empty: told by the nodes
    std::size_t kinds_ = 0;
    const TaskGraph::Link *first_in_ = nullptr, *first_out_ = nullptr;
    std::vector<double> ins_, outs_;  ///< of each link, by kind
};

}  // namespace heddle::schedulers
