// Makes a cell of each recorded native run, whose placement is its table of tasks, and simulates it.
#include "cli/validation_replay.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "cli/cell_runner.hpp"
#include "cli/worlds.hpp"
#include "configs/cell.hpp"
#include "configs/experiment.hpp"
#include "host/process_pool.hpp"

namespace heddle::cli {

namespace {

using results::Outcome;

std::string record_of(const std::string& directory, const Cell& cell) {
    return std::filesystem::absolute(directory + "/" + cell.name + "/tasks.csv").string();
}

/// Whether a row names a task of a graph: forked tasks have no number.
bool has_graph_tasks(const std::string& table) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line))
        if (!line.empty() && line.front() != ',') return true;
    return false;
}

/// The simulated cell of the same combination and seed, with that placement.
Cell replay_of(const Cell& simulated, const std::string& table) {
    Cell cell = simulated;
    const auto seed = std::ranges::find(cell.words, "--seed");
    const std::vector<std::string> sets = {"--set", "schedule.placement=file",
                                           "--set", "schedule.placement_file=" + table,
                                           "--set", "schedule.stealing.victim=none"};
    cell.words.insert(seed, sets.begin(), sets.end());
    std::vector<configs::Override> overrides;
    for (std::size_t i = 0; i + 1 < cell.words.size(); ++i)
        if (cell.words[i] == "--set") overrides.push_back(configs::parse_override(cell.words[i + 1]));
    const auto file = std::next(std::ranges::find(cell.words, "run"));
    configs::Experiment experiment = configs::read_experiment(*file, overrides);
    settle(experiment, Part{});
    cell.determinants = configs::determinants_of(experiment.with_seed(cell.seed));
    cell.name = cell.determinants.cell();
    return cell;
}

}  // namespace

ReplayResult replay_runs(const WorldPlans& plans, const std::string& directory, Replays how,
                         std::vector<results::WorldPair>& pairs) {
    // Beside the cells of the validation, so that tables and pages of those leave them out.
    const std::string replays = directory + "/replays";
    if (how == Replays::run) std::filesystem::create_directories(replays);
    ReplayResult result;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        results::WorldPair& pair = pairs[i];
        bool is_graph = true;
        for (std::size_t round = 0; round < pair.native.size() && is_graph; ++round) {
            if (pair.native[round].state != Outcome::State::right) continue;
            const std::string table = record_of(directory, plans.native.cells[plans.native.runs[i][round]]);
            if (!std::filesystem::exists(table)) {
                ++result.without_record;
                continue;
            }
            is_graph = has_graph_tasks(table);
            if (!is_graph) break;
            const Cell cell = replay_of(plans.simulated.cells[plans.simulated.runs[i][round]], table);
            Outcome outcome = results::read_outcome(replays, cell.name);
            if (outcome.state == Outcome::State::missing && how == Replays::run) {
                host::PoolOptions pool;
                pool.ended = [&](const host::JobEnd& end) {
                    if (const auto left = outcome_after(cell, replays, end)) outcome = *left;
                };
                result.signal = host::run_jobs({{command_line_of(cell, replays), false}}, pool);
                if (result.signal != 0) return result;
            }
            if (outcome.bad()) result.failed.push_back(outcome.failure.error);
            pair.replayed.push_back(std::move(outcome));
        }
        if (!is_graph) ++result.without_graph;
    }
    return result;
}

}  // namespace heddle::cli
