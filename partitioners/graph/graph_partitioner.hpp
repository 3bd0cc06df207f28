// Partitions a graph of data into parts of equal work, with few bytes between parts. There is one interface
// and one factory; each partitioner has a file beside this one. Precedence is ignored. owner_computes.hpp
// turns parts of data into places of tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/data_graph.hpp"
#include "base/placement.hpp"
#include "base/settings.hpp"

namespace heddle::partitioners {

/// The part of each datum: number `i` is the grid's worker(i). To cut into k parts, ask for a grid {k, 1}.
using Parts = std::vector<std::uint32_t>;

class GraphPartitioner {
public:
    virtual ~GraphPartitioner() = default;

    /// A part below grid.workers() for every datum. `speeds`: of each worker, above 0; a part should have
    /// work in proportion to the speed of its worker. Empty: all alike. The same graph, grid, speeds and
    /// settings give the same parts. Throws Error if the graph is too large for the library's indices, or if
    /// the library fails.
    Parts partition(const DataGraph& graph, const WorkerGrid& grid,
                    std::span<const double> speeds = {}) const {
        return make_parts(graph, grid, speeds);
    }

    /// The library at work and its version, such as `METIS 5.1.0`; empty for Heddle's own code.
    virtual std::string library() const { return {}; }

private:
    virtual Parts make_parts(const DataGraph& graph, const WorkerGrid& grid,
                             std::span<const double> speeds) const = 0;
};

/// A named member.
struct GraphPartitionerKind {
    std::string name;
    std::string help;
    std::vector<Setting> (*settings)();
    std::unique_ptr<GraphPartitioner> (*make)(const Settings& settings);
};

/// All members, in the order in which they are documented.
const std::vector<GraphPartitionerKind>& graph_partitioners();

/// Throws Error with the nearest known name.
const GraphPartitionerKind& graph_partitioner_named(const std::string& name);

/// The member with its settings as they are declared, or as given.
std::unique_ptr<GraphPartitioner> make_graph_partitioner(const std::string& name);
std::unique_ptr<GraphPartitioner> make_graph_partitioner(const std::string& name, const Settings& settings);

}  // namespace heddle::partitioners
