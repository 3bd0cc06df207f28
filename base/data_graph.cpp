// Builds a graph of data, checks that it is symmetric, and restricts it to some of its data.
#include "base/data_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.hpp"
#include "base/memory_need.hpp"

namespace heddle {

namespace {

/// Rows with their edges turned round. The rows of the result are sorted, whatever those of the original
/// were.
struct Rows {
    std::vector<std::size_t> begin;
    std::vector<DatumIndex> to;
    std::vector<double> weight;
};

Rows turned(const Rows& rows, bool weighted) {
    const std::size_t data = rows.begin.size() - 1;
    Rows result{std::vector<std::size_t>(data + 1, 0), std::vector<DatumIndex>(rows.to.size()),
                std::vector<double>(weighted ? rows.to.size() : 0)};
    for (const DatumIndex to : rows.to) ++result.begin[to + 1];
    for (std::size_t datum = 0; datum < data; ++datum) result.begin[datum + 1] += result.begin[datum];
    std::vector<std::size_t> next(result.begin.begin(), result.begin.end() - 1);
    for (DatumIndex from = 0; from < data; ++from) {
        for (std::size_t i = rows.begin[from]; i < rows.begin[from + 1]; ++i) {
            const std::size_t place = next[rows.to[i]]++;
            result.to[place] = from;
            if (weighted) result.weight[place] = rows.weight[i];
        }
    }
    return result;
}

}  // namespace

DataGraph::DataGraph(std::vector<std::size_t> begin, std::vector<DatumIndex> neighbours,
                     std::vector<double> edge_weights, std::vector<double> work, std::size_t constraints)
    : begin_(std::move(begin)),
      neighbours_(std::move(neighbours)),
      edge_weights_(std::move(edge_weights)),
      work_(std::move(work)),
      constraints_(constraints) {
    HEDDLE_ASSERT(!begin_.empty() && begin_.front() == 0 && begin_.back() == neighbours_.size());
    HEDDLE_ASSERT(begin_.size() - 1 <= std::numeric_limits<DatumIndex>::max());
    HEDDLE_ASSERT(edge_weights_.empty() || edge_weights_.size() == neighbours_.size());
    HEDDLE_ASSERT(constraints_ >= 1 && (work_.empty() || work_.size() == data() * constraints_));
}

void DataGraph::set_sizes(std::vector<double> sizes) {
    HEDDLE_ASSERT(sizes.size() == data());
    sizes_ = std::move(sizes);
}

double DataGraph::total_work(std::size_t constraint) const {
    double sum = 0;
    for (DatumIndex datum = 0; datum < data(); ++datum) sum += work(datum, constraint);
    return sum;
}

DataGraph::Asymmetry DataGraph::asymmetry() const {
    const bool weighted = !edge_weights_.empty();
    const Rows once = turned({begin_, neighbours_, edge_weights_}, weighted);
    const Rows twice = turned(once, weighted);  // the original, with sorted rows
    for (DatumIndex datum = 0; datum < data(); ++datum) {
        std::size_t out = twice.begin[datum], in = once.begin[datum];
        const std::size_t out_end = twice.begin[datum + 1], in_end = once.begin[datum + 1];
        while (out < out_end || in < in_end) {
            if (in == in_end || (out < out_end && twice.to[out] < once.to[in]))
                return {true, datum, twice.to[out]};
            if (out == out_end || once.to[in] < twice.to[out]) return {true, once.to[in], datum};
            if (weighted && once.weight[in] != twice.weight[out]) return {true, datum, twice.to[out]};
            ++out;
            ++in;
        }
    }
    return {};
}

DataGraph DataGraph::of_tasks(const TaskGraph& graph, std::span<const DatumIndex> writes, DatumIndex data) {
    const auto datum_of = [&writes](TaskIndex task) { return writes.empty() ? task : writes[task]; };
    if (writes.empty()) data = graph.tasks();
    HEDDLE_ASSERT(writes.empty() || writes.size() == graph.tasks());
    if (!writes.empty()) {
        need_memory(static_cast<double>(data) * (sizeof(double) + 2 * sizeof(std::size_t)),
                    fmt::format("{} data that tasks write", data),
                    "number the data that tasks write from 0, without gaps");
    }
    std::vector<double> work(data, 0);
    Rows rows{std::vector<std::size_t>(std::size_t{data} + 1, 0), {}, {}};
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        const DatumIndex from = datum_of(task);
        HEDDLE_ASSERT(from < data);
        work[from] += graph.flops(task);
        for (const TaskGraph::Link& link : graph.successors(task)) {
            const DatumIndex to = datum_of(link.task);
            if (from == to) continue;
            ++rows.begin[from + 1];
            ++rows.begin[to + 1];
        }
    }
    for (std::size_t datum = 0; datum < data; ++datum) rows.begin[datum + 1] += rows.begin[datum];
    rows.to.resize(rows.begin.back());
    rows.weight.resize(rows.begin.back());
    std::vector<std::size_t> next(rows.begin.begin(), rows.begin.end() - 1);
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        const DatumIndex from = datum_of(task);
        for (const TaskGraph::Link& link : graph.successors(task)) {
            const DatumIndex to = datum_of(link.task);
            if (from == to) continue;
            rows.to[next[from]] = to;
            rows.weight[next[from]++] = link.bytes;
            rows.to[next[to]] = from;
            rows.weight[next[to]++] = link.bytes;
        }
    }
    // Sorted rows have parallel edges side by side: each run of them becomes one edge with their sum.
    rows = turned(rows, true);
    std::vector<std::size_t> begin{0};
    begin.reserve(std::size_t{data} + 1);
    std::size_t kept = 0;
    for (std::size_t datum = 0; datum < data; ++datum) {
        for (std::size_t i = rows.begin[datum]; i < rows.begin[datum + 1]; ++i) {
            if (kept > begin.back() && rows.to[kept - 1] == rows.to[i]) {
                rows.weight[kept - 1] += rows.weight[i];
            } else {
                rows.to[kept] = rows.to[i];
                rows.weight[kept++] = rows.weight[i];
            }
        }
        begin.push_back(kept);
    }
    rows.to.resize(kept);
    rows.weight.resize(kept);
    return {std::move(begin), std::move(rows.to), std::move(rows.weight), std::move(work)};
}

DataGraph DataGraph::restricted_to(std::span<const DatumIndex> members) const {
    constexpr DatumIndex absent = std::numeric_limits<DatumIndex>::max();
    std::vector<DatumIndex> new_index(data(), absent);
    for (std::size_t i = 0; i < members.size(); ++i) new_index[members[i]] = static_cast<DatumIndex>(i);
    std::vector<std::size_t> begin{0};
    std::vector<DatumIndex> to;
    std::vector<double> weights, work;
    for (const DatumIndex member : members) {
        for (std::size_t i = begin_[member]; i < begin_[member + 1]; ++i) {
            if (new_index[neighbours_[i]] == absent) continue;
            to.push_back(new_index[neighbours_[i]]);
            if (!edge_weights_.empty()) weights.push_back(edge_weights_[i]);
        }
        begin.push_back(to.size());
        for (std::size_t c = 0; c < constraints_ && !work_.empty(); ++c)
            work.push_back(this->work(member, c));
    }
    DataGraph restricted(std::move(begin), std::move(to), std::move(weights), std::move(work), constraints_);
    if (sizes_.empty()) return restricted;
    std::vector<double> sizes;
    for (const DatumIndex member : members) sizes.push_back(sizes_[member]);
    restricted.set_sizes(std::move(sizes));
    return restricted;
}

}  // namespace heddle
