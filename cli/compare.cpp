// `heddle compare`: runs all combinations of a file's `compare` section and prints them side by side.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/printable.hpp"
#include "cli/cell_progress.hpp"
#include "cli/cell_runner.hpp"
#include "cli/comparison_plan.hpp"
#include "cli/comparison_table.hpp"
#include "cli/option_rules.hpp"
#include "cli/outdated.hpp"
#include "cli/override_options.hpp"
#include "cli/pivot_table.hpp"
#include "cli/published_table.hpp"
#include "cli/slurm_script.hpp"
#include "cli/text_table.hpp"
#include "cli/verbs.hpp"
#include "cli/worlds.hpp"
#include "host/command_line.hpp"
#include "host/machine.hpp"
#include "host/process_pool.hpp"
#include "results/comparison.hpp"
#include "results/data_package.hpp"
#include "results/store.hpp"

namespace heddle::cli {

namespace {

using results::Outcome;

struct CompareOptions {
    std::vector<std::string> files;
    OverrideOptions overrides;
    std::string out;
    std::vector<std::string> by;
    std::size_t jobs = 0;
    bool retry_failed = false;
    bool show = false;
    bool json = false;
    std::string shard;
    bool claim = false;
    bool record = false;
    NodeId processes = 0;
    bool slurm = false;
    bool submit = false;
    std::size_t tasks = 0;
    std::vector<std::string> sbatch;
};

/// What `i/n` says. Throws Error.
void read_shard(const std::string& text, RunnerOptions& options) {
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, options.shard);
    const bool slash = first.ec == std::errc{} && first.ptr != end && *first.ptr == '/';
    const auto second = slash ? std::from_chars(first.ptr + 1, end, options.shards) : first;
    if (slash && second.ec == std::errc{} && second.ptr == end && options.shard < options.shards) return;
    throw Error(fmt::format("--shard {}: expected i/n with i from 0 to n - 1", text),
                "write it like --shard 0/4, --shard 1/4, ...");
}

std::size_t count(const std::vector<Outcome>& outcomes, bool (*is)(const Outcome&)) {
    return static_cast<std::size_t>(std::count_if(outcomes.begin(), outcomes.end(), is));
}
std::size_t missing(const std::vector<Outcome>& outcomes) {
    return count(outcomes, [](const Outcome& outcome) { return outcome.state == Outcome::State::missing; });
}
std::size_t failed(const std::vector<Outcome>& outcomes) {
    return count(outcomes, [](const Outcome& outcome) { return outcome.bad(); });
}

results::Comparison compare_outcomes(const Plan& plan, const std::vector<Outcome>& outcomes,
                                     const std::vector<std::string>& by) {
    std::vector<results::Contender> contenders;
    for (std::size_t i = 0; i < plan.combinations.all.size(); ++i) {
        results::Contender contender{plan.combinations.all[i].values, {}};
        if (!plan.combinations.baselines.empty()) contender.baseline = plan.combinations.baselines[i];
        for (const std::size_t cell : plan.runs[i]) contender.runs.push_back(outcomes[cell]);
        contenders.push_back(std::move(contender));
    }
    return results::compare(plan.combinations.base.name, plan.combinations.keys, contenders, by,
                            configs::competing_keys(plan.combinations.base.compare));
}

std::string json_of(const results::Comparison& comparison, const Plan& plan, const std::string& directory,
                    const std::vector<Outcome>& outcomes) {
    using Json = nlohmann::ordered_json;
    Json json = Json::parse(results::comparison_json(comparison));
    json["directory"] = directory;
    json["cells"] = {{"total", plan.cells.size()},
                     {"finished", plan.cells.size() - missing(outcomes)},
                     {"failed", failed(outcomes)}};
    Json failures = Json::array();
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (!outcomes[i].bad()) continue;
        failures.push_back({{"cell", plan.cells[i].name},
                            {"what", plan.described(plan.cells[i])},
                            {"error", outcomes[i].failure.error}});
    }
    json["failures"] = std::move(failures);
    const std::vector<PublishedRow> published = published_rows(plan, outcomes);
    if (!published.empty()) json["published"] = Json::parse(published_json(published));
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Names what failed, and how to see it again.
void name_failures(const Plan& plan, const std::string& directory, const std::vector<Outcome>& outcomes) {
    constexpr std::size_t named_max = 20;
    const std::size_t all = failed(outcomes);
    if (all == 0) return;
    std::cerr << fmt::format("heddle: {} of {} cells failed\n", grouped(all), grouped(plan.cells.size()));
    std::size_t named = 0;
    for (std::size_t i = 0; i < outcomes.size() && named < named_max; ++i) {
        if (!outcomes[i].bad()) continue;
        ++named;
        std::cerr << fmt::format("  {}  {}: {}\n", plan.cells[i].name,
                                 printable(plan.described(plan.cells[i])),
                                 printable(outcomes[i].failure.error));
    }
    if (all > named) std::cerr << fmt::format("  and {} more\n", grouped(all - named));
    std::cerr << fmt::format("  each is kept in {}/CELL; --retry-failed runs them again\n", directory);
}

void warn_of_versions(const std::vector<Outcome>& outcomes) {
    std::set<std::string> found;
    for (const Outcome& outcome : outcomes)
        if (outcome.finished()) found.insert(outcome.heddle);
    found.insert(versions().heddle);
    if (found.size() < 2) return;
    std::string names;
    for (const std::string& name : found) names += (names.empty() ? "" : ", ") + name;
    std::cerr << fmt::format("heddle: these results come from different versions of heddle: {}\n", names);
}

/// --processes leaves the other cells out.
bool is_asked_for(const CompareOptions& options, const Cell& cell) {
    return options.processes == 0 || cell.processes == options.processes;
}

/// Prints the tables and what is to be said at the end, and writes them unless nothing was to run. Returns
/// the exit code. Adds to `published` what is to be shown when all files are done.
int conclude(const CompareOptions& options, const Plan& plan, const std::string& directory,
             const std::vector<Outcome>& outcomes, std::vector<PublishedRow>& published) {
    const results::Comparison comparison = compare_outcomes(plan, outcomes, options.by);
    // Before the table, which would call the cells of a directory that cannot be read missing.
    const auto outdated = outdated_results(plan.cells, directory, outcomes);
    if (!options.show) {
        results::write_tables(directory, plan.names());
        results::write_atomically(directory + "/comparison.csv", results::comparison_csv(comparison));
        results::write_data_package(directory);
    }
    const std::optional<configs::Pivot>& pivot = plan.combinations.base.compare.pivot;
    std::cout << (options.json ? json_of(comparison, plan, directory, outcomes)
                               : printable_lines(pivot && options.by.empty() ? pivot_table(comparison, *pivot)
                                                                             : comparison_table(comparison)));
    for (PublishedRow& row : published_rows(plan, outcomes)) published.push_back(std::move(row));
    std::cout.flush();
    warn_of_versions(outcomes);
    name_failures(plan, directory, outcomes);
    if (options.show) name_outdated(outdated);
    if (const std::size_t left = missing(outcomes))
        std::cerr << fmt::format("heddle: {} of {} cells are missing\n", grouped(left),
                                 grouped(plan.cells.size()));
    for (std::size_t i = 0; i < outcomes.size(); ++i)
        if (is_asked_for(options, plan.cells[i]) &&
            (outcomes[i].bad() || outcomes[i].state == Outcome::State::missing))
            return wrong_answer;
    return success;
}

/// The job array of the cells that need `processes` processes each, and how many cells these are.
SlurmOptions slurm_array(const CompareOptions& options, const Plan& plan, NodeId processes,
                         std::size_t& cells) {
    constexpr std::size_t tasks_max = 100;
    SlurmOptions slurm;
    slurm.name = plan.combinations.base.name;
    slurm.processes = processes;
    slurm.sbatch = options.sbatch;
    cells = 0;
    for (const Cell& cell : plan.cells) {
        if (cell.processes != processes) continue;
        ++cells;
        slurm.alone = slurm.alone || cell.alone;
        const configs::Experiment& experiment = plan.combination(cell).experiment;
        if (experiment.backend == configs::Backend::native)
            slurm.cores = std::max(slurm.cores, experiment.platform.cores);
    }
    slurm.tasks = std::min(options.tasks > 0 ? options.tasks : tasks_max, cells);
    return slurm;
}

void submit(const std::string& path) {
    std::cout.flush();
    try {
        if (const int code = host::run_command({"sbatch", path}); code != 0)
            throw Error(fmt::format("sbatch ended with exit code {}", code));
    } catch (const Error& error) {
        throw Error(error.message(), fmt::format("submit {} where Slurm is", path));
    }
}

/// Once for all tasks: each of them would run again what others of them have found to fail.
void forget_failures(const Plan& plan, const std::string& directory) {
    for (const Cell& cell : plan.cells)
        if (results::read_outcome(directory, cell.name).bad()) results::forget_cell(directory, cell.name);
}

/// Writes a job array for each number of processes that cells need, and submits them where that is wanted.
int make_slurm(const CompareOptions& options, const std::string& file, const Plan& plan,
               const std::string& directory) {
    std::set<NodeId> shapes;
    for (const Cell& cell : plan.cells) {
        shapes.insert(cell.processes);
        const configs::Experiment& experiment = plan.combination(cell).experiment;
        if (experiment.backend != configs::Backend::native || experiment.is_stated("platform.cores"))
            continue;
        throw Error("native cells take their number of cores from the machine, which is another one in a job",
                    "state platform.cores", experiment.where("platform"));
    }
    std::vector<std::string> words = {"compare", file, "--out", directory};
    for (const configs::Override& given : overrides_of(options.overrides))
        words.insert(words.end(), {"--set", fmt::format("{}={}", given.key, given.value)});
    for (const std::string& key : options.by) words.insert(words.end(), {"--by", key});
    if (options.retry_failed) forget_failures(plan, directory);
    for (const NodeId processes : shapes) {
        std::size_t cells = 0;
        SlurmOptions slurm = slurm_array(options, plan, processes, cells);
        slurm.directory = directory;
        slurm.working_directory = std::filesystem::current_path().string();
        slurm.words = words;
        slurm.words.insert(slurm.words.begin(), host::own_program());
        if (options.jobs > 0) slurm.words.insert(slurm.words.end(), {"--jobs", std::to_string(options.jobs)});
        if (options.record) slurm.words.emplace_back("--record");
        const std::string path =
            directory + (processes == 1 ? "/compare.slurm" : fmt::format("/compare-{}.slurm", processes));
        results::write_atomically(path, slurm_script(slurm));
        std::cout << fmt::format("{}: {} cells in {} tasks{}\n", path, grouped(cells), grouped(slurm.tasks),
                                 processes == 1 ? "" : fmt::format(" of {} processes", processes));
        if (options.submit)
            submit(path);
        else
            std::cout << fmt::format("submit it with: sbatch {}\n", host::shell_words({path}));
    }
    std::cout << fmt::format("when {} ended, the table comes from: heddle {}\n",
                             shapes.size() == 1 ? "it has" : "they have", host::shell_words(words));
    return success;
}

std::string directory_of(const CompareOptions& options, const Plan& plan) {
    const std::string& name = plan.combinations.base.name;
    if (options.out.empty()) return "comparisons/" + name;
    return options.files.size() == 1 ? options.out : options.out + "/" + name;
}

void greet(const Plan& plan, const RunnerOptions& runner, const std::vector<Outcome>& outcomes) {
    const std::size_t there = outcomes.size() - missing(outcomes);
    std::cerr << fmt::format(
        "{}: {} combinations, {} cells{}{}; results in {}\n", plan.combinations.base.name,
        grouped(plan.combinations.all.size()), grouped(plan.cells.size()),
        there == 0 ? ""
                   : fmt::format(", {} of them there already (same configuration, files and program)",
                                 grouped(there)),
        runner.shards > 1 ? fmt::format(", share {} of {}", runner.shard, runner.shards) : "",
        runner.directory);
    const Outdated outdated = outdated_results(plan.cells, runner.directory, outcomes);
    for (const auto& [change, cells] : outdated.by_change)
        std::cerr << fmt::format("  {} of the others are run again: {}\n", grouped(cells), change);
    if (outdated.others > 0) std::cerr << "  " << outdated.others_in_words() << "\n";
}

/// Reads the outcomes once more, and says how many results were there and are not any more: another process
/// has removed them, or the whole directory.
void say_what_vanished(const Plan& plan, const std::string& directory, std::vector<Outcome>& outcomes) {
    std::vector<Outcome> now = read_outcomes(plan.cells, directory);
    std::size_t vanished = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
        const bool was = outcomes[i].state != Outcome::State::missing;
        if (was && now[i].state == Outcome::State::missing) ++vanished;
    }
    outcomes = std::move(now);
    if (vanished > 0)
        std::cerr << fmt::format(
            "heddle: {} results in {} vanished while this ran; the same command makes them again\n",
            grouped(vanished), directory);
}

int stopped_by(int signal, const std::string& directory, const std::vector<Outcome>& outcomes) {
    std::cerr << fmt::format(
        "heddle: stopped with {} of {} cells finished; the same command goes on from here "
        "({})\n",
        grouped(outcomes.size() - missing(outcomes)), grouped(outcomes.size()), directory);
    return 128 + signal;
}

int compare_file(const CompareOptions& options, const Plan& plan, const std::string& file,
                 std::vector<PublishedRow>& published) {
    // A mistake in --by is to be known before hours of work.
    compare_outcomes(plan, std::vector<Outcome>(plan.cells.size()), options.by);
    RunnerOptions runner;
    runner.directory = directory_of(options, plan);
    runner.width = options.jobs > 0 ? options.jobs : host::machine_cores();
    runner.retry_failed = options.retry_failed;
    runner.claim = options.claim;
    runner.record = options.record;
    runner.processes = options.processes;
    if (!options.shard.empty()) read_shard(options.shard, runner);
    if (options.show)
        return conclude(options, plan, runner.directory, read_outcomes(plan.cells, runner.directory),
                        published);
    const results::Store store(runner.directory, results::Store::Tables::leave);  // it can be written
    if (options.slurm) return make_slurm(options, file, plan, runner.directory);

    std::vector<Outcome> outcomes = read_outcomes(plan.cells, runner.directory);
    greet(plan, runner, outcomes);
    if (const int signal = run_cells(plan, runner, outcomes))
        return stopped_by(signal, runner.directory, outcomes);
    say_what_vanished(plan, runner.directory, outcomes);
    if (runner.shards == 1 && !runner.claim)
        return conclude(options, plan, runner.directory, outcomes, published);

    // Other shares may have finished meanwhile: the last of them prints the table.
    outcomes = read_outcomes(plan.cells, runner.directory);
    if (missing(outcomes) == 0) return conclude(options, plan, runner.directory, outcomes, published);
    if (runner.claim)
        std::cerr << fmt::format(
            "no more cells{} to run; {} are missing, which other tasks run\n",
            options.processes == 0 ? "" : fmt::format(" of {} processes", options.processes),
            grouped(missing(outcomes)));
    else
        std::cerr << fmt::format("share {} of {} is finished; {} cells of others are missing\n", runner.shard,
                                 runner.shards, grouped(missing(outcomes)));
    std::size_t bad = 0;
    for (std::size_t i = runner.shard; i < outcomes.size(); i += runner.shards)
        bad += is_asked_for(options, plan.cells[i]) && outcomes[i].bad() ? 1 : 0;
    return bad == 0 ? success : wrong_answer;
}

/// Throws Error if --processes leaves all cells of all files out.
void check_processes(NodeId processes, const std::vector<Plan>& plans) {
    if (processes == 0) return;
    std::set<NodeId> needed;
    for (const Plan& plan : plans)
        for (const Cell& cell : plan.cells) needed.insert(cell.processes);
    if (!needed.contains(processes))
        throw Error(fmt::format("--processes {}: no cell needs so many", processes),
                    fmt::format("these need {}", fmt::join(needed, ", ")));
}

int compare(const CompareOptions& options) {
    refuse_launch("compare", "native cells are launched on as many nodes as they state");
    // A mistake in the last file is to be known before the first one runs.
    std::vector<Plan> plans;
    std::set<std::string> directories;
    for (const std::string& file : options.files) {
        if (!options.show) expect_readable_by_cells(file);
        plans.push_back(make_plan(file, overrides_of(options.overrides)));
        if (!directories.insert(directory_of(options, plans.back())).second)
            throw Error(fmt::format("two comparisons have the name {}", plans.back().combinations.base.name),
                        "give one of them another `name`", {file, 0});
        if (!options.show) refuse_shared_outputs(plans.back(), directory_of(options, plans.back()));
    }
    check_processes(options.processes, plans);
    std::vector<PublishedRow> published;
    int code = success;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (i > 0 && !options.json) std::cout << "\n";
        const int of_file = compare_file(options, plans[i], options.files[i], published);
        if (of_file > 128) return of_file;  // stopped
        code = std::max(code, of_file);
    }
    if (!published.empty() && !options.json) std::cout << "\n" << printable_lines(published_table(published));
    return code;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
    const auto options = std::make_shared<CompareOptions>();
    CLI::App* verb = app.add_subcommand("compare", "run every combination of a file's compare section");
    verb->add_option("FILE", options->files, "experiments, YAML files with a compare section each")
        ->required();
    add_override_options(*verb, options->overrides);
    verb->add_option("--out", options->out,
                     "directory for results, where a comparison that was cut off goes on; comparisons/NAME; "
                     "of several files: DIR/NAME each")
        ->type_name("DIR");
    verb->add_option("--by", options->by, "group by this key, as often as you like; all but the last")
        ->type_name("KEY")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    verb->add_option("--jobs", options->jobs, "processes at a time; as many as the machine has cores")
        ->check(CLI::Range(1, 4096));
    verb->add_flag("--retry-failed", options->retry_failed, "run again what failed earlier");
    verb->add_flag("--show", options->show, "run and write nothing, and show what is there");
    verb->add_flag("--json", options->json, "print one JSON object for each file and nothing else");
    verb->add_option("--shard", options->shard, "run only cells i, i + n, i + 2n, ...")->type_name("i/n");
    verb->add_flag("--record", options->record,
                   "record what workers and tasks did in the first run of each combination (tasks.csv, "
                   "workers.csv, timeline.csv)");
    verb->add_flag("--claim", options->claim,
                   "run only cells that no other process with this option runs; they share --out");
    verb->add_option("--processes", options->processes,
                     "run only cells that need so many processes: natively as many as nodes, simulated one")
        ->check(CLI::PositiveNumber);
    verb->add_flag(
        "--slurm", options->slurm,
        "write DIR/compare.slurm, a job array, and DIR/compare-N.slurm for cells of N processes; run "
        "nothing");
    verb->add_flag("--submit", options->submit, "with --slurm: submit them");
    verb->add_option("--tasks", options->tasks, "with --slurm: tasks of each array; at most 100")
        ->check(CLI::Range(1, 100000));
    verb->add_option("--sbatch", options->sbatch,
                     "with --slurm: an option for sbatch, such as --sbatch=--time=1:00:00")
        ->type_name("OPTION")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    refuse_beside(*verb, "--show",
                  {"--retry-failed", "--record", "--shard", "--claim", "--processes", "--slurm"});
    refuse_beside(*verb, "--slurm", {"--json", "--shard", "--processes"});
    need_beside(*verb, "--slurm", {"--submit", "--tasks", "--sbatch"});
    verb->callback([options, &action] { action = [options] { return compare(*options); }; });
}

}  // namespace heddle::cli
