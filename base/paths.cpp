// Makes a path that a file states relative to that file's folder.
#include "base/paths.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/printable.hpp"

namespace heddle {

std::string path_from(const std::string& stated, const Location& where) {
    if (stated.empty() || where.file.empty() || where.line == 0) return stated;
    const auto folder = std::filesystem::path(where.file).parent_path();
    if (folder.empty()) return stated;
    const std::string path = (folder / stated).lexically_normal().string();
    // A word without a folder may name a generator, so a file of that name keeps one.
    return path.find('/') == std::string::npos ? "./" + path : path;
}

void expect_utf8(const std::string& path) {
    if (!is_utf8(path))
        throw Error(fmt::format("the path {} is not UTF-8, as results are", path),
                    "rename the file or folder");
}

}  // namespace heddle
