// Makes the tables that `heddle list` prints, for other commands that show them too.
#pragma once

#include <string>

namespace heddle::cli {

/// The kinds of platforms that a configuration may state, a line each.
std::string platforms_listed();

}  // namespace heddle::cli
