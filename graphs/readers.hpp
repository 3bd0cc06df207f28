// The readers of graph formats, each in a file of its own. graph_file.cpp chooses one. A reader takes the
// whole text, and throws Error if the text breaks a rule of the format.
#pragma once

#include "graphs/graph_file.hpp"
#include "graphs/source_text.hpp"

namespace heddle::graphs {

/// Standard Task Graph Set (Tobita, Kasahara: "A standard task graph set for fair evaluation of
/// multiprocessor scheduling algorithms", 2002): number of tasks without the two dummies, then a line a task:
/// number, processing time, number of predecessors, predecessors. No communication.
GraphFile read_stg(const SourceText& source, const ReadOptions& options);

/// Graphviz. Attribute `Weight` (or `weight`) of tasks and edges; or SimGrid's `size`, where an edge of -1 or
/// without size carries nothing, and `root` and `end` need not be declared. `strict`: one edge a pair.
GraphFile read_dot(const SourceText& source, const ReadOptions& options);

/// Pegasus DAX 2 and 3: jobs with a runtime in seconds, the files that they use, and child/parent lists. An
/// edge where one job's output is another's input (it carries these files), and where a list says so.
GraphFile read_dax(const SourceText& source, const ReadOptions& options);

/// WfCommons' WfFormat: up to 1.4 (`workflow.tasks` with their files) and 1.5 (`specification` and
/// `execution`). Also SimGrid's JSON: flops, and tasks of type `transfer` with bytes and no runtime.
GraphFile read_wfformat(const SourceText& source, const ReadOptions& options);

/// Sections #tasks (costs on each processor) and #edges, as in the instances of Santiago et al. 2020.
GraphFile read_hetero(const SourceText& source, const ReadOptions& options);

/// NAME_task_connectivity.csv, with NAME_task_exe_time.csv and, where it exists, NAME_resource_BW.csv beside
/// it. Rows are found by their names.
GraphFile read_heft_csv(const SourceText& source, const ReadOptions& options);

/// The part of TGFF that carries a graph and a table of costs: @TASK_GRAPH and @computation_cost.
GraphFile read_tgff(const SourceText& source, const ReadOptions& options);

/// Our own JSON (docs/graphs.md).
GraphFile read_heddle(const SourceText& source, const ReadOptions& options);

/// METIS graph files, with the flags for sizes, weights and several constraints (METIS 5.1 manual,
/// section 4.1).
DataGraph read_metis(const SourceText& source);

/// METIS mesh files (section 4.1.3): elements that share a corner become neighbours.
DataGraph read_mesh(const SourceText& source);

}  // namespace heddle::graphs
