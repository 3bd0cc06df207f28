// Reads and writes partitions in METIS's format: line i holds the number of the part that vertex i is in,
// from 0. Does not judge a partition.
#pragma once

#include <string>

#include "base/output_file.hpp"
#include "partitioners/graph/graph_partitioner.hpp"

namespace heddle::cli {

/// The part of each of `vertices` vertices. Throws Error, with file and line, for a line that is not a whole
/// number from 0 to `parts` - 1, and for more or fewer lines.
partitioners::Parts read_parts(const std::string& path, std::size_t vertices, std::size_t parts);

inline const OutputWords words_of_parts = {"the partition",
                                           "name another file with --out, or make its folder writable"};

/// In one step. Throws Error where the file cannot be written.
void write_parts(const std::string& path, const partitioners::Parts& parts);

}  // namespace heddle::cli
