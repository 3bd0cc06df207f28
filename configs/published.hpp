// The `published` section of an experiment: speedups, seconds and improvements from a paper, for cells of a
// comparison. Reports print them beside the measured ones.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "configs/document.hpp"

namespace heddle::configs {

/// A published number, and of which cell: compared keys with their values.
struct PublishedNumber {
    std::vector<Value> of;
    /// Of an improvement: the values that the other cell has in place of these.
    std::vector<Value> over;
    double value = 0;
    Location where;
};

struct Published {
    std::string source;           ///< the authors, and where they published it
    std::string what;             ///< what the cells have in common, in a few words
    std::vector<Value> baseline;  ///< dotted keys: a run whose makespan over a cell's is the cell's speedup
    std::vector<PublishedNumber> speedups;      ///< none without a baseline
    std::vector<PublishedNumber> seconds;       ///< makespans
    std::vector<PublishedNumber> improvements;  ///< in percent of the other cell's makespan
    Value section;                              ///< as it was written
};

/// Throws Error, with file and line, for everything that is not such a section. Whether its keys exist, and
/// its cells are compared, is for others to see.
Published read_published(const Value& section);

}  // namespace heddle::configs
