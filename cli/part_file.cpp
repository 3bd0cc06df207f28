// Reads and writes partitions in METIS's format: line i holds the number of the part that vertex i is in.
// Errors name the line.
#include "cli/part_file.hpp"

#include <fmt/format.h>

#include "graphs/source_text.hpp"

namespace heddle::cli {

partitioners::Parts read_parts(const std::string& path, std::size_t vertices, std::size_t count) {
    const graphs::SourceText source = graphs::SourceText::read(path);
    graphs::Lines lines(source);
    partitioners::Parts parts;
    while (lines.next_filled('%')) {
        if (parts.size() == vertices) {
            throw Error(fmt::format("a part for vertex {}, but the graph has {}", vertices + 1, vertices),
                        "is this file for another graph?", {path, lines.line()});
        }
        graphs::Words words = lines.words();
        const std::uint64_t part =
            words.count(fmt::format("the part of vertex {}", parts.size() + 1), count - 1);
        parts.push_back(static_cast<std::uint32_t>(part));
        words.expect_end("the part");
    }
    if (parts.size() < vertices) {
        throw Error(fmt::format("parts for {} vertices, but the graph has {}", parts.size(), vertices),
                    "the file may be cut short, or for another graph", {path, lines.line()});
    }
    return parts;
}

void write_parts(const std::string& path, const partitioners::Parts& parts) {
    std::string text;
    for (const std::uint32_t part : parts) text += fmt::format("{}\n", part);
    write_file(path, text, OutputFile::Durable::yes, words_of_parts);
}

}  // namespace heddle::cli
