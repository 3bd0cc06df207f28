// The `published` section of an experiment: speedups from a paper, for cells of a comparison. Reports print
// them beside the measured ones.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "configs/document.hpp"

namespace heddle::configs {

/// A published speedup, and of which cell: compared keys with their values.
struct PublishedSpeedup {
    std::vector<Value> of;
    double speedup = 0;
    Location where;
};

struct Published {
    std::string source;           ///< the authors, and where they published it
    std::string what;             ///< what the cells have in common, in a few words
    std::vector<Value> baseline;  ///< dotted keys: a run whose makespan over a cell's is the cell's speedup
    std::vector<PublishedSpeedup> speedups;
    Value section;  ///< as it was written
};

/// Throws Error, with file and line, for everything that is not such a section. Whether its keys exist, and
/// its cells are compared, is for others to see.
Published read_published(const Value& section);

}  // namespace heddle::configs
