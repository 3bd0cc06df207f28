// sim_actors_bench: runs the tree search of a Heddle configuration as a plain program of SimGrid actors. It
// prints one JSON object with fields named as in `heddle run --json`. With --sequential it only searches the
// tree, without a scheduler, which measures the cost of making the tree. It simulates once.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "bench/actors/uts.hpp"
#include "configs/experiment.hpp"
#include "host/machine.hpp"
#include "host/wall_clock.hpp"

namespace {

using namespace heddle;
using Json = nlohmann::ordered_json;

struct Options {
    std::string file;
    std::vector<std::string> sets;
    std::vector<std::string> simgrid;
    bool sequential = false;
    bool sleep = false;
};

void refuse(const configs::Experiment& experiment, const std::string& key, const std::string& advice) {
    throw Error(fmt::format("the program of SimGrid actors does not know this `{}`", key), advice,
                experiment.where(key));
}

/// T1, at the depth that the configuration states.
actors::Search search_of(const configs::Experiment& experiment) {
    const Settings& settings = experiment.settings;
    if (experiment.kind->name != "uts" || settings.text("tree") != "T1")
        refuse(experiment, "workload", "state {name: uts, tree: T1, depth: ...}");
    for (const char* key : {"type", "shape", "branching", "root_seed", "unroll"}) {
        if (settings.stated(key)) refuse(experiment, fmt::format("workload.{}", key), "leave it out");
    }
    if (settings.integer("cutoff") != 0) refuse(experiment, "workload.cutoff", "leave it out");
    actors::Search search;
    search.tree.shape = workloads::UtsTree::Shape::fixed;
    search.tree.depth = settings.stated("depth") ? static_cast<std::int32_t>(settings.integer("depth")) : 10;
    search.tree.seed = 19;
    search.task_flops = settings.number("unit_cost");
    return search;
}

void check(const configs::Experiment& experiment) {
    const std::string& victim = experiment.schedule.stealing.victim;
    if (victim != "hierarchical" && victim != "local_first")
        refuse(experiment, "schedule.stealing.victim", "state hierarchical or local_first");
    if (experiment.schedule.placement != "none") refuse(experiment, "schedule.placement", "state none");
    for (const auto& [name, cost] : configs::overheads_by_name(experiment.platform.overheads)) {
        if (cost != Time::zero()) refuse(experiment, "platform.overheads", "state overheads: none");
    }
}

workloads::UtsCount search_below(const workloads::UtsTree& tree, const workloads::UtsNode& node) {
    const std::int32_t children = tree.children(node);
    workloads::UtsCount count{1, children == 0 ? 1U : 0U, node.depth};
    for (std::int32_t i = 0; i < children; ++i)
        count += search_below(tree, workloads::UtsTree::child(node, i));
    return count;
}

Json answer(const workloads::UtsCount& count) {
    return {{"nodes", count.nodes}, {"depth", count.depth}, {"leaves", count.leaves}};
}

Json sequentially(const actors::Search& search) {
    const double began = host::wall_seconds();
    const workloads::UtsCount count = search_below(search.tree, search.tree.root());
    const double seconds = host::wall_seconds() - began;
    return {{"answer", answer(count)}, {"tasks", count.nodes}, {"wall_seconds", seconds}};
}

Json simulate(const configs::Experiment& experiment, const actors::Search& search, const Options& options) {
    check(experiment);
    Platform platform = experiment.platform;
    complete(platform);
    const actors::Hosts hosts = actors::build_platform(platform, options.simgrid);
    const double began = host::wall_seconds();
    const actors::Outcome outcome = actors::search_with_actors(hosts, platform, experiment.schedule, search);
    const double seconds = host::wall_seconds() - began;
    return {{"answer", answer(outcome.count)},
            {"makespan_seconds", outcome.makespan_seconds},
            {"tasks", outcome.tasks},
            {"steals",
             {{"within_node", outcome.steals_within_node}, {"between_nodes", outcome.steals_between_nodes}}},
            {"messages", outcome.messages},
            {"bytes", outcome.bytes},
            {"wall_seconds", seconds},
            {"peak_memory_bytes", host::peak_memory_bytes()},
            {"seed", experiment.seed}};
}

int run(const Options& options) {
    std::vector<configs::Override> overrides;
    for (const std::string& set : options.sets) overrides.push_back(configs::parse_override(set));
    const configs::Experiment experiment = configs::read_experiment(options.file, overrides);
    actors::Search search = search_of(experiment);
    if (options.sleep) search.working = actors::Working::sleep;
    std::cout << (options.sequential ? sequentially(search) : simulate(experiment, search, options)) << "\n";
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Unbalanced tree search with plain SimGrid actors");
    Options options;
    app.add_option("file", options.file, "the configuration, as for `heddle run`")->required();
    app.add_option("--set", options.sets, "KEY=VALUE, in place of the file's");
    app.add_option("--simgrid", options.simgrid, "a word of SimGrid's command line, such as --cfg=...");
    app.add_flag("--sequential", options.sequential, "search the tree without scheduler and simulation");
    app.add_flag("--sleep", options.sleep, "a task sleeps instead of executing on its host");
    CLI11_PARSE(app, argc, argv);
    try {
        return run(options);
    } catch (const heddle::Error& error) {
        std::cerr << error.what() << "\n";
        return 2;
    }
}
