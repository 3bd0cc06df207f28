// Makes a cell of each recorded native run, whose placement is its table of tasks, and simulates it.
#include "cli/validation_replay.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "cli/cell_progress.hpp"
#include "cli/cell_runner.hpp"
#include "cli/worlds.hpp"
#include "configs/cell.hpp"
#include "configs/experiment.hpp"
#include "host/machine.hpp"
#include "host/process_pool.hpp"
#include "host/wall_clock.hpp"

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
    const std::vector<std::string> sets = {"--set", "schedule.placement=file", "--set",
                                           "schedule.placement_file=" + as_yaml(table),
                                           // The whole section: a policy's own settings go with it.
                                           "--set", "schedule.stealing=none"};
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

/// A simulation, and the native runs whose schedule it has.
struct Replay {
    Cell cell;
    std::vector<std::pair<std::size_t, std::size_t>> of;  ///< pair and round
    Outcome outcome;
};

/// Each cell once: two configurations may share it.
std::vector<Replay> plan_replays(const WorldPlans& plans, const std::string& directory,
                                 const std::vector<results::WorldPair>& pairs, ReplayResult& result) {
    std::vector<Replay> all;
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        for (std::size_t round = 0; round < pairs[i].native.size(); ++round) {
            if (pairs[i].native[round].state != Outcome::State::right) continue;
            const std::string table = record_of(directory, plans.native.cells[plans.native.runs[i][round]]);
            if (!std::filesystem::exists(table)) {
                ++result.without_record;
                continue;
            }
            if (!has_graph_tasks(table)) {
                ++result.without_graph;
                break;
            }
            try {
                Cell cell = replay_of(plans.simulated.cells[plans.simulated.runs[i][round]], table);
                const auto [place, is_new] = places.try_emplace(cell.name, all.size());
                if (is_new) all.push_back({std::move(cell), {}, {}});
                all[place->second].of.emplace_back(i, round);
            } catch (const Error& error) {
                result.failed.emplace_back(error.what());
            }
        }
    }
    return all;
}

/// Runs what is missing or has failed, until the budget is spent.
void run_replays(std::vector<Replay>& all, const std::string& replays, double budget_seconds,
                 ReplayResult& result) {
    std::vector<Replay*> waiting;
    std::vector<host::Job> jobs;
    for (Replay& replay : all) {
        if (replay.outcome.state == Outcome::State::right) continue;
        waiting.push_back(&replay);
        std::vector<std::string> argv = command_line_of(replay.cell, replays);
        argv.insert(argv.end(), {"--sim-threads", "1"});  // each has a core
        jobs.push_back({std::move(argv), replay.cell.alone});
    }
    const double began = host::wall_seconds();
    CellProgress progress;
    CellCounts counts{waiting.size(), 0, 0, -1};
    host::PoolOptions pool;
    pool.width = host::machine_cores();
    pool.wanted = [&](std::size_t job) {
        if (host::wall_seconds() - began >= budget_seconds) {
            result.budget_spent = true;
            return false;
        }
        if (waiting[job]->outcome.bad()) results::forget_cell(replays, waiting[job]->cell.name);
        return true;
    };
    pool.ended = [&](const host::JobEnd& end) {
        Replay& replay = *waiting[end.job];
        replay.outcome = outcome_after(replay.cell, replays, end).value_or(Outcome{});
        ++counts.finished;
        if (replay.outcome.bad()) ++counts.failed;
    };
    pool.ticked = [&] { progress.show(counts); };
    result.signal = host::run_jobs(jobs, pool);
}

}  // namespace

ReplayResult replay_runs(const WorldPlans& plans, const std::string& directory, const ReplayOptions& options,
                         std::vector<results::WorldPair>& pairs) {
    // Beside the cells of the validation, so that tables and pages of those leave them out.
    const std::string replays = directory + "/replays";
    ReplayResult result;
    std::vector<Replay> all = plan_replays(plans, directory, pairs, result);
    for (Replay& replay : all) replay.outcome = results::read_outcome(replays, replay.cell.name);
    if (options.run) {
        std::filesystem::create_directories(replays);
        run_replays(all, replays, options.budget_seconds, result);
    }
    for (results::WorldPair& pair : pairs) pair.replayed.resize(pair.native.size());
    for (const Replay& replay : all) {
        if (replay.outcome.bad()) result.failed.push_back(replay.outcome.failure.error);
        for (const auto& [pair, round] : replay.of) pairs[pair].replayed[round] = replay.outcome;
    }
    return result;
}

}  // namespace heddle::cli
