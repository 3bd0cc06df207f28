// Splits a comma-separated list from the command line.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::cli {

/// The parts of a text between its commas; an empty text is one empty part.
inline std::vector<std::string> comma_separated(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

}  // namespace heddle::cli
