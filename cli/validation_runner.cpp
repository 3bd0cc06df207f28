// Starts the runs of a validation, repeats native ones that were disturbed, and stops where all is decided.
#include "cli/validation_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "cli/calibration_file.hpp"
#include "cli/cell_progress.hpp"
#include "cli/cell_runner.hpp"
#include "host/disturbance.hpp"
#include "host/process_pool.hpp"
#include "host/wall_clock.hpp"
#include "results/store.hpp"

namespace heddle::cli {

namespace {

using results::Equivalence;
using results::Outcome;
using results::WorldPair;

/// How often a disturbed run is repeated. On a machine that is never quiet more would not help.
constexpr std::size_t repeats_max = 2;

/// So much of the budget may pass while the machine's cores are others than calibrate met.
constexpr double waiting_share = 0.25;

/// Simulated runs of a deterministic world that take the same time are enough.
constexpr std::size_t constant_runs = 3;

/// What is known of the disturbances of a native cell, beside its result: a validation that goes on counts
/// them.
struct CellHistory {
    std::size_t repeated = 0;
    bool disturbed = false;
};

std::string history_path(const std::string& directory, const std::string& cell) {
    return directory + "/" + cell + "/disturbance.txt";
}

CellHistory read_history(const std::string& directory, const std::string& cell) {
    CellHistory history;
    std::ifstream file(history_path(directory, cell));
    file >> history.repeated >> history.disturbed;
    return history;
}

/// What the calibration says that the experiment builds on. 0: nothing, or it builds on none.
double line_seconds_of(const configs::Experiment& experiment) {
    return experiment.platform_from.empty() ? 0 : line_seconds_in(experiment.platform_from);
}

class ValidationRunner {
public:
    ValidationRunner(const WorldPlans& plans, const ValidationOptions& options)
        : plans_(plans),
          options_(options),
          began_(host::wall_seconds()),
          line_seconds_(line_seconds_of(plans.native.combinations.base)),
          watch_(line_seconds_) {
        run_.pairs = read_pairs(plans, options.directory);
        for (std::size_t i = 0; i < run_.pairs.size(); ++i) {
            forget_failures(plans.native, i, run_.pairs[i].native);
            forget_failures(plans.simulated, i, run_.pairs[i].simulated);
        }
    }

    ValidationRun run() {
        for (std::size_t round = 0; round < options_.runs_max; ++round) {
            std::vector<Step> steps = steps_of(round);
            if (steps.empty() && all_decided()) break;
            shuffle(steps, Random(options_.seed).split(round));
            for (const Step& step : steps) {
                if (outcome_of(step, round).state != Outcome::State::missing) continue;  // by another pair
                show();
                if (host::wall_seconds() - began_ > options_.budget_seconds) {
                    run_.budget_spent = true;
                    return std::move(run_);
                }
                run_.signal = step.native ? run_native(step, round) : run_cell(step, round);
                if (run_.signal != 0) return std::move(run_);
            }
        }
        return std::move(run_);
    }

private:
    struct Step {
        std::size_t pair = 0;
        bool native = false;
    };

    /// What failed is run again.
    void forget_failures(const Plan& plan, std::size_t pair, std::vector<Outcome>& runs) const {
        for (std::size_t round = 0; round < runs.size(); ++round) {
            if (!runs[round].bad()) continue;
            results::forget_cell(options_.directory, plan.cells[plan.runs[pair][round]].name);
            runs[round] = {};
        }
    }

    /// By Fisher and Yates.
    static void shuffle(std::vector<Step>& steps, Random random) {
        for (std::size_t i = steps.size(); i > 1; --i) std::swap(steps[i - 1], steps[random.below(i)]);
    }

    /// A configuration that is decided, or has failed, runs no more. It is judged at looks only.
    bool wants_more(std::size_t pair, std::size_t round) {
        const WorldPair& both = run_.pairs[pair];
        if (round == 0) return true;
        const auto is_bad = [](const Outcome& run) { return run.bad(); };
        const bool any_bad = std::any_of(both.native.begin(), both.native.end(), is_bad) ||
                             std::any_of(both.simulated.begin(), both.simulated.end(), is_bad);
        if (any_bad) return false;
        if (round < results::first_look || results::next_look(round - 1) != round) return !decided_[pair];
        WorldPair until_now = both;
        const auto cut = [round](std::vector<Outcome>& runs) { runs.resize(std::min(runs.size(), round)); };
        cut(until_now.native);
        cut(until_now.simulated);
        const results::ValidationLine line = results::validate_pair(until_now);
        decided_[pair] =
            line.within_wide != Equivalence::undecided &&
            (line.within_narrow != Equivalence::undecided || line.within_wide == Equivalence::outside);
        return !decided_[pair];
    }

    /// What is missing in a round.
    std::vector<Step> steps_of(std::size_t round) {
        std::vector<Step> steps;
        for (std::size_t pair = 0; pair < run_.pairs.size(); ++pair) {
            if (!wants_more(pair, round)) continue;
            const WorldPair& both = run_.pairs[pair];
            if (both.native[round].state == Outcome::State::missing) steps.push_back({pair, true});
            const std::vector<Outcome> before(both.simulated.begin(),
                                              both.simulated.begin() + static_cast<std::ptrdiff_t>(round));
            if (round >= constant_runs && results::is_constant(before)) continue;
            if (both.simulated[round].state == Outcome::State::missing) steps.push_back({pair, false});
        }
        return steps;
    }

    bool all_decided() const {
        for (std::size_t pair = 0; pair < run_.pairs.size(); ++pair) {
            const auto found = decided_.find(pair);
            if (found == decided_.end() || !found->second) return false;
        }
        return true;
    }

    const Plan& plan_of(const Step& step) const { return step.native ? plans_.native : plans_.simulated; }

    const Cell& cell_of(const Step& step, std::size_t round) const {
        const Plan& plan = plan_of(step);
        return plan.cells[plan.runs[step.pair][round]];
    }

    const Outcome& outcome_of(const Step& step, std::size_t round) const {
        const WorldPair& pair = run_.pairs[step.pair];
        return (step.native ? pair.native : pair.simulated)[round];
    }

    /// Calls `use` for each pair that has the cell of a step. A key that one world does not have
    /// distinguishes cells of the other world only. A cell is run once, or its second run would replace what
    /// the first left.
    template <class Use>
    void for_each_sharing(const Step& step, std::size_t round, const Use& use) {
        const Plan& plan = plan_of(step);
        const std::size_t cell = plan.runs[step.pair][round];
        for (std::size_t pair = 0; pair < run_.pairs.size(); ++pair)
            if (plan.runs[pair][round] == cell) use(run_.pairs[pair]);
    }

    /// Runs one cell. Returns the signal that stopped it, or 0.
    int run_cell(const Step& step, std::size_t round) {
        const Cell& cell = cell_of(step, round);
        Outcome outcome;
        host::PoolOptions pool;
        pool.ticked = [this] { show(); };
        pool.ended = [&](const host::JobEnd& end) {
            if (const auto left = outcome_after(cell, options_.directory, end)) outcome = *left;
        };
        std::vector<std::string> argv = command_line_of(cell, options_.directory);
        if (step.native && options_.record) argv.emplace_back("--record");
        const int signal = host::run_jobs({{std::move(argv), true}}, pool);
        if (outcome.bad())
            progress_.say(
                fmt::format("failed: {}: {}", plan_of(step).described(cell), outcome.failure.error));
        for_each_sharing(step, round, [&](WorldPair& pair) {
            (step.native ? pair.native : pair.simulated)[round] = outcome;
        });
        return signal;
    }

    /// The same, again if it was disturbed.
    int run_native(const Step& step, std::size_t round) {
        CellHistory history;
        const Cell& cell = cell_of(step, round);
        while (true) {
            wait_for_cores();
            watch_.begin();
            if (const int signal = run_cell(step, round)) return signal;
            history.disturbed = watch_.end().matters();
            if (outcome_of(step, round).bad()) return 0;
            const bool time_left = host::wall_seconds() - began_ < options_.budget_seconds;
            if (!history.disturbed || history.repeated == repeats_max || !time_left) break;
            ++history.repeated;
            results::forget_cell(options_.directory, cell.name);
        }
        for_each_sharing(step, round, [&](WorldPair& pair) {
            pair.repeated += history.repeated;
            pair.disturbed += history.disturbed ? 1 : 0;
        });
        results::write_atomically(history_path(options_.directory, cell.name),
                                  fmt::format("{} {:d}\n", history.repeated, history.disturbed));
        return 0;
    }

    void wait_for_cores() {
        const double begin = host::wall_seconds();
        const bool there = watch_.wait_for_cores(waiting_share * options_.budget_seconds - waited_seconds_);
        const double seconds = host::wall_seconds() - begin;
        waited_seconds_ += seconds;
        if (seconds >= 1)
            progress_.say(
                fmt::format("waited {:.0f} s: lines of the cache took another time from core to core "
                            "than when this {}{}",
                            seconds, line_seconds_ > 0 ? "machine was calibrated" : "command began",
                            there ? "" : ", and still do"));
    }

    void show() {
        CellCounts counts;
        counts.total = run_.pairs.size();
        for (const auto& [pair, decided] : decided_) counts.finished += decided ? 1 : 0;
        counts.seconds_left = options_.budget_seconds - (host::wall_seconds() - began_);
        progress_.show(counts);
    }

    const WorldPlans& plans_;
    const ValidationOptions& options_;
    double began_;
    ValidationRun run_;
    std::map<std::size_t, bool> decided_;
    double line_seconds_;  ///< 0: those of the command's begin count
    host::DisturbanceWatch watch_;
    double waited_seconds_ = 0;
    CellProgress progress_;
};

/// Each configuration has the same seeds in both worlds, and as many runs as `--runs` says.
void refuse_axes(const Plan& plan) {
    for (const configs::Axis& axis : plan.combinations.base.compare.axes) {
        for (const configs::Point& point : axis.points) {
            for (const auto& [key, value] : point.sets) {
                if (key == "backend")
                    throw Error("validate runs every configuration in both worlds itself",
                                "leave `backend` out of the `compare` section", axis.where);
                if (key == "repeat")
                    throw Error("validate repeats every configuration as often as it needs",
                                "leave `repeat` out of the `compare` section, and name a limit with --runs",
                                point.where);
                if (key == "seed")
                    throw Error("validate runs every configuration with the same seeds",
                                "leave `seed` out of the `compare` section, and name the first with --seed",
                                point.where);
            }
        }
    }
}

/// The cores of a node if no configuration states them, and nothing if all do. Throws Error if only some do:
/// the simulated nodes of the rest could not have as many as the native ones.
std::optional<CoreId> cores_of_this_machine(const configs::Combinations& combinations) {
    const auto states = [](const configs::Combination& one) {
        return one.experiment.is_stated("platform.cores");
    };
    const auto stated = std::ranges::find_if(combinations.all, states);
    if (stated == combinations.all.end()) return combinations.all.front().experiment.platform.cores;
    const auto plain = std::ranges::find_if_not(combinations.all, states);
    if (plain == combinations.all.end()) return std::nullopt;
    throw Error(
        fmt::format("{} states platform.cores, and {} does not: natively it has the {} of this machine",
                    stated->words, plain->words, plain->experiment.platform.cores),
        "state it for all, in the file or by --set platform.cores=N", plain->experiment.where("platform"));
}

}  // namespace

WorldPlans make_world_plans(const std::string& file, std::vector<configs::Override> overrides,
                            std::size_t runs) {
    overrides.push_back({"repeat", std::to_string(runs), "--runs"});
    std::vector<configs::Override> simulated = overrides;
    overrides.push_back({"backend", "native", "heddle validate"});
    simulated.push_back({"backend", "sim", "heddle validate"});
    Plan native = make_plan(file, overrides, configs::Axes::optional);
    refuse_axes(native);
    if (const auto cores = cores_of_this_machine(native.combinations))
        simulated.push_back({"platform.cores", std::to_string(*cores), "the cores of this machine"});
    return {std::move(native), make_plan(file, simulated, configs::Axes::optional)};
}

std::vector<WorldPair> read_pairs(const WorldPlans& plans, const std::string& directory) {
    std::vector<WorldPair> pairs;
    for (std::size_t i = 0; i < plans.native.combinations.all.size(); ++i) {
        WorldPair pair;
        pair.values = plans.native.combinations.all[i].values;
        for (const std::size_t cell : plans.native.runs[i]) {
            const std::string& name = plans.native.cells[cell].name;
            pair.native.push_back(results::read_outcome(directory, name));
            if (!pair.native.back().finished()) continue;
            const CellHistory history = read_history(directory, name);
            pair.repeated += history.repeated;
            pair.disturbed += history.disturbed ? 1 : 0;
        }
        for (const std::size_t cell : plans.simulated.runs[i])
            pair.simulated.push_back(results::read_outcome(directory, plans.simulated.cells[cell].name));
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

ValidationRun run_validation(const WorldPlans& plans, const ValidationOptions& options) {
    return ValidationRunner(plans, options).run();
}

}  // namespace heddle::cli
