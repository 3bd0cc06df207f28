// Starts the processes of a comparison's cells, several at a time, and notes how each ended.
#include "cli/cell_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "cli/cell_progress.hpp"
#include "host/claims.hpp"
#include "host/command_line.hpp"
#include "host/process_pool.hpp"
#include "host/wall_clock.hpp"
#include "results/store.hpp"

namespace heddle::cli {

namespace {

using results::Outcome;

/// Whether a signal stopped a cell: then the cell has not failed, it is only not finished.
bool was_stopped(int exit_code) {
    return exit_code == 128 + SIGINT || exit_code == 128 + SIGTERM || exit_code == 128 + SIGHUP ||
           exit_code == 128 + SIGQUIT;
}

/// How long each cell takes: as long as others of its combination, or else as all on average.
class Durations {
public:
    void add(std::size_t combination, double seconds) {
        each_[combination].add(seconds);
        all_.add(seconds);
    }
    bool known() const { return all_.count > 0; }
    double expected(std::size_t combination) const {
        const auto found = each_.find(combination);
        return found == each_.end() ? all_.mean() : found->second.mean();
    }

private:
    struct Mean {
        double sum = 0;
        std::size_t count = 0;
        void add(double value) {
            sum += value;
            ++count;
        }
        double mean() const { return sum / static_cast<double>(std::max<std::size_t>(count, 1)); }
    };
    std::map<std::size_t, Mean> each_;
    Mean all_;
};

std::string command_of(const Cell& cell) {
    std::vector<std::string> words = cell.words;
    words.insert(words.begin(), "heddle");
    // Paths in it are relative to the working directory.
    return fmt::format("(cd {} && {})", host::shell_words({std::filesystem::current_path().string()}),
                       host::shell_words(words));
}

class Runner {
public:
    Runner(const Plan& plan, const RunnerOptions& options, std::vector<Outcome>& outcomes)
        : plan_(plan), options_(options), outcomes_(outcomes) {
        if (options.claim) {
            claims_.emplace(options.directory + "/claims", host::owner_of_this_process(),
                            host::slurm_task_runs);
        }
        for (const auto& runs : plan.runs) first_runs_.insert(runs.front());
        if (!plan.baseline.empty()) first_runs_.insert(plan.baseline.front());
        for (std::size_t cell = options.shard; cell < plan.cells.size(); cell += options.shards) {
            if (options.processes != 0 && plan.cells[cell].processes != options.processes) continue;
            ++counts_.total;
            take_stock(cell);
        }
        // The first run of every combination, then the second of each: so the time that is left is known
        // early, and a table that is cut off has something of everything.
        std::map<std::size_t, std::size_t> earlier;
        std::map<std::size_t, std::size_t> round;
        for (std::size_t cell = 0; cell < plan.cells.size(); ++cell)
            round[cell] = earlier[plan.cells[cell].combination]++;
        std::stable_sort(waiting_.begin(), waiting_.end(),
                         [&round](std::size_t a, std::size_t b) { return round[a] < round[b]; });
    }

    int run() {
        if (unrecorded_ > 0)
            progress_.say(fmt::format("{} first runs are run again to be recorded", unrecorded_));
        if (never_recorded_ > 0)
            progress_.say(fmt::format(
                "{} first runs are there without a record, and again they would take other times; "
                "name another --out to record them",
                never_recorded_));
        const std::size_t at_once = std::clamp<std::size_t>(waiting_.size(), 1, options_.width);
        std::vector<host::Job> jobs;
        for (const std::size_t cell : waiting_) {
            std::vector<std::string> argv = command_line_of(plan_.cells[cell], options_.directory);
            if (is_recorded(cell)) argv.emplace_back("--record");
            // Cells at the same time have a core each. One that has all knows itself how many are worth it.
            if (at_once > 1) argv.insert(argv.end(), {"--sim-threads", "1"});
            jobs.push_back({std::move(argv), plan_.cells[cell].alone});
        }
        host::PoolOptions pool;
        pool.width = options_.width;
        pool.started = [this](std::size_t job) { began_[waiting_[job]] = host::wall_seconds(); };
        pool.ended = [this](const host::JobEnd& end) { finish(waiting_[end.job], end); };
        pool.ticked = [this] {
            if (claims_ && host::wall_seconds() - renewed_ > renewal_seconds) {
                claims_->renew();
                renewed_ = host::wall_seconds();
            }
            show();
        };
        if (claims_) pool.wanted = [this](std::size_t job) { return claim(waiting_[job]); };
        show();
        return host::run_jobs(jobs, pool);
    }

private:
    /// Whether the cell is to be recorded: the first run of a combination.
    bool is_recorded(std::size_t cell) const { return options_.record && first_runs_.contains(cell); }

    /// Forgets a result without a record if the cell is to have one and again gives the same result.
    void look_for_record(std::size_t number) {
        const Cell& cell = plan_.cells[number];
        Outcome& outcome = outcomes_[number];
        const std::string folder = options_.directory + "/" + cell.name;
        if (!is_recorded(number) || !outcome.finished() ||
            !results::recorded_table(folder, "tasks.csv").empty())
            return;
        const configs::Experiment& experiment = plan_.combination(cell).experiment;
        const bool same_again = experiment.backend != configs::Backend::native &&
                                experiment.compute == configs::Compute::declared;
        ++(same_again ? unrecorded_ : never_recorded_);
        if (!same_again) return;
        if (outcome.wall_seconds > 0) durations_.add(cell.combination, outcome.wall_seconds);
        results::forget_cell(options_.directory, cell.name);
        outcome = {};
    }

    /// A failure that is there from the start. It was read a while ago; another process may have run the cell
    /// again since. If processes share the cells, the one that takes the cell forgets it.
    void retry(std::size_t cell) {
        Outcome& outcome = outcomes_[cell];
        if (claims_) {
            failed_at_[cell] = outcome.written;
            outcome = {};
        } else {
            outcome = results::read_outcome(options_.directory, plan_.cells[cell].name);
            forget_if_bad(cell);
        }
    }

    void forget_if_bad(std::size_t cell) {
        if (!outcomes_[cell].bad()) return;
        results::forget_cell(options_.directory, plan_.cells[cell].name);
        outcomes_[cell] = {};
    }

    /// What is there already.
    void take_stock(std::size_t cell) {
        Outcome& outcome = outcomes_[cell];
        if (options_.retry_failed && outcome.bad()) retry(cell);
        look_for_record(cell);
        if (outcome.state == Outcome::State::missing) {
            waiting_.push_back(cell);
            return;
        }
        ++counts_.finished;
        if (outcome.bad()) ++counts_.failed;
        if (outcome.wall_seconds > 0) durations_.add(plan_.cells[cell].combination, outcome.wall_seconds);
    }

    static constexpr double renewal_seconds = 10;

    /// False: another process runs the cell, or has run it since this one has looked.
    bool claim(std::size_t cell) {
        const std::string& name = plan_.cells[cell].name;
        const bool taken = claims_->take(name);
        outcomes_[cell] = results::read_outcome(options_.directory, name);
        // Not a failure that another process has left since: it has run the cell again already.
        const auto earlier = failed_at_.find(cell);
        if (taken && earlier != failed_at_.end() && earlier->second == outcomes_[cell].written)
            forget_if_bad(cell);
        const bool missing = outcomes_[cell].state == Outcome::State::missing;
        if (taken && missing) return true;
        if (taken) claims_->give_back(name);
        --counts_.total;
        return false;
    }

    void finish(std::size_t cell, const host::JobEnd& end) {
        const Cell& what = plan_.cells[cell];
        began_.erase(cell);
        Outcome& outcome = outcomes_[cell];
        outcome = {};
        const auto left = outcome_after(what, options_.directory, end);
        if (claims_) claims_->give_back(what.name);
        if (!left) return;
        outcome = *left;
        ++counts_.finished;
        durations_.add(what.combination, end.seconds);
        if (outcome.bad()) {
            ++counts_.failed;
            if (options_.name_failures)
                progress_.say(fmt::format("failed: {}: {}", plan_.described(what), outcome.failure.error));
        }
        show();
    }

    void show() {
        counts_.seconds_left = durations_.known() ? seconds_left() : -1;
        progress_.show(counts_);
    }

    double seconds_left() const {
        const double now = host::wall_seconds();
        double together = 0;
        double alone = 0;
        for (const std::size_t cell : waiting_) {
            if (outcomes_[cell].state != Outcome::State::missing) continue;
            double left = durations_.expected(plan_.cells[cell].combination);
            if (const auto began = began_.find(cell); began != began_.end())
                left = std::max(0.0, left - (now - began->second));
            (plan_.cells[cell].alone ? alone : together) += left;
        }
        return alone + together / static_cast<double>(options_.width);
    }

    const Plan& plan_;
    const RunnerOptions& options_;
    std::vector<Outcome>& outcomes_;
    std::set<std::size_t> first_runs_;  ///< each is the first cell of a combination
    std::vector<std::size_t> waiting_;  ///< cells, in the order in which they start
    std::map<std::size_t, double> began_;
    std::map<std::size_t, std::filesystem::file_time_type> failed_at_;  ///< what is to be retried
    std::size_t unrecorded_ = 0;      ///< first runs that are run again, to be recorded
    std::size_t never_recorded_ = 0;  ///< first runs that no other run can stand in for
    CellCounts counts_;
    Durations durations_;
    CellProgress progress_;
    std::optional<host::Claims> claims_;
    double renewed_ = host::wall_seconds();
};

}  // namespace

int run_cells(const Plan& plan, const RunnerOptions& options, std::vector<Outcome>& outcomes) {
    return Runner(plan, options, outcomes).run();
}

std::vector<std::string> command_line_of(const Cell& cell, const std::string& directory) {
    std::vector<std::string> argv = cell.words;
    argv.insert(argv.begin(), host::own_program());
    argv.insert(argv.end(), {"--out", directory, "--no-tables"});
    return argv;
}

std::optional<Outcome> outcome_after(const Cell& cell, const std::string& directory,
                                     const host::JobEnd& end) {
    Outcome outcome = results::read_outcome(directory, cell.name);
    if (!outcome.finished()) {
        if (was_stopped(end.exit_code)) return std::nullopt;
        const std::string error = end.exit_code == 0
                                      ? "it left no result: was a file or the program changed meanwhile?"
                                      : error_in_words(end.exit_code, end.errors);
        outcome.failure = {error, end.exit_code, command_of(cell)};
        outcome.state = Outcome::State::failed;
        results::write_failure(directory, cell.name, outcome.failure);
    }
    results::sweep_cell(directory, cell.name);
    return outcome;
}

std::string error_in_words(int exit_code, const std::string& errors) {
    // The last line that heddle wrote, or else the last line.
    std::string last;
    bool is_ours = false;
    for (std::size_t begin = 0; begin < errors.size();) {
        const std::size_t end = std::min(errors.find('\n', begin), errors.size());
        std::string line = errors.substr(begin, end - begin);
        begin = end + 1;
        const bool ours = line.starts_with("heddle: ");
        if (line.empty() || (is_ours && !ours)) continue;
        last = ours ? line.substr(8) : line;
        is_ours = is_ours || ours;
    }
    if (exit_code <= 128) return last.empty() ? fmt::format("exit code {}", exit_code) : last;
    const int signal = exit_code - 128;
    return fmt::format("ended by signal {} ({}){}{}", signal, strsignal(signal), last.empty() ? "" : ": ",
                       last);
}

}  // namespace heddle::cli
