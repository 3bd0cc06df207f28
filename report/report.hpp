// Makes one HTML page from directories of results. The page needs neither a network nor other files.
#pragma once

#include <string>
#include <vector>

namespace heddle::report {

struct Options {
    std::string title;            ///< empty: the names of the runs
    std::vector<std::string> by;  ///< dotted keys that competitors have in common; empty: see find_out
};

/// The page as text. Equal directories give equal bytes. Throws Error for a directory that does not exist and
/// for a key that does not vary.
std::string report_html(const std::vector<std::string>& directories, const Options& options);

}  // namespace heddle::report
