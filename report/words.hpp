// Puts numbers and lists into English, for the report's text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::report {

/// `1 run`, `1,200 runs`.
std::string counted_things(std::uint64_t count, const std::string& thing);

/// `a, b and c`; beyond `at_most`: `a, b and 7 more`.
std::string list_in_words(const std::vector<std::string>& items, std::size_t at_most = 12);

/// `12.3%` of a share.
std::string percent(double share);

/// How many times as long: `1.46 times`, `12 times`.
std::string times_as_long(double ratio);

}  // namespace heddle::report
