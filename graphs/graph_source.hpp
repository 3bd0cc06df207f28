// Finds the graph that a user names in one word: the path of a file, or a generator with its settings. Files
// are read by graph_file.hpp, generated graphs made by generators/generator.hpp.
#pragma once

#include <string>

#include "base/data_graph.hpp"
#include "graphs/graph_file.hpp"

namespace heddle::graphs {

/// True for the name of a generator, alone or with settings behind a colon. A file that is called like a
/// generator is written with its folder: `./cholesky`.
bool names_generator(const std::string& source);

/// `cholesky`, `layered:tasks=5000,bytes=4kB` (generator and settings), or the path of a file in any format
/// of precedence graphs. Throws Error, with `source` or the file as its place, for a file that cannot be
/// read, an unknown name or setting (with the nearest known ones), a setting that is stated twice or has no
/// value, and options, which are for files, beside a generator.
GraphFile load_graph(const std::string& source, const ReadOptions& options = {});

/// The same for partitioning: also a METIS graph or mesh; of everything else, the graph of its data.
DataGraph load_data_graph(const std::string& source, const ReadOptions& options = {});

}  // namespace heddle::graphs
