// Reads the text of a SimGrid platform file before SimGrid does: <config>, profiles, number of hosts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/platform.hpp"
#include "sim/route_structure.hpp"

namespace heddle::sim {

/// A file without its <config>: network model, factors and so on are chosen in the YAML file, and settings
/// that a newer SimGrid does not know would make it refuse the whole file. Lines keep their numbers.
struct PlatformFile {
    std::string text;
    std::vector<std::string> overruled;  ///< names of the settings that were taken out
    bool bypasses = false;               ///< it has routes for single pairs of hosts or zones
    std::uint64_t hosts = 0;             ///< how many it declares, those of clusters included
    RouteStructure regular;              ///< if it is one cluster: a torus, a fat tree or a dragonfly
};

/// The same of a text. `path` is for errors. Throws Error for a platform that changes with time.
PlatformFile without_config(std::string text, const std::string& path);

/// Reads a file, or a pipe of up to 64 MiB. Throws Error if it cannot be read, never ends, changes with time,
/// or declares more hosts than a platform may have nodes: SimGrid would make them all before it could be
/// asked how many there are.
PlatformFile read_platform_file(const std::string& path, const Location& where);

/// The file of a platform; empty if it has none. What a pipe says is read once, so a simulation calls this
/// once. Throws Error.
PlatformFile file_of(const Platform& platform);

/// SimGrid's complaint about a file, as an error with the place that it names. `shown` is the path that the
/// person knows, `read` the one that SimGrid was given.
Error platform_file_error(const std::string& complaint, const std::string& shown, const std::string& read);

}  // namespace heddle::sim
