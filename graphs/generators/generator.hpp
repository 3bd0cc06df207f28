// Task graphs that are computed instead of read: one interface, one factory, each family in its own file
// beside this one. The same settings give the same graph everywhere.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"
#include "graphs/graph_file.hpp"

namespace heddle::graphs {

/// The largest settings of the tiled factorizations: beyond them a graph has more than 10^9 tasks.
inline constexpr double tiles_max = 2000;
inline constexpr double tile_size_max = 1e6;

/// A named family of graphs.
struct Generator {
    std::string name;
    std::string help;
    std::vector<Setting> (*settings)();

    /// Throws Error, with the place of the setting, where the values do not make a graph.
    GraphFile (*make)(const Settings& settings);
};

/// All generators, in the order in which they are documented.
const std::vector<Generator>& generators();

/// Throws Error with the nearest known name.
const Generator& generator_named(const std::string& name);

/// The graph of a family with settings as they are declared, except those that are given here as name and
/// value.
GraphFile generate(const std::string& name,
                   const std::vector<std::pair<std::string, std::string>>& settings = {});

}  // namespace heddle::graphs
