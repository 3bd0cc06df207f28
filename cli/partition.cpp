// `heddle partition`: partitions the graph of a program's data by one or several partitioners.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/printable.hpp"
#include "base/units.hpp"
#include "cli/graph_options.hpp"
#include "cli/lists.hpp"
#include "cli/option_rules.hpp"
#include "cli/part_file.hpp"
#include "cli/text_table.hpp"
#include "cli/verbs.hpp"
#include "cli/worlds.hpp"
#include "graphs/graph_source.hpp"
#include "host/wall_clock.hpp"
#include "partitioners/graph/quality.hpp"

namespace heddle::cli {

namespace {

using Json = nlohmann::ordered_json;
using partitioners::GraphPartitionerKind;
using partitioners::Parts;

constexpr std::uint32_t parts_max = 1'000'000;

struct PartitionOptions {
    GraphOptions graph;
    std::string partitioners, parts, nodes, cores, imbalance, seed, speeds;
    std::vector<std::string> sets;
    std::string out, read;
    bool json = false;
};

/// A partition with its measures.
struct Judged {
    std::string partitioner;
    std::string library;  ///< and its version; empty: our own
    Json settings;
    Parts parts;
    double seconds = 0;  ///< taken to make it, of real time
    double cut = 0;
    double cut_between_nodes = 0;
    double communication_volume = 0;
    double imbalance = 0;  ///< how much more than the mean the heaviest part has; 0: even
};

std::vector<std::string> known_names() {
    std::vector<std::string> names;
    for (const GraphPartitionerKind& kind : partitioners::graph_partitioners()) names.push_back(kind.name);
    return names;
}

/// Nothing if the options do not say how many.
std::optional<WorkerGrid> grid_of(const PartitionOptions& options) {
    const bool nodes = !options.nodes.empty() || !options.cores.empty();
    WorkerGrid grid;
    if (nodes) {
        if (!options.cores.empty())
            grid.cores = whole_number<std::uint32_t>("--cores", options.cores, 1, parts_max);
        if (!options.nodes.empty())
            grid.nodes = whole_number<std::uint32_t>("--nodes", options.nodes, 1, parts_max / grid.cores);
    }
    if (options.parts.empty()) return nodes ? std::optional(grid) : std::nullopt;
    const std::uint32_t parts = whole_number<std::uint32_t>("--parts", options.parts, 1, parts_max);
    if (!nodes) return WorkerGrid{parts, 1};
    if (grid.workers() != parts) {
        throw Error(fmt::format("{} nodes of {} cores are not {} parts", grid.nodes, grid.cores, parts),
                    "leave out --parts");
    }
    return grid;
}

/// Of each part; the list begins again if it is shorter. Empty: all alike. Throws Error, also if there are
/// more speeds than parts.
std::vector<double> speeds_of(const PartitionOptions& options, std::size_t parts) {
    if (options.speeds.empty()) return {};
    std::vector<double> stated;
    for (const std::string& part : comma_separated(options.speeds)) {
        Settings speed({{"speed", SettingKind::number, "", "of a part", {}, 1e-9}});
        speed.set("speed", part, {"--speeds", 0});
        stated.push_back(speed.number("speed"));
    }
    if (*std::max_element(stated.begin(), stated.end()) > 1e9)
        throw Error("a speed is above 1e9", "speeds are relative to each other: 1,0.5", {"--speeds", 0});
    if (stated.size() > parts)
        throw Error(fmt::format("{} speeds for {} parts", stated.size(), parts),
                    "state one for each part, or fewer: then the list begins again", {"--speeds", 0});
    std::vector<double> speeds;
    for (std::size_t i = 0; i < parts; ++i) speeds.push_back(stated[i % stated.size()]);
    return speeds;
}

bool declares(const Settings& settings, std::string_view name) {
    return std::any_of(settings.declared().begin(), settings.declared().end(),
                       [name](const Setting& one) { return one.name == name; });
}

/// The imbalance that a partitioner is to be given so that all parts together keep to `wanted`.
double imbalance_for(const GraphPartitionerKind& kind, double wanted, const WorkerGrid& grid) {
    if (kind.name != "metis_recursive") return wanted;
    // It means each halving, and they multiply.
    const int halvings = std::max(1, static_cast<int>(std::bit_width(grid.workers() - 1)));
    return std::pow(1 + wanted, 1.0 / halvings) - 1;
}

/// What every partitioner is asked that can be: the options that are settings of most.
Settings common_settings(const PartitionOptions& options) {
    Settings common(
        {{"imbalance", SettingKind::number, "", "how much more than the mean a part may have", {}, 0, 1000},
         {"seed", SettingKind::integer, "", "of the random choices", {}, 0, integer_max}});
    if (!options.imbalance.empty()) common.set("imbalance", options.imbalance, {"--imbalance", 0});
    if (!options.seed.empty()) common.set("seed", options.seed, {"--seed", 0});
    return common;
}

/// Common settings are passed over where a partitioner does not have them, those of --set are not.
Settings settings_for(const GraphPartitionerKind& kind, const PartitionOptions& options,
                      const WorkerGrid& grid) {
    const Settings common = common_settings(options);
    Settings settings(kind.settings());
    if (common.stated("imbalance") && declares(settings, "imbalance")) {
        const double wanted = imbalance_for(kind, common.number("imbalance"), grid);
        settings.set("imbalance", fmt::format("{}", wanted), common.where("imbalance"));
    }
    if (common.stated("seed") && declares(settings, "seed"))
        settings.set("seed", common.text("seed"), common.where("seed"));
    for (const std::string& set : options.sets) {
        const std::size_t equals = set.find('=');
        if (equals == set.npos || equals == 0)
            throw Error("expected KEY=VALUE", "such as objective=volume", {"--set " + set, 0});
        const std::string key = set.substr(0, equals);
        settings.set(key, set.substr(equals + 1), {fmt::format("--set {} ({})", key, kind.name), 0});
    }
    return settings;
}

Judged judge(const DataGraph& graph, const WorkerGrid& grid, const PartitionOptions& options, Judged judged) {
    partitioners::check_parts(graph, judged.parts, grid.workers());
    judged.cut = partitioners::cut(graph, judged.parts);
    judged.cut_between_nodes = partitioners::cut_between_nodes(graph, judged.parts, grid);
    judged.communication_volume = partitioners::communication_volume(graph, judged.parts, grid.workers());
    judged.imbalance =
        partitioners::imbalance(graph, judged.parts, grid.workers(), speeds_of(options, grid.workers())) - 1;
    return judged;
}

Judged make_partition(const DataGraph& graph, const WorkerGrid& grid, const std::string& name,
                      const PartitionOptions& options) {
    const GraphPartitionerKind& kind = partitioners::graph_partitioner_named(name);
    const Settings settings = settings_for(kind, options, grid);
    const auto partitioner = kind.make(settings);
    Judged made{name, partitioner->library(), Json::object(), {}};
    for (const Setting& one : settings.declared()) made.settings[one.name] = settings.text(one.name);
    const double began = host::wall_seconds();
    made.parts = partitioner->partition(graph, grid, speeds_of(options, grid.workers()));
    made.seconds = host::wall_seconds() - began;
    return judge(graph, grid, options, std::move(made));
}

Judged check_file(const DataGraph& graph, std::optional<WorkerGrid>& grid, const PartitionOptions& options) {
    const std::size_t parts = grid ? grid->workers() : parts_max;
    Judged read{"from file", {}, Json::object(), read_parts(options.read, graph.data(), parts)};
    if (!grid) {  // as many as the file has
        const auto highest = std::max_element(read.parts.begin(), read.parts.end());
        grid = WorkerGrid{highest == read.parts.end() ? 1 : *highest + 1, 1};
    }
    return judge(graph, *grid, options, std::move(read));
}

Json json_of(const PartitionOptions& options, const DataGraph& graph, const WorkerGrid& grid,
             const Judged& judged) {
    return {{"partitioner", judged.partitioner},
            {"graph", options.graph.source},
            {"vertices", graph.data()},
            {"edges", graph.edges()},
            {"parts", grid.workers()},
            {"nodes", grid.nodes},
            {"cores", grid.cores},
            {"cut", judged.cut},
            {"cut_between_nodes", judged.cut_between_nodes},
            {"communication_volume", judged.communication_volume},
            {"imbalance", judged.imbalance},
            {"seconds", judged.seconds},
            {"settings", judged.settings},
            {"library", judged.library.empty() ? "heddle " + versions().heddle : judged.library}};
}

std::string show_weight(double weight) {
    constexpr double whole_max = 1e15;
    return weight == std::floor(weight) && weight < whole_max ? fmt::format("{:.0f}", weight)
                                                              : fmt::format("{:.6g}", weight);
}

std::string table_of(const PartitionOptions& options, const DataGraph& graph, const WorkerGrid& grid,
                     const std::vector<Judged>& made) {
    const bool nodes = grid.cores > 1;
    std::vector<std::vector<std::string>> rows = {
        {"partitioner", "cut", "between nodes", "volume", "imbalance", "taken", "library"}};
    for (const Judged& judged : made) {
        rows.push_back({judged.partitioner, show_weight(judged.cut), show_weight(judged.cut_between_nodes),
                        show_weight(judged.communication_volume), fmt::format("{:.4f}", judged.imbalance),
                        judged.seconds > 0 ? show_seconds(judged.seconds) : "-", judged.library});
    }
    if (!nodes) {
        for (auto& row : rows) row.erase(row.begin() + 2);
    }
    return fmt::format("{}: {} vertices, {} edges; {} parts{}\n", options.graph.source, grouped(graph.data()),
                       grouped(graph.edges()), grid.workers(),
                       nodes ? fmt::format(" on {} nodes of {} cores", grid.nodes, grid.cores) : "") +
           columns(rows, 1);
}

int partition(const PartitionOptions& options) {
    const bool make = options.read.empty();
    const std::vector<std::string> names =
        make ? names_in("--partitioner", options.partitioners, known_names()) : std::vector<std::string>{};
    std::optional<WorkerGrid> grid = grid_of(options);
    if (make && !grid)
        throw Error("the number of parts is missing", "state --parts K, or --nodes N --cores C");
    for (const std::string& name : names) {  // mistakes before any work
        const GraphPartitionerKind& kind = partitioners::graph_partitioner_named(name);
        kind.make(settings_for(kind, options, *grid));
    }
    if (grid) speeds_of(options, grid->workers());
    if (!options.out.empty() && names.size() > 1)
        throw Error("a file holds one partition", "name one partitioner, or leave out --out");
    refuse_input_as_out(options.out, {options.graph.source});
    if (!options.out.empty()) expect_writable(options.out, words_of_parts);

    const DataGraph graph = graphs::load_data_graph(options.graph.source, read_options(options.graph));
    std::vector<Judged> made;
    if (!make) made.push_back(check_file(graph, grid, options));
    for (const std::string& name : names) {
        try {
            made.push_back(make_partition(graph, *grid, name, options));
        } catch (const Error& error) {
            if (options.partitioners != "all") throw;
            std::cerr << fmt::format("heddle: {} is left out: {}\n", name, error.what());
        }
    }
    if (!options.out.empty()) write_parts(options.out, made.front().parts);
    if (!options.json) {
        std::cout << printable_lines(table_of(options, graph, *grid, made));
        return success;
    }
    Json object;
    if (options.partitioners != "all" && made.size() == 1) {
        object = json_of(options, graph, *grid, made.front());
    } else {
        object = {{"graph", options.graph.source}, {"vertices", graph.data()}, {"edges", graph.edges()}};
        object["partitions"] = Json::array();
        for (const Judged& judged : made)
            object["partitions"].push_back(json_of(options, graph, *grid, judged));
    }
    std::cout << object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    return success;
}

}  // namespace

void add_partition(CLI::App& app, Action& action) {
    const auto options = std::make_shared<PartitionOptions>();
    CLI::App* verb = app.add_subcommand("partition", "cut a graph into parts of equal work");
    add_graph_options(*verb, options->graph);
    CLI::Option* partitioner =
        verb->add_option("--partitioner", options->partitioners,
                         "one or several, separated by commas, or all (heddle list graph_partitioners)");
    partitioner->type_name("NAME,...");
    verb->add_option("--parts", options->parts, "how many")->type_name("K");
    verb->add_option("--nodes", options->nodes, "nodes that the parts are for")->type_name("N");
    verb->add_option("--cores", options->cores, "parts of each node")->type_name("C");
    verb->add_option("--speeds", options->speeds,
                     "relative speeds of the parts, such as 1,0.5; a part's work is in proportion")
        ->type_name("X,...");
    CLI::Option* imbalance = verb->add_option("--imbalance", options->imbalance,
                                              "how much more than the mean a part may have, such as 0.05");
    CLI::Option* seed = verb->add_option("--seed", options->seed, "of the random choices (1)");
    CLI::Option* sets = verb->add_option("--set", options->sets, "another setting of the partitioner")
                            ->type_name("KEY=VALUE")
                            ->expected(1)
                            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    CLI::Option* out =
        verb->add_option("--out", options->out, "write the parts, as METIS does")->type_name("FILE");
    verb->add_option("--read", options->read, "judge a part file, and make none")
        ->type_name("FILE")
        ->excludes(partitioner)
        ->excludes(imbalance)
        ->excludes(seed)
        ->excludes(sets)
        ->excludes(out);
    verb->add_flag("--json", options->json, "print one JSON object and nothing else");
    verb->callback([options, &action] { action = [options] { return partition(*options); }; });
}

}  // namespace heddle::cli
