// `heddle validate`: runs a file's configurations natively and in simulation, and says how far the simulated
// times are from the native ones.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/printable.hpp"
#include "base/settings.hpp"
#include "base/units.hpp"
#include "cli/comparison_plan.hpp"
#include "cli/graph_options.hpp"
#include "cli/outdated.hpp"
#include "cli/text_table.hpp"
#include "cli/validation_replay.hpp"
#include "cli/validation_report.hpp"
#include "cli/validation_runner.hpp"
#include "cli/verbs.hpp"
#include "cli/worlds.hpp"
#include "configs/output_files.hpp"
#include "results/data_package.hpp"
#include "results/store.hpp"

namespace heddle::cli {

namespace {

struct ValidateOptions {
    std::string file;
    std::vector<std::string> sets;
    std::string seed;
    std::string out;
    std::vector<std::string> by;
    std::string budget = "60s";
    std::size_t runs = 64;
    std::uint64_t order_seed = 1;
    bool show = false;
    bool json = false;
    bool replay = false;
};

std::vector<configs::Override> given_values(const ValidateOptions& options) {
    std::vector<configs::Override> given;
    for (const std::string& set : options.sets) given.push_back(configs::parse_override(set));
    if (!options.seed.empty()) given.push_back({"seed", options.seed, "--seed"});
    return given;
}

std::string json_text(const results::Validation& validation, const ValidationRun& run,
                      const std::string& directory) {
    auto json = nlohmann::ordered_json::parse(results::validation_json(validation));
    json["budget_spent"] = run.budget_spent;
    json["directory"] = directory;
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int verdict_code(const results::Validation& validation) {
    if (validation.failed() > 0) return wrong_answer;
    return validation.passed() == validation.lines.size() ? success : undecided;
}

/// Says on standard error what cannot be replayed, and why. Returns the signal that stopped it, or 0.
int replay_validation(const WorldPlans& plans, const std::string& directory, const ReplayOptions& options,
                      ValidationRun& run) {
    const ReplayResult replays = replay_runs(plans, directory, options, run.pairs);
    run.budget_spent = run.budget_spent || replays.budget_spent;
    if (replays.without_graph > 0)
        std::cerr << fmt::format("{} configurations run no placed graph, and are not replayed\n",
                                 replays.without_graph);
    if (replays.without_record > 0)
        std::cerr << fmt::format(
            "{} native runs left no record, and are not replayed: name another --out to run them again\n",
            replays.without_record);
    for (const std::string& error : replays.failed) std::cerr << fmt::format("a replay failed: {}\n", error);
    return replays.signal;
}

int conclude_validation(const ValidateOptions& options, const WorldPlans& plans, const ValidationRun& run,
                        const std::string& directory) {
    const configs::Combinations& combinations = plans.native.combinations;
    const results::Validation validation =
        results::validate(combinations.base.name, combinations.keys, run.pairs, options.by);
    std::vector<Cell> cells = plans.native.cells;
    cells.insert(cells.end(), plans.simulated.cells.begin(), plans.simulated.cells.end());
    if (options.show) {
        name_outdated(outdated_results(cells, directory, read_outcomes(cells, directory)));
    } else {
        std::vector<std::string> names;
        for (const Cell& cell : cells) names.push_back(cell.name);
        results::write_tables(directory, names);
        results::write_atomically(directory + "/results.csv", results::validation_csv(validation));
        results::write_data_package(directory);
    }
    std::cout << (options.json ? json_text(validation, run, directory)
                               : printable_lines(validation_text(validation)));
    if (!options.json && run.budget_spent)
        std::cout << fmt::format("the budget of {} is spent; the same command goes on from here\n",
                                 options.budget);
    return verdict_code(validation);
}

int validate_file(const ValidateOptions& options) {
    refuse_launch("validate", "native cells are launched on as many nodes as they state");
    if (!options.show) expect_readable_by_cells(options.file);
    const WorldPlans plans = make_world_plans(options.file, given_values(options), options.runs);
    const configs::Combinations& combinations = plans.native.combinations;
    // A mistake in --by is to be known before the first run.
    results::validate(combinations.base.name, combinations.keys, {}, options.by);
    ValidationOptions runner;
    runner.directory = options.out.empty() ? "validations/" + combinations.base.name : options.out;
    runner.budget_seconds = quantity("--budget", options.budget,
                                     [](std::string_view text) { return to_seconds(parse_time(text)); });
    runner.runs_max = options.runs;
    runner.seed = options.order_seed;
    runner.record = options.replay;
    if (!options.show)
        for (const configs::Combination& combination : combinations.all)
            configs::refuse_output_among_results(combination.experiment, runner.directory);
    std::optional<results::Store> store;
    if (!options.show) store.emplace(runner.directory, results::Store::Tables::leave);  // it can be written
    std::cerr << fmt::format("{}: {} configurations in both worlds; results in {}\n", combinations.base.name,
                             grouped(combinations.all.size()), runner.directory);
    ValidationRun run;
    if (options.show)
        run.pairs = read_pairs(plans, runner.directory);
    else
        run = run_validation(plans, runner);
    if (options.replay && run.signal == 0)
        run.signal = replay_validation(plans, runner.directory, {!options.show, runner.budget_seconds}, run);
    if (run.signal != 0) {
        std::cerr << fmt::format("heddle: stopped; the same command goes on from here ({})\n",
                                 runner.directory);
        return 128 + run.signal;
    }
    return conclude_validation(options, plans, run, runner.directory);
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
    const auto options = std::make_shared<ValidateOptions>();
    CLI::App* verb = app.add_subcommand("validate", "compare simulated times with those of this machine");
    verb->add_option("FILE", options->file, "an experiment, or several by its compare section")->required();
    verb->add_option("--set", options->sets, "KEY=VALUE in place of the file's, such as platform.nodes=2")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    verb->add_option("--seed", options->seed, "of the first run, in place of the file's");
    verb->add_option("--out", options->out,
                     "directory for results, where a validation goes on; validations/NAME")
        ->type_name("DIR");
    verb->add_option(
            "--by", options->by,
            "rank configurations with the same value of this key, as often as you like; all that is not "
            "of the schedule")
        ->type_name("KEY")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    verb->add_option("--budget", options->budget,
                     "begin no run after this time, and no replay after as much again; 60s")
        ->type_name("TIME");
    verb->add_option("--runs", options->runs, "runs of each configuration in each world, at most; 64")
        ->check(CLI::Range(1, 1024));
    verb->add_option("--order", options->order_seed, "seed of the order of the runs; 1")
        ->check(CLI::Range(std::int64_t{0}, static_cast<std::int64_t>(integer_max)));
    verb->add_flag("--replay", options->replay,
                   "simulate the schedules that native runs had as well, for workloads that place a graph");
    verb->add_flag("--show", options->show, "run and write nothing, and show what is there");
    verb->add_flag("--json", options->json, "print one JSON object and nothing else");
    verb->callback([options, &action] { action = [options] { return validate_file(*options); }; });
}

}  // namespace heddle::cli
