// `heddle run`: runs one experiment, natively or in simulation, and prints its results.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>

#include "base/printable.hpp"
#include "base/units.hpp"
#include "cli/option_rules.hpp"
#include "cli/override_options.hpp"
#include "cli/progress_line.hpp"
#include "cli/recording.hpp"
#include "cli/steal_matrix.hpp"
#include "cli/text_table.hpp"
#include "cli/verbs.hpp"
#include "cli/worlds.hpp"
#include "configs/experiment.hpp"
#include "host/machine.hpp"
#include "host/wall_clock.hpp"
#include "results/lower_bound.hpp"
#include "results/record.hpp"
#include "results/sharing_report.hpp"
#include "results/store.hpp"
#include "runtime/native/job_start.hpp"
#include "runtime/native/job_step.hpp"
#include "runtime/native/launch.hpp"
#include "runtime/native/mpi_mesh.hpp"
#include "runtime/run/execution.hpp"
#include "workloads/blas.hpp"

namespace heddle::cli {

namespace {

using results::Record;

struct RunOptions {
    std::string file;
    OverrideOptions overrides;
    std::string out;
    RecordingOptions recording;
    bool no_tables = false;
    bool json = false;
    bool sharing = false;
    bool resolve = false;
    bool progress = false;
    unsigned sim_threads = 0;  ///< as many as are worth it
};

/// What a program throws is no mistake of Heddle's. What the system lacks is told apart by the caller.
runtime::RunResult result_of(runtime::Execution& execution) {
    try {
        return execution.run();
    } catch (const Error&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::system_error&) {
        throw;
    } catch (const std::exception& failure) {
        throw Error(fmt::format("an exception ended the run: {}", failure.what()));
    }
}

/// Throws Error if a file has changed since the run began: then it is unknown what the run has read.
void require_unchanged(const Record& record) {
    const std::string changed =
        configs::changed(record.determinants, configs::determinants_of(record.experiment));
    if (!changed.empty())
        throw Error(fmt::format("{} during the run", changed), "run it again: its result is not kept");
}

/// One run, from its world's beginning to its judged answer. Nothing where another process has the answer.
std::optional<Record> run_once(const configs::Experiment& experiment, ProgressLine::When when,
                               unsigned sim_threads, RunRecording& recording) {
    configs::Determinants determinants = configs::determinants_of(experiment);
    const auto workload = experiment.make_workload();
    if (experiment.backend != configs::Backend::sim) {
        sim_threads = 0;
    } else if (sim_threads == 0) {
        // Threads beside each other would lengthen the times of measured code.
        const bool declared = experiment.compute == configs::Compute::declared;
        sim_threads = declared ? sim_threads_worth(experiment.platform.machines()) : 1;
    }
    auto world = make_world(experiment, sim_threads);
    const double placing = host::wall_seconds();
    workload->prepare(cluster_view(experiment, *world), experiment.schedule);
    const double began = host::wall_seconds();
    Record record{
        experiment, std::move(determinants), world->topology(), workload->forecast(), {}, {}, versions(), {},
        {}};
    record.timing.placement_seconds = began - placing;
    recording.name_tasks(*workload);
    {
        runtime::Execution execution(
            *world, experiment.schedule, [&workload](NodeId node) { return workload->program(node); },
            recording.recorder());
        const ProgressLine line(execution, fmt::format("{}, seed {}", experiment.name, experiment.seed),
                                when);
        record.result = result_of(execution);
    }
    record.timing.wall_seconds = host::wall_seconds() - began;
    record.warnings = warnings_of(*world);
    recording.note_clock_error(clock_error_seconds(*world));
    record.timing.hosts = hosts_of(*world);
    record.versions.openblas = workloads::blas_version();
    if (mpi_carries(experiment)) record.versions.mpi = native::mpi_version();
    if (record.result.makespan == Time::zero() && record.result.total.tasks > 0) {
        record.warnings.emplace_back(
            "no task declared work, so that the makespan is 0: let tasks declare it (Strand::work, "
            "Worker::compute), or give them the settings that do");
    }
    world.reset();  // a helper process of the world's is counted once it has ended
    if (!record.result.complete) return std::nullopt;
    require_unchanged(record);
    record.verdict = workload->check(record.result);
    record.timing.peak_memory_bytes = host::peak_memory_bytes() + host::peak_memory_of_helpers_bytes();
    record.timing.host = host::host_name();
    record.timing.sim_threads = sim_threads;
    return record;
}

std::string answer_in_words(const Record& record) {
    std::string words;
    for (const runtime::AnswerValue& value : record.result.answer) {
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", value.name, value.value);
    }
    return words;
}

std::string verdict_in_words(const workloads::Verdict& verdict) {
    using Kind = workloads::Verdict::Kind;
    const char* word = verdict.kind == Kind::right   ? "right"
                       : verdict.kind == Kind::wrong ? "WRONG"
                                                     : "not checked";
    return verdict.reason.empty() ? word : fmt::format("{} ({})", word, verdict.reason);
}

/// What the workers did with their time, in hundredths of it.
std::string times_in_words(const ActivityTotals& times) {
    std::string words;
    for (const Activity activity : all_activities) {
        const double share =
            times.sum() > TimeSum::zero() ? to_seconds(times[activity]) / to_seconds(times.sum()) : 0;
        words += fmt::format("{}{} {:.1f}%", words.empty() ? "" : ", ", name(activity), 100 * share);
    }
    return words;
}

std::string wall_time_in_words(const results::Timing& timing) {
    const std::string time = show_seconds(timing.wall_seconds);
    return timing.sim_threads > 1 ? fmt::format("{}, {} threads", time, timing.sim_threads) : time;
}

/// The end of the line of a makespan: what the placement promised, and what no schedule can fall below.
std::string expectations(const Record& record) {
    std::string words;
    if (const auto promised = record.forecast.makespan_seconds)
        words += fmt::format(", promised {}", show_seconds(*promised));
    if (const auto bound = results::lower_bound_seconds(record))
        words += fmt::format(", bound {}", show_seconds(*bound));
    return words;
}

/// Groups are told only if there are several.
std::string steals_in_words(const Record& record) {
    const runtime::Counters& total = record.result.total;
    std::string text = fmt::format("{} within nodes, {} between nodes", grouped(total.steals_within_node),
                                   grouped(total.steals_between_nodes));
    if (record.topology.distances.groups() > 1)
        text += fmt::format(", {} of these between groups", grouped(results::steals_between_groups(record)));
    return text;
}

/// A line for each node that took part for a while only.
std::string members_in_words(const Record& record) {
    std::string text;
    for (const auto& [node, membership] : record.result.members) {
        const auto at = [](Time time) { return show_seconds(to_seconds(time)); };
        std::string what;
        if (membership.began == never) what = " did not join";
        if (membership.began != never && membership.began != Time::zero())
            what = fmt::format(" joined at {}", at(membership.began));
        if (membership.ended != Time::zero())
            what += fmt::format("{} left at {}", what.empty() ? "" : ",", at(membership.ended));
        text += fmt::format("  node {}{}; {} tasks\n", node, what, grouped(record.result.nodes[node].tasks));
    }
    return text;
}

std::string table_of(const Record& record) {
    const runtime::Counters& total = record.result.total;
    const configs::Experiment& experiment = record.experiment;
    const bool virtual_time = experiment.backend != configs::Backend::native;
    std::string text = fmt::format("{}: {} on {} x {} {} (seed {})\n", experiment.name, experiment.kind->name,
                                   record.topology.nodes, record.topology.cores,
                                   configs::name(experiment.backend), experiment.seed);
    text += columns({{"  answer", answer_in_words(record)},
                     {"  check", verdict_in_words(record.verdict)},
                     {"  makespan", fmt::format("{}{}{}", show_seconds(to_seconds(record.result.makespan)),
                                                virtual_time ? " (virtual)" : "", expectations(record))},
                     {"  time", times_in_words(total.times)},
                     {"  tasks", grouped(total.tasks)},
                     {"  steals", steals_in_words(record)},
                     {"  messages", fmt::format("{} ({})", grouped(total.messages),
                                                show_bytes(static_cast<double>(total.bytes)))},
                     {"  wall time", wall_time_in_words(record.timing)},
                     {"  memory", show_bytes(static_cast<double>(record.timing.peak_memory_bytes))}},
                    2);
    text += members_in_words(record);
    for (const std::string& warning : record.warnings) text += fmt::format("  warning: {}\n", warning);
    return text + steal_matrix(record);
}

std::string table_of(const std::vector<Record>& records) {
    const std::size_t median = results::median_run(records);
    std::vector<std::vector<std::string>> rows = {
        {"seed", "answer", "makespan", "tasks", "steals within", "between nodes", "wall time", ""}};
    for (std::size_t i = 0; i < records.size(); ++i) {
        const Record& record = records[i];
        const runtime::Counters& total = record.result.total;
        rows.push_back({std::to_string(record.experiment.seed),
                        record.ok() ? answer_in_words(record) : "WRONG",
                        show_seconds(to_seconds(record.result.makespan)), grouped(total.tasks),
                        grouped(total.steals_within_node), grouped(total.steals_between_nodes),
                        show_seconds(record.timing.wall_seconds), i == median ? "median" : ""});
    }
    return columns(rows, 2) + "\n" + table_of(records[median]);
}

/// The experiment, and by MPI the part that this process takes. Nothing if the process of node 0 says what is
/// wrong; then `code` is this process's exit code, the same as that one's: a launcher takes the code of the
/// process that ends first.
std::optional<configs::Experiment> read_experiment(const RunOptions& options, Part& part, int& code) {
    const bool by_launch = part.launched;
    std::vector<configs::Override> overrides = overrides_of(options.overrides);
    if (by_launch)
        overrides.push_back({"platform.nodes", std::to_string(part.nodes),
                             part.at_start ? "heddle launch --capacity" : "heddle launch -n"});
    if (part.at_start)
        overrides.push_back({"platform.nodes_at_start", std::to_string(*part.at_start), "heddle launch -n"});
    configs::Experiment experiment;
    try {
        experiment = configs::read_experiment(options.file, overrides);
        const bool alone = !part.launched && !options.resolve;
        if (alone) part = part_by_job(experiment, part);
        if (alone && part.launched) {
            overrides.push_back({"platform.nodes", std::to_string(part.nodes), "srun -n"});
            experiment = configs::read_experiment(options.file, overrides);
        }
        if (alone && !part.launched) refuse_copies(experiment);
        if (by_mpi(experiment) && !options.resolve) {
            part = part_by_mpi(experiment, part);
            if (part.launched && !experiment.is_stated("platform.nodes")) {
                overrides.push_back({"platform.nodes", std::to_string(part.nodes), "mpirun -n"});
                experiment = configs::read_experiment(options.file, overrides);
            }
        }
        if (!options.resolve) settle(experiment, part);
        check_recording(options.recording, experiment, options.out);
    } catch (const Error& error) {
        const auto step = native::job_step();
        const bool alone = step && !part.launched;
        if (by_launch && !part.by_mpi) {
            // A node that joins later may meet a mistake of its own.
            const bool joins = part.at_start && part.rank >= *part.at_start;
            if (!part.speaks() && !joins) native::let_node_0_speak();
            throw;
        }
        if (alone ? !native::fail_in_job() || step->rank == 0 : part.speaks() || part.by_mpi) throw;
        code = exit_code_of(error);
        return std::nullopt;
    }
    return experiment;
}

int run(const RunOptions& options) {
    Part part = part_of_this_process();
    int code = success;
    const std::optional<configs::Experiment> read = read_experiment(options, part, code);
    if (!read) return code;
    const configs::Experiment& experiment = *read;
    if (options.resolve) {
        if (part.speaks()) {
            std::cout << (options.json ? configs::resolved_json(experiment, configs::Paths::absolute) + "\n"
                                       : configs::resolved_yaml(experiment));
        }
        return success;
    }
    if (options.recording.tables && options.out.empty())
        throw Error("--record writes into the directory of results, and none is named", "add --out DIR");
    std::optional<results::Store> store;
    if (part.speaks() && !options.out.empty()) {
        store.emplace(options.out,
                      options.no_tables ? results::Store::Tables::leave : results::Store::Tables::write);
    }

    const bool tables = store && options.recording.tables;
    RunRecording recording(options.recording, part,
                           tables ? store->make_cell(configs::determinants_of(experiment)) : std::string());

    const auto when = !part.speaks()     ? ProgressLine::When::never
                      : options.progress ? ProgressLine::When::always
                                         : ProgressLine::When::on_terminal;
    std::vector<Record> records;
    std::optional<Error> unrecorded;
    std::exception_ptr failed;
    for (std::uint32_t i = 0; i < experiment.repeat; ++i) {
        std::optional<Record> record;
        try {
            record =
                run_once(experiment.with_seed(experiment.seed + i), when, options.sim_threads, recording);
        } catch (...) {
            if (records.empty()) throw;
            failed = std::current_exception();  // the earlier runs have results all the same
            break;
        }
        if (!record) continue;
        try {
            recording.commit();
        } catch (const Error& error) {
            unrecorded = error;  // the run has a result all the same
        }
        if (store)
            store->write(*record, tables && !unrecorded ? results::Store::Recorded::yes
                                                        : results::Store::Recorded::no);
        records.push_back(std::move(*record));
    }
    if (records.empty()) return success;  // another process speaks
    for (const std::string& remark : recording.remarks(options.recording, records[0].result.total.tasks))
        std::cerr << fmt::format("heddle: {}\n", remark);

    std::cout << (options.json
                      ? results::summary_json(records)
                      : printable_lines(records.size() == 1 ? table_of(records[0]) : table_of(records)));
    if (options.sharing)
        std::cout << "\n"
                  << printable_lines(
                         results::sharing_text(records[results::median_run(records)].result.sharing));
    if (options.recording.gantt) std::cout << "\n" << printable_lines(recording.picture());
    if (store && !options.json) std::cout << fmt::format("results in {}\n", options.out);
    std::cout.flush();
    if (unrecorded) std::cerr << fmt::format("heddle: {}\n", unrecorded->what());
    if (failed) std::rethrow_exception(failed);
    const auto wrong =
        std::find_if(records.begin(), records.end(), [](const Record& record) { return !record.ok(); });
    if (wrong == records.end()) return unrecorded ? mistake : success;
    std::cerr << fmt::format("heddle: wrong answer (seed {}): {}\n", wrong->experiment.seed,
                             printable(wrong->verdict.reason));
    return wrong_answer;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
    const auto options = std::make_shared<RunOptions>();
    CLI::App* verb = app.add_subcommand("run", "run an experiment and check its answer");
    verb->add_option("FILE", options->file, "the experiment, a YAML file")->required();
    add_override_options(*verb, options->overrides);
    verb->add_flag("--json", options->json, "print one JSON object and nothing else");
    verb->add_option("--out", options->out, "directory for results: a subdirectory for each cell, runs.csv")
        ->type_name("DIR");
    add_recording_options(*verb, options->recording);
    verb->add_flag("--sharing", options->sharing,
                   "show what the arrays of the shared memory did, and which pages were falsely shared");
    verb->add_flag(
        "--no-tables", options->no_tables,
        "with --out: write the cells alone, and leave runs.csv to the process that started this run");
    verb->add_flag("--resolve", options->resolve,
                   "print the configuration with every default, and run nothing");
    verb->add_flag("--progress", options->progress,
                   "show progress even where standard error is not a terminal");
    verb->add_option(
            "--sim-threads", options->sim_threads,
            "threads that a simulation may use, else as many as are worth it on this machine; what it "
            "finds is the same with any number")
        ->check(CLI::Range(1, 256));
    refuse_beside(*verb, "--json", {"--gantt", "--sharing"});
    refuse_beside(*verb, "--resolve", {"--out", "--trace", "--tasks", "--record", "--gantt", "--sharing"});
    need_beside(*verb, "--out", {"--no-tables"});
    verb->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace heddle::cli
