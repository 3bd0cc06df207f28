// Cuts a data-dependency graph into parts of equal work with few bytes between them: one interface, one
// factory, each member in its own file beside this one. Knows nothing of precedence; owner_computes.hpp leads
// back to tasks.
#pragma once

#include <cstdint>
#include <memory>
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

    /// A part below grid.workers() for every datum. The same graph, grid and settings give the same parts.
    /// Throws Error where the graph is too large for the library's indices, or the library fails.
    virtual Parts partition(const DataGraph& graph, const WorkerGrid& grid) const = 0;

    /// The library at work and its version, such as `METIS 5.1.0`; empty where it is our own.
    virtual std::string library() const { return {}; }
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
