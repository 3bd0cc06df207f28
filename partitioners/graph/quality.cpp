// Counts the cut, the communication volume and the imbalance of a partition.
#include "partitioners/graph/quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include "partitioners/graph/part_targets.hpp"

namespace heddle::partitioners {

namespace {

template <class Differ>
double weight_where(const DataGraph& graph, const Differ& differ) {
    double twice = 0;
    for (DatumIndex datum = 0; datum < graph.data(); ++datum) {
        const auto neighbours = graph.neighbours(datum);
        for (std::size_t i = 0; i < neighbours.size(); ++i) {
            if (differ(datum, neighbours[i])) twice += graph.edge_weight(datum, i);
        }
    }
    return twice / 2;
}

}  // namespace

void check_parts(const DataGraph& graph, const Parts& part, std::size_t parts) {
    if (part.size() != graph.data()) {
        throw Error(fmt::format("parts for {} data, but the graph has {}", part.size(), graph.data()));
    }
    for (std::size_t datum = 0; datum < part.size(); ++datum) {
        if (part[datum] >= parts) {
            throw Error(fmt::format("datum {} is in part {}", datum, part[datum]),
                        fmt::format("there are {} parts, counted from 0", parts));
        }
    }
}

double cut(const DataGraph& graph, const Parts& part) {
    return weight_where(graph, [&part](DatumIndex a, DatumIndex b) { return part[a] != part[b]; });
}

double cut_between_nodes(const DataGraph& graph, const Parts& part, const WorkerGrid& grid) {
    return weight_where(
        graph, [&](DatumIndex a, DatumIndex b) { return part[a] / grid.cores != part[b] / grid.cores; });
}

double communication_volume(const DataGraph& graph, const Parts& part, std::size_t parts) {
    constexpr DatumIndex nobody = std::numeric_limits<DatumIndex>::max();
    std::vector<DatumIndex> last_sent(parts, nobody);
    double volume = 0;
    for (DatumIndex datum = 0; datum < graph.data(); ++datum) {
        for (const DatumIndex neighbour : graph.neighbours(datum)) {
            if (part[neighbour] == part[datum] || last_sent[part[neighbour]] == datum) continue;
            last_sent[part[neighbour]] = datum;
            volume += graph.size(datum);
        }
    }
    return volume;
}

double imbalance(const DataGraph& graph, const Parts& part, std::size_t parts,
                 std::span<const double> speeds) {
    double worst = 1;
    const std::vector<double> shares = shares_of(speeds, parts);
    for (std::size_t constraint = 0; constraint < graph.constraints(); ++constraint) {
        std::vector<double> work(parts, 0);
        for (DatumIndex datum = 0; datum < graph.data(); ++datum)
            work[part[datum]] += graph.work(datum, constraint);
        const double total = graph.total_work(constraint);
        if (!(total > 0)) continue;
        for (std::size_t i = 0; i < parts; ++i)
            worst = std::max(worst, speeds.empty() ? work[i] * static_cast<double>(parts) / total
                                                   : work[i] / total / shares[i]);
    }
    return worst;
}

}  // namespace heddle::partitioners
