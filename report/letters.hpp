// Computes letters for the lines of a table: two lines share a letter if they do not differ significantly.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace heddle::report {

/// A compact letter display by insertion and absorption (Piepho, "An algorithm for a letter-based
/// representation of all-pairwise comparisons", 2004). Two of the `count` lines share a letter exactly if
/// they do not differ. `differ` is symmetric. Lines that come first have the first letters. Beyond 26
/// letters: aa, ab.
std::vector<std::string> letters(std::size_t count,
                                 const std::function<bool(std::size_t, std::size_t)>& differ);

}  // namespace heddle::report
