// Options of the commands that take a graph: the graph, the units of its file, lists of names, whole numbers.
// Errors name the option. graphs/graph_source.hpp reads the graph.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "graphs/graph_file.hpp"

namespace CLI {
class App;
}

namespace heddle::cli {

struct GraphOptions {
    std::string source;  ///< a file, or a generator with its settings
    std::string format, time_unit, bytes_unit;
};

/// Adds GRAPH, --format, --time-unit and --bytes-unit to a verb. `options` must outlive it.
void add_graph_options(CLI::App& verb, GraphOptions& options);

/// Throws Error.
graphs::ReadOptions read_options(const GraphOptions& options);

/// `heft,etf`, each once, or `all` for every known name. Throws Error where it is empty.
std::vector<std::string> names_in(const std::string& option, const std::string& text,
                                  const std::vector<std::string>& known);

/// Throws Error for anything but a whole number from `least` to `most`.
template <class Whole>
Whole whole_number(const std::string& option, const std::string& text, Whole least, Whole most) {
    Whole value = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end || value < least || value > most) {
        throw Error(fmt::format("expected a whole number from {} to {}, found `{}`", least, most, text), {},
                    {option, 0});
    }
    return value;
}

/// What `parse` makes of an option's text; its Error names the option.
template <class Parse>
double quantity(const std::string& option, const std::string& text, Parse parse) {
    try {
        return parse(text);
    } catch (const Error& error) {
        throw error.at({option, 0});
    }
}

}  // namespace heddle::cli
