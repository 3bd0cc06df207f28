// Finds what ran in both worlds: simulated and native combinations that differ in nothing else. Compares no
// times.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/design.hpp"

namespace heddle::report {

/// Indices into Design::combinations.
struct WorldPair {
    std::size_t simulated = 0;
    std::size_t native = 0;
};

struct WorldPairs {
    std::vector<WorldPair> pairs;  ///< in the order of the simulated combinations
    std::size_t apart = 0;         ///< native combinations that only another program or input has simulated
};

/// Pairs combinations of one configuration, one program and equal input files. SimGrid, a platform file and
/// keys that only one world has do not count: a native run never has them. A combination is paired within
/// its directory of results if that has both worlds.
WorldPairs world_pairs(const Runs& runs, const Design& design);

/// What varies between the pairs, as this pair has it. Where its two combinations differ: `simulated /
/// native`.
std::string name_of(const WorldPair& pair, const Design& design);

}  // namespace heddle::report
