// Reads task graphs from files of every known format. A file becomes a TaskGraph; what a TaskGraph cannot
// hold, such as names of tasks, is stored beside it. Places and runs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/data_graph.hpp"
#include "base/task_graph.hpp"

namespace heddle::graphs {

struct SourceText;

/// What a number of work means in a file.
enum class WorkUnit : std::uint8_t {
    abstract,  ///< a unit of time of no stated length (STG, DOT with Weight, tables of costs, TGFF)
    flops,     ///< floating-point operations (Heddle's own format, SimGrid's `size`, generators)
    seconds,   ///< seconds on a core of the platform (DAX, WfFormat)
};

/// Flops of one abstract unit of work, where times are in seconds and no other length is stated.
inline constexpr double flops_per_abstract_unit = 1e9;

/// A graph with all that its file, or its generator, knows of it.
struct GraphFile {
    TaskGraph graph;

    /// Flops of a task on each processor, for heterogeneous instances: costs[task][processor]. Empty where
    /// all processors are equal. The graph's own flops are then the mean of the row.
    std::vector<std::vector<double>> costs = {};

    /// What kind of work each task does: kernel_of[task] is an index into `kernels`. Both empty if the file
    /// names no kernels.
    std::vector<std::string> kernels = {};
    std::vector<std::uint16_t> kernel_of = {};

    /// The datum that each task writes, below `data`; empty: each task writes a datum of its own.
    std::vector<DatumIndex> writes = {};
    DatumIndex data = 0;

    /// What the graph's flops and `costs` count. `in_flops` turns them into flops.
    WorkUnit unit = WorkUnit::flops;

    /// The graph of the data, for a partitioner.
    DataGraph data_graph() const { return DataGraph::of_tasks(graph, writes, data); }
};

enum class Format : std::uint8_t { stg, dot, dax, wfformat, metis, mesh, hetero, heft_csv, tgff, heddle };

/// A format by the name that a person may give it.
struct NamedFormat {
    std::string name;
    Format format;
    std::string help;
};
const std::vector<NamedFormat>& formats();

/// Throws Error with the nearest known name.
Format format_named(const std::string& name);

struct ReadOptions {
    std::optional<Format> format = {};  ///< empty: found out from the file's name and first lines
    /// Flops of the file's unit of work. If it is stated, the graph read counts flops; if not, it counts what
    /// the file counts.
    std::optional<double> flops_per_time_unit = {};
    double bytes_per_weight_unit = 1;  ///< of the file's unit of edge weights
};

/// How many flops a unit of the graph's work stands for, where a core of the platform does
/// `flops_per_second`: seconds are seconds on that core, an abstract unit is `flops_per_abstract_unit`.
double flops_per_unit(WorkUnit unit, double flops_per_second);

/// Multiplies the graph's work, and `costs`, so that they count flops. Throws Error where the sum leaves the
/// range of numbers.
GraphFile in_flops(GraphFile file, double flops_per_second);

/// The format of a file: from its extension, or where that says nothing or too little, from its text. Throws
/// Error where neither tells.
Format detect_format(const SourceText& source);

/// Reads a precedence graph. Throws Error, with file and line and the names concerned, for a file that cannot
/// be read, is cut short, has a cycle, an edge to a task that does not exist, a weight that is missing,
/// negative or too large, or counts that do not fit; and for a format of undirected graphs.
GraphFile read_task_graph(const std::string& path, const ReadOptions& options = {});

/// Reads a data-dependency graph: a METIS graph or mesh, or any precedence graph, whose tasks then are the
/// data. Throws Error as above. Weights of METIS graphs are taken as they are.
DataGraph read_data_graph(const std::string& path, const ReadOptions& options = {});

/// Writes our own format (docs/graphs.md), which reads back as an equal graph. Throws Error where the file
/// cannot be written.
void write_graph(const GraphFile& file, const std::string& path);

}  // namespace heddle::graphs
