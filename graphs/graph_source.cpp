// Decides whether a word names a file or a generator, and loads the graph.
#include "graphs/graph_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "graphs/generators/generator.hpp"
#include "graphs/source_text.hpp"

namespace heddle::graphs {

namespace {

std::string name_in(const std::string& source) {
    return std::string(trimmed(std::string_view(source).substr(0, source.find(':'))));
}

GraphFile generate_from(const std::string& source, const ReadOptions& options) {
    const Location here{source, 0};
    if (options.format || options.flops_per_time_unit || options.bytes_per_weight_unit != 1) {
        throw Error("a generated graph has neither a format nor units of its own",
                    "leave them out; the generator's settings give its flops and bytes", here);
    }
    const Generator& generator = generator_named(name_in(source));
    Settings values(generator.settings());
    const std::size_t colon = source.find(':');
    std::string_view rest = colon == source.npos ? "" : std::string_view(source).substr(colon + 1);
    for (bool more = colon != source.npos; more;) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        const std::string_view pair = trimmed(rest.substr(0, comma));
        more = comma < rest.size();
        rest.remove_prefix(more ? comma + 1 : comma);
        const std::size_t equals = pair.find('=');
        if (equals == pair.npos || equals == 0) {
            throw Error(fmt::format("expected KEY=VALUE, found `{}`", pair),
                        "settings stand behind one colon, separated by commas", here);
        }
        const std::string key(trimmed(pair.substr(0, equals)));
        const std::string value(trimmed(pair.substr(equals + 1)));
        if (values.stated(key)) throw Error(fmt::format("{} is stated twice", key), "state it once", here);
        values.set(key, value, here);
    }
    return generator.make(values);
}

/// A word without a dot and a slash, where no such file is, may have been meant to be a generator.
void refuse_unknown(const std::string& source) {
    std::error_code too_long_for_a_name;
    if (name_in(source).find_first_of("./") != source.npos ||
        std::filesystem::exists(source, too_long_for_a_name))
        return;
    std::vector<std::string> names;
    for (const Generator& generator : generators()) names.push_back(generator.name);
    throw Error(fmt::format("there is no file `{}`, and no generator `{}`", source, name_in(source)),
                nearest_advice(name_in(source), names));
}

}  // namespace

bool names_generator(const std::string& source) {
    const std::string name = name_in(source);
    return std::any_of(generators().begin(), generators().end(),
                       [&name](const Generator& generator) { return generator.name == name; });
}

GraphFile load_graph(const std::string& source, const ReadOptions& options) {
    if (names_generator(source)) return generate_from(source, options);
    refuse_unknown(source);
    return read_task_graph(source, options);
}

DataGraph load_data_graph(const std::string& source, const ReadOptions& options) {
    if (names_generator(source)) return generate_from(source, options).data_graph();
    refuse_unknown(source);
    return read_data_graph(source, options);
}

}  // namespace heddle::graphs
