// Recognizes the format of a graph file by its name and content, calls the reader, and converts units of
// work.
#include "graphs/graph_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/settings.hpp"
#include "graphs/readers.hpp"

namespace heddle::graphs {

namespace {

bool contains(std::string_view text, std::string_view what) {
    return text.find(what) != text.npos;
}

/// Looks at the whole text, because keys have any order.
Format format_of_json(std::string_view text) {
    return contains(text, "\"heddle_graph\"") ? Format::heddle : Format::wfformat;
}

/// Numbers only: STG begins with one, METIS with two or more (a mesh, with one or two, is told by its name).
std::optional<Format> format_of_content(const SourceText& source) {
    Lines lines(source);
    while (lines.next()) {
        const std::string_view text = trimmed(lines.text());
        if (text.starts_with("#tasks") || text.starts_with("#critical")) return Format::hetero;
        if (text.empty() || text.front() == '%' || text.front() == '#' || text.starts_with("//") ||
            text.starts_with("/*")) {
            continue;
        }
        if (text.front() == '<') return Format::dax;
        if (text.front() == '{') return format_of_json(source.text);
        if (text.starts_with("@")) return Format::tgff;
        if (text.starts_with("digraph") || text.starts_with("strict") || text.starts_with("graph"))
            return Format::dot;
        if (text.find_first_not_of("0123456789 \t") != text.npos) return std::nullopt;
        return text.find_first_of(" \t") == text.npos ? Format::stg : Format::metis;
    }
    return std::nullopt;
}

bool is_undirected(Format format) {
    return format == Format::metis || format == Format::mesh;
}

}  // namespace

const std::vector<NamedFormat>& formats() {
    static const std::vector<NamedFormat> known = {
        {"stg", Format::stg, "Standard Task Graph Set (.stg): no communication"},
        {"dot", Format::dot, "Graphviz (.dot, .gv) with attributes Weight or size"},
        {"dax", Format::dax, "Pegasus DAX (.xml, .dax): runtimes in seconds, edges carry files"},
        {"wfformat", Format::wfformat, "WfCommons WfFormat, 1.5 and before (.json)"},
        {"metis", Format::metis, "METIS graph (.graph, .mgraph): undirected, for partitioning"},
        {"mesh", Format::mesh, "METIS mesh (.mesh): elements with a common corner are neighbours"},
        {"hetero", Format::hetero, "costs on each processor: #tasks, #edges (.dag, .txt)"},
        {"heft_csv", Format::heft_csv, "NAME_task_connectivity.csv with its tables of costs and bandwidths"},
        {"tgff", Format::tgff, "TGFF with a table of computation costs (.tgff)"},
        {"heddle", Format::heddle, "Heddle's own (.json), which keeps everything"},
    };
    return known;
}

Format format_named(const std::string& name) {
    std::vector<std::string> names;
    for (const NamedFormat& known : formats()) {
        if (known.name == name) return known.format;
        names.push_back(known.name);
    }
    throw Error(fmt::format("unknown format \"{}\"", name), nearest_advice(name, names));
}

Format detect_format(const SourceText& source) {
    struct Ending {
        std::string_view text;
        Format format;
    };
    static constexpr Ending endings[] = {
        {".stg", Format::stg},     {".dot", Format::dot},     {".gv", Format::dot},
        {".dax", Format::dax},     {".graph", Format::metis}, {".mgraph", Format::metis},
        {".mesh", Format::mesh},   {".tgff", Format::tgff},   {"_task_connectivity.csv", Format::heft_csv},
        {".metis", Format::metis},
    };
    std::string lower = source.path;
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    for (const Ending& ending : endings) {
        if (lower.ends_with(ending.text)) return ending.format;
    }
    if (source.text.empty())
        throw Error("nothing in it", "is it the right file? it holds a task graph or a program's data",
                    {source.path, 0});
    if (const auto format = format_of_content(source)) return *format;
    std::vector<std::string> names;
    for (const NamedFormat& known : formats()) names.push_back(known.name);
    throw Error(
        "the format of this graph is unknown",
        fmt::format("state it (--format, or workload.format in a file); known: {}", fmt::join(names, ", ")),
        {source.path, 0});
}

namespace {

Format format_of(const SourceText& source, const ReadOptions& options) {
    return options.format ? *options.format : detect_format(source);
}

GraphFile read_as_written(const SourceText& source, Format format, const ReadOptions& options) {
    if (is_undirected(format)) {
        throw Error(
            "this graph is undirected: it says which tasks exchange data, not which task waits for which",
            "it can be partitioned, not scheduled", {source.path, 0});
    }
    switch (format) {
        case Format::stg:
            return read_stg(source, options);
        case Format::dot:
            return read_dot(source, options);
        case Format::dax:
            return read_dax(source, options);
        case Format::wfformat:
            return read_wfformat(source, options);
        case Format::hetero:
            return read_hetero(source, options);
        case Format::heft_csv:
            return read_heft_csv(source, options);
        case Format::tgff:
            return read_tgff(source, options);
        default:
            return read_heddle(source, options);
    }
}

/// The graph in flops and bytes, where the caller states what a unit of its weights stands for. A weight that
/// the file leaves out is one unit.
DataGraph in_units(const DataGraph& graph, const ReadOptions& options) {
    const auto scaled = [](std::vector<double> weights, std::size_t count, double unit) {
        if (unit == 1) return weights;
        if (weights.empty()) weights.assign(count, 1);
        for (double& weight : weights) weight *= unit;
        return weights;
    };
    const double bytes = options.bytes_per_weight_unit;
    DataGraph result(
        graph.rows_begin(), graph.all_neighbours(),
        scaled(graph.all_edge_weights(), graph.all_neighbours().size(), bytes),
        scaled(graph.all_work(), graph.data() * graph.constraints(), options.flops_per_time_unit.value_or(1)),
        graph.constraints());
    if (!graph.all_sizes().empty()) result.set_sizes(scaled(graph.all_sizes(), graph.data(), bytes));
    return result;
}

GraphFile task_graph_in(const SourceText& source, Format format, const ReadOptions& options) {
    try {
        GraphFile file = read_as_written(source, format, options);
        if (options.flops_per_time_unit) file.unit = WorkUnit::flops;
        return file;
    } catch (const Error& error) {
        throw error.at({source.path, 0});
    }
}

}  // namespace

// A pipe can be read once only, so its format is told from the text that is then read.
GraphFile read_task_graph(const std::string& path, const ReadOptions& options) {
    const SourceText source = SourceText::read(path);
    return task_graph_in(source, format_of(source, options), options);
}

double flops_per_unit(WorkUnit unit, double flops_per_second) {
    switch (unit) {
        case WorkUnit::seconds:
            return flops_per_second;
        case WorkUnit::abstract:
            return flops_per_abstract_unit;
        case WorkUnit::flops:
            break;
    }
    return 1;
}

GraphFile in_flops(GraphFile file, double flops_per_second) {
    const double factor = flops_per_unit(file.unit, flops_per_second);
    file.unit = WorkUnit::flops;
    if (factor == 1) return file;
    file.graph.scale_work(factor);
    for (std::vector<double>& row : file.costs) {
        for (double& cost : row) cost *= factor;
    }
    return file;
}

DataGraph read_data_graph(const std::string& path, const ReadOptions& options) {
    const SourceText source = SourceText::read(path);
    const Format format = format_of(source, options);
    if (!is_undirected(format)) return task_graph_in(source, format, options).data_graph();
    const DataGraph graph =
        in_units(format == Format::metis ? read_metis(source) : read_mesh(source), options);
    try {
        for (std::size_t i = 0; i < graph.constraints(); ++i)
            check_weight_sum(graph.total_work(i), "the weight of all data");
        const std::vector<double>& bytes = graph.all_edge_weights();
        check_weight_sum(std::accumulate(bytes.begin(), bytes.end(), 0.0), "the weight of all edges");
    } catch (const Error& error) {
        throw error.at({path, 0});
    }
    return graph;
}

}  // namespace heddle::graphs
