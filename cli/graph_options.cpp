// Adds the options of graphs to a verb, and reads lists of names and whole numbers from their values.
#include "cli/graph_options.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "base/units.hpp"
#include "cli/lists.hpp"

namespace heddle::cli {

void add_graph_options(CLI::App& verb, GraphOptions& options) {
    verb.add_option("GRAPH", options.source,
                    "a file, or a generator with its settings: cholesky:tiles=20 (heddle list graphs)")
        ->required();
    verb.add_option("--format", options.format, "of the file, where its name and beginning do not tell");
    verb.add_option("--time-unit", options.time_unit,
                    "the work that the file's unit of time stands for, such as 10Gf");
    verb.add_option("--bytes-unit", options.bytes_unit,
                    "the size that the file's unit of edge weight stands for, such as 1kB");
}

graphs::ReadOptions read_options(const GraphOptions& options) {
    graphs::ReadOptions result;
    try {
        if (!options.format.empty()) result.format = graphs::format_named(options.format);
    } catch (const Error& error) {
        throw error.at({"--format", 0});
    }
    const auto unit = [](const char* option, const std::string& text, double (*parse)(std::string_view)) {
        const double value = quantity(option, text, parse);
        if (!(value > 0)) throw Error("a unit of nothing", "give a size above 0", {option, 0});
        return value;
    };
    if (!options.time_unit.empty())
        result.flops_per_time_unit = unit("--time-unit", options.time_unit, parse_flops);
    if (!options.bytes_unit.empty())
        result.bytes_per_weight_unit = unit("--bytes-unit", options.bytes_unit, parse_bytes);
    return result;
}

std::vector<std::string> names_in(const std::string& option, const std::string& text,
                                  const std::vector<std::string>& known) {
    if (text == "all") return known;
    if (text.empty()) {
        throw Error(
            fmt::format("{} is missing", option),
            fmt::format("give names, separated by commas, or all; known: {}", fmt::join(known, ", ")));
    }
    std::vector<std::string> names;
    for (const std::string& name : comma_separated(text))
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    return names;
}

}  // namespace heddle::cli
