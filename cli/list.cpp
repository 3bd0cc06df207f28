// `heddle list`: prints the names that a configuration or command line may use.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/settings.hpp"
#include "cli/listing.hpp"
#include "cli/text_table.hpp"
#include "cli/verbs.hpp"
#include "graphs/generators/generator.hpp"
#include "model/spmd/algorithm.hpp"
#include "partitioners/graph/graph_partitioner.hpp"
#include "partitioners/place_graph.hpp"
#include "partitioners/schedulers/scheduler.hpp"
#include "runtime/stealing/policy.hpp"
#include "workloads/workload.hpp"

namespace heddle::cli {

namespace {

using Json = nlohmann::ordered_json;

/// One thing that has a name, with its settings where it has some.
struct Item {
    std::string name;
    std::string help;
    std::vector<Setting> settings = {};
};

const char* kind_name(SettingKind kind) {
    switch (kind) {
        case SettingKind::integer:
            return "integer";
        case SettingKind::number:
            return "number";
        case SettingKind::text:
            return "text";
        case SettingKind::boolean:
            return "boolean";
        case SettingKind::time:
            return "time";
        case SettingKind::flops:
            return "flops";
        case SettingKind::bytes:
            return "bytes";
        case SettingKind::input_path:
            return "input_path";
        case SettingKind::output_path:
            return "output_path";
        case SettingKind::choice:
            break;
    }
    return "choice";
}

std::vector<Item> workload_items() {
    std::vector<Item> items;
    for (const workloads::Kind& kind : workloads::all())
        items.push_back({kind.name, kind.help, kind.settings});
    return items;
}

std::vector<Item> stealing_items() {
    std::vector<Item> items;
    for (const auto& kind : runtime::victim_policy_kinds())
        items.push_back({kind.name, kind.help, kind.settings});
    return items;
}

std::vector<Item> partitioner_items() {
    std::vector<Item> items;
    for (const auto& kind : partitioners::placements()) items.push_back({kind.name, kind.help});
    return items;
}

std::vector<Item> graph_partitioner_items() {
    std::vector<Item> items;
    for (const auto& kind : partitioners::graph_partitioners())
        items.push_back({kind.name, kind.help, kind.settings()});
    return items;
}

std::vector<Item> scheduler_items() {
    std::vector<Item> items;
    for (const auto& kind : schedulers::all()) items.push_back({kind.name, kind.help});
    return items;
}

std::vector<Item> graph_items() {
    std::vector<Item> items;
    for (const auto& generator : graphs::generators())
        items.push_back({generator.name, generator.help, generator.settings()});
    return items;
}

std::vector<Item> platform_items() {
    return {
        {"star", "every node at one switch, a link each"},
        {"fat_tree", "switches in levels; shape: nodes of a leaf switch, then children of each higher one"},
        {"torus", "a grid whose rows close to rings; shape: the extent of each dimension"},
        {"dragonfly", "groups that are all linked; shape: groups, chassis, routers, nodes of a router"},
        {"file", "a SimGrid platform file: `platform: {file: cluster.xml}`"}};
}

std::vector<Item> model_items() {
    return {{"dataflow", "calls that are forked, and wait for the shared objects that they read"},
            {"earth", "threaded functions and fibers, which signals schedule; tokens that run anywhere"},
            {"fork_join", "tasks that fork tasks and join them, call by call"},
            {"filaments", "loop bodies over memory that the nodes share, in phases and pools"},
            {"messaging", "blocking threads that talk by identifiers and names, wherever they are"},
            {"placed_graph", "a task graph, each task placed before the run and run when its data are there"},
            {"spmd", "the same program on every thread of every node, with collective calls and layouts"}};
}

std::vector<Item> collective_items() {
    std::vector<Item> items;
    for (const spmd::Algorithm& algorithm : spmd::all_algorithms()) {
        items.push_back({fmt::format("{} {}", name_of(algorithm.operation), algorithm.name),
                         algorithm.help + (algorithm.commutes ? "; the operator must commute" : "")});
    }
    return items;
}

struct Topic {
    const char* name;
    std::vector<Item> (*items)();
    const char* help;
};
constexpr Topic topics[] = {
    {"workloads", workload_items, "workload.name: what runs"},
    {"stealing", stealing_items, "schedule.stealing.victim: what an idle worker does"},
    {"partitioners", partitioner_items, "schedule.placement: where tasks start"},
    {"graph_partitioners", graph_partitioner_items, "of heddle partition"},
    {"schedulers", scheduler_items, "of heddle schedule"},
    {"graphs", graph_items, "generators, for workload.graph, schedule and partition"},
    {"platforms", platform_items, "platform.network.topology, or a file"},
    {"models", model_items, "what workloads are written in"},
    {"collectives", collective_items, "operations and algorithms of data-parallel programs"}};

Json json_of(const std::vector<Item>& items) {
    Json list = Json::array();
    for (const Item& item : items) {
        Json entry = {{"name", item.name}, {"help", item.help}};
        if (!item.settings.empty()) entry["settings"] = Json::array();
        for (const Setting& setting : item.settings) {
            Json described = {{"name", setting.name},
                              {"kind", kind_name(setting.kind)},
                              {"default", setting.initial},
                              {"help", setting.help}};
            if (!setting.choices.empty()) described["choices"] = setting.choices;
            if (const std::string range = range_in_words(setting); !range.empty()) {
                described["range"] = range;
                if (setting.at_least > -1e300) described["at_least"] = setting.at_least;
                if (setting.at_most < 1e300) described["at_most"] = setting.at_most;
            }
            entry["settings"].push_back(std::move(described));
        }
        list.push_back(std::move(entry));
    }
    return list;
}

std::string text_of(const std::vector<Item>& items) {
    std::vector<std::vector<std::string>> rows;
    for (const Item& item : items) {
        rows.push_back({item.name, "", item.help});
        for (const Setting& setting : item.settings) {
            const std::string range = range_in_words(setting);
            rows.push_back({"  " + setting.name, setting.initial.empty() ? "-" : setting.initial,
                            range.empty() ? setting.help : fmt::format("{} ({})", setting.help, range)});
        }
    }
    const bool settings = rows.size() > items.size();
    if (!settings) {
        for (auto& row : rows) row.erase(row.begin() + 1);
    }
    return columns(rows, 3);
}

int list(const std::string& wanted, bool json) {
    if (wanted.empty()) {
        std::vector<Item> items;
        for (const Topic& topic : topics) items.push_back({topic.name, topic.help});
        std::cout << (json ? json_of(items).dump(2) + "\n"
                           : text_of(items) + "show one: heddle list schedulers\n");
        return success;
    }
    std::vector<std::string> known;
    for (const Topic& topic : topics) {
        known.emplace_back(topic.name);
        if (wanted != topic.name) continue;
        const std::vector<Item> items = topic.items();
        std::cout << (json ? json_of(items).dump(2) + "\n" : text_of(items));
        return success;
    }
    throw Error(fmt::format("there is no list of \"{}\"", wanted), nearest_advice(wanted, known));
}

}  // namespace

std::string platforms_listed() {
    return text_of(platform_items());
}

void add_list(CLI::App& app, Action& action) {
    struct Options {
        std::string topic;
        bool json = false;
    };
    const auto options = std::make_shared<Options>();
    std::string topics_in_words;
    for (const Topic& topic : topics) {
        topics_in_words += fmt::format("{}{}", topics_in_words.empty() ? "" : ", ", topic.name);
    }
    CLI::App* verb = app.add_subcommand("list", "list what can be named: workloads, schedulers, graphs, ...");
    verb->add_option("TOPIC", options->topic, topics_in_words + "; without: the topics");
    verb->add_flag("--json", options->json, "print a JSON array");
    verb->callback(
        [options, &action] { action = [options] { return list(options->topic, options->json); }; });
}

}  // namespace heddle::cli
