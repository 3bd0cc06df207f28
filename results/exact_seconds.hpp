// Times in tables as seconds with twelve decimals, which are whole picoseconds: sums of them are exact.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace heddle::results {

/// `0.000001858000`; empty for `never`.
std::string exact_seconds(Time time);

/// What exact_seconds wrote, or any other decimal number of seconds, rounded down to picoseconds. Nothing for
/// other texts.
std::optional<Time> parse_exact_seconds(std::string_view text);

}  // namespace heddle::results
