// Resolves a path that a configuration file or the command line states. Opens no file.
#pragma once

#include <string>

#include "base/error.hpp"

namespace heddle {

/// The path that a caller can open. A path that a file states at a line is relative to the folder of that
/// file; one from the command line is relative to the working directory. `where`: the place that states it.
std::string path_from(const std::string& stated, const Location& where);

/// Throws Error if a path is not UTF-8: then no JSON or YAML can name it.
void expect_utf8(const std::string& path);

}  // namespace heddle
