// The tables that `heddle list` prints, as functions for the other verbs.
#pragma once

#include <string>

namespace heddle::cli {

/// The kinds of platforms that a configuration may state, a line each.
std::string platforms_listed();

}  // namespace heddle::cli
