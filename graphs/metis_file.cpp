// Reads METIS graph and mesh files. Partitions nothing, and needs no METIS.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "graphs/readers.hpp"

namespace heddle::graphs {

namespace {

/// The next line that is no comment, also an empty one: a datum without neighbours.
bool next_row(Lines& lines) {
    while (lines.next()) {
        if (!trimmed(lines.text()).starts_with('%')) return true;
    }
    return false;
}

/// Rows that begin where no line is left but empty ones are too many.
void expect_end(Lines& lines, std::uint64_t rows, const char* what) {
    while (next_row(lines)) {
        if (!trimmed(lines.text()).empty()) {
            lines.source().refuse(lines.line(), fmt::format("more than the announced {} {}", rows, what));
        }
    }
}

struct Flags {
    bool sizes = false;
    bool work = false;
    bool edges = false;
};

Flags flags_in(std::string_view word, const Location& where) {
    if (word.size() > 3 || word.find_first_not_of("01") != word.npos) {
        throw Error(fmt::format("the format is `{}`", word),
                    "it has three digits, 0 or 1: sizes, weights of the data, weights of the edges", where);
    }
    const auto flag = [word](std::size_t from_right) {
        return word.size() >= from_right && word[word.size() - from_right] == '1';
    };
    return {flag(3), flag(2), flag(1)};
}

/// Each edge must be in the lines of both its ends. `line_of_row`: of each datum.
void expect_symmetry(const DataGraph& graph, const SourceText& source, const std::vector<int>& line_of_row) {
    if (const DataGraph::Asymmetry wrong = graph.asymmetry(); wrong.found) {
        source.refuse(line_of_row[wrong.from],
                      fmt::format("datum {} has neighbour {}, but the line of {} does not say the same",
                                  wrong.from + 1, wrong.to + 1, wrong.to + 1),
                      "each edge is in the lines of both its ends, with the same weight");
    }
}

}  // namespace

DataGraph read_metis(const SourceText& source) {
    Lines lines(source);
    if (!lines.next_filled('%'))
        source.refuse(0, "the file is empty", "it begins with the numbers of data and edges");
    Words header = lines.words();
    const int header_line = lines.line();
    const std::uint64_t data = header.count("the number of data");
    const std::uint64_t edges = header.count("the number of edges", std::uint64_t{1} << 40);
    const Flags flags = header.at_end() ? Flags{} : flags_in(header.word("the format"), header.where());
    const std::uint64_t constraints =
        header.at_end() ? 1 : header.count("the number of weights of a datum", 1000);
    if (constraints == 0) source.refuse(header_line, "the number of weights of a datum is 0");
    header.expect_end("the number of weights");

    // What the first line announces is believed only as far as the file is long.
    std::vector<std::size_t> begin{0};
    begin.reserve(std::min<std::size_t>(data, source.text.size()) + 1);
    std::vector<DatumIndex> neighbours;
    neighbours.reserve(std::min<std::size_t>(2 * edges, source.text.size() / 2));
    std::vector<double> edge_weights, work, sizes;
    std::vector<int> line_of_row;
    line_of_row.reserve(begin.capacity());
    for (std::uint64_t datum = 1; datum <= data; ++datum) {
        if (!next_row(lines)) {
            source.refuse(lines.line(), fmt::format("the file ends after {} of {} data", datum - 1, data),
                          fmt::format("line {} announces {} data", header_line, data));
        }
        Words words = lines.words();
        line_of_row.push_back(lines.line());
        if (flags.sizes) sizes.push_back(words.weight("the size of a datum"));
        for (std::uint64_t i = 0; flags.work && i < constraints; ++i)
            work.push_back(words.weight("the weight of a datum"));
        while (!words.at_end()) {
            const std::uint64_t to = words.count("a neighbour");
            if (to == 0 || to > data) {
                source.refuse(lines.line(),
                              fmt::format("datum {} has neighbour {}, which does not exist", datum, to),
                              fmt::format("data are numbered 1 to {}", data));
            }
            if (to == datum) source.refuse(lines.line(), fmt::format("datum {} is its own neighbour", datum));
            neighbours.push_back(static_cast<DatumIndex>(to - 1));
            if (flags.edges) edge_weights.push_back(words.weight("the weight of an edge"));
        }
        begin.push_back(neighbours.size());
    }
    expect_end(lines, data, "data");
    if (neighbours.size() != 2 * edges) {
        source.refuse(header_line,
                      fmt::format("{} edges are announced, but the lines hold {} ends of edges", edges,
                                  neighbours.size()),
                      fmt::format("each edge is in two lines, which makes {}", 2 * edges));
    }
    DataGraph graph(std::move(begin), std::move(neighbours), std::move(edge_weights), std::move(work),
                    constraints);
    if (flags.sizes) graph.set_sizes(std::move(sizes));
    expect_symmetry(graph, source, line_of_row);
    return graph;
}

DataGraph read_mesh(const SourceText& source) {
    Lines lines(source);
    if (!lines.next_filled('%'))
        source.refuse(0, "the file is empty", "it begins with the number of elements");
    Words header = lines.words();
    const std::uint64_t elements = header.count("the number of elements");
    const std::uint64_t weights =
        header.at_end() ? 0 : header.count("the number of weights of an element", 1000);
    header.expect_end("the number of weights");

    std::vector<double> work;
    std::vector<std::pair<std::uint64_t, DatumIndex>> corners;  // (corner, element)
    for (std::uint64_t element = 1; element <= elements; ++element) {
        if (!next_row(lines)) {
            source.refuse(lines.line(),
                          fmt::format("the file ends after {} of {} elements", element - 1, elements));
        }
        Words words = lines.words();
        for (std::uint64_t i = 0; i < weights; ++i) work.push_back(words.weight("the weight of an element"));
        if (words.at_end()) source.refuse(lines.line(), fmt::format("element {} has no corners", element));
        while (!words.at_end()) {
            const std::uint64_t corner = words.count("a corner");
            if (corner == 0) source.refuse(lines.line(), "corners are counted from 1");
            corners.emplace_back(corner, static_cast<DatumIndex>(element - 1));
        }
    }
    expect_end(lines, elements, "elements");

    // Elements that meet in a corner are neighbours, once however many corners they share.
    std::sort(corners.begin(), corners.end());
    std::vector<std::pair<DatumIndex, DatumIndex>> pairs;
    for (std::size_t first = 0, last = 0; first < corners.size(); first = last) {
        while (last < corners.size() && corners[last].first == corners[first].first) ++last;
        for (std::size_t a = first; a < last; ++a) {
            for (std::size_t b = first; b < last; ++b) {
                if (corners[a].second != corners[b].second)
                    pairs.emplace_back(corners[a].second, corners[b].second);
            }
        }
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    std::vector<std::size_t> begin(elements + 1, 0);
    std::vector<DatumIndex> neighbours;
    neighbours.reserve(pairs.size());
    for (const auto& [from, to] : pairs) {
        ++begin[from + 1];
        neighbours.push_back(to);
    }
    for (std::uint64_t element = 0; element < elements; ++element) begin[element + 1] += begin[element];
    return {std::move(begin), std::move(neighbours), {}, std::move(work), std::max<std::size_t>(weights, 1)};
}

}  // namespace heddle::graphs
