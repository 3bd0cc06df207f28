// A program's data as a graph: a vertex is a datum with its work, an edge weighs the bytes that two data
// exchange. Undirected, in compressed sparse rows. Graph partitioners read it; no partitioner is called
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/task_graph.hpp"

namespace heddle {

/// One datum of a data graph, 0 to data - 1: a tile, a mesh cell, a row.
using DatumIndex = std::uint32_t;

class DataGraph {
public:
    /// The rows as they are: the neighbours of datum d are `neighbours[begin[d]]` to `neighbours[begin[d +
    /// 1]]`, each edge in both rows with the same weight. `edge_weights` (bytes, one for each neighbour) and
    /// `work` (flops, `constraints` for each datum, datum by datum) may be empty: then all are 1. Asserts
    /// that the sizes fit; does not look for missing mirror images (see `asymmetry`).
    DataGraph(std::vector<std::size_t> begin, std::vector<DatumIndex> neighbours,
              std::vector<double> edge_weights = {}, std::vector<double> work = {},
              std::size_t constraints = 1);
    DataGraph() : DataGraph({0}, {}) {}

    DatumIndex data() const { return static_cast<DatumIndex>(begin_.size() - 1); }
    std::size_t edges() const { return neighbours_.size() / 2; }
    std::size_t constraints() const { return constraints_; }

    std::span<const DatumIndex> neighbours(DatumIndex datum) const {
        return {neighbours_.data() + begin_[datum], neighbours_.data() + begin_[datum + 1]};
    }
    /// Of the edge to neighbour number `place` of the datum.
    double edge_weight(DatumIndex datum, std::size_t place) const {
        return edge_weights_.empty() ? 1 : edge_weights_[begin_[datum] + place];
    }
    double work(DatumIndex datum, std::size_t constraint = 0) const {
        return work_.empty() ? 1 : work_[datum * constraints_ + constraint];
    }
    double total_work(std::size_t constraint = 0) const;

    /// What a copy of the datum counts in the communication volume; 1 unless sizes were set.
    double size(DatumIndex datum) const { return sizes_.empty() ? 1 : sizes_[datum]; }
    /// One for each datum.
    void set_sizes(std::vector<double> sizes);

    // The rows themselves, for libraries.
    const std::vector<std::size_t>& rows_begin() const { return begin_; }
    const std::vector<DatumIndex>& all_neighbours() const { return neighbours_; }
    const std::vector<double>& all_edge_weights() const { return edge_weights_; }
    const std::vector<double>& all_work() const { return work_; }
    const std::vector<double>& all_sizes() const { return sizes_; }

    /// An edge of one row that the other row lacks or weighs differently.
    struct Asymmetry {
        bool found = false;
        DatumIndex from = 0;
        DatumIndex to = 0;
    };
    Asymmetry asymmetry() const;

    /// The data that tasks write, and what tasks of different data hand to each other: the work of a datum is
    /// that of its tasks, an edge weighs the bytes that pass between the two. `writes[t]`: the datum that
    /// task t writes, below `data`; empty: each task is a datum of its own.
    static DataGraph of_tasks(const TaskGraph& graph, std::span<const DatumIndex> writes = {},
                              DatumIndex data = 0);

    /// Only the `members`, numbered from 0 in the given order, and the edges between them.
    DataGraph restricted_to(std::span<const DatumIndex> members) const;

private:
    std::vector<std::size_t> begin_;
    std::vector<DatumIndex> neighbours_;
    std::vector<double> edge_weights_;
    std::vector<double> work_;
    std::vector<double> sizes_;
    std::size_t constraints_ = 1;
};

}  // namespace heddle
