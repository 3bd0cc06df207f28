// Makes the recorders that options of `heddle run` ask for, and says what they have left out.
#include "cli/recording.hpp"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include "base/output_file.hpp"
#include "base/units.hpp"
#include "cli/option_rules.hpp"
#include "cli/text_table.hpp"
#include "configs/output_files.hpp"

namespace heddle::cli {

namespace {

constexpr std::uint64_t tasks_max_default = 1'000'000;

void refuse_output_as(const std::string& file, const char* option, const configs::Experiment& experiment) {
    for (const configs::NamedOutput& output : configs::output_files(experiment)) {
        if (same_file(file, output.path))
            throw Error(fmt::format("{} and {} are both {}", output.key, option, file),
                        "name another file for one of them", output.where);
    }
}

}  // namespace

void check_recording(const RecordingOptions& options, const configs::Experiment& experiment,
                     const std::string& out) {
    if (options.tasks_max && !options.any())
        throw Error("--tasks-max limits a record, and none is wanted",
                    "add --trace FILE, --tasks FILE, --gantt or --record");
    const std::vector<std::string> inputs = configs::files_read(experiment);
    refuse_input_as_out(options.trace, inputs, "--trace");
    refuse_input_as_out(options.tasks, inputs, "--tasks");
    if (same_file(options.trace, options.tasks))
        throw Error(fmt::format("--trace and --tasks are both {}", options.tasks),
                    "name another file for one of them");
    refuse_output_as(options.trace, "--trace", experiment);
    refuse_output_as(options.tasks, "--tasks", experiment);
    configs::refuse_output_among_results(experiment, out);
    if (experiment.repeat == 1 || !options.any()) return;
    const char* option = !options.trace.empty()   ? "--trace"
                         : !options.tasks.empty() ? "--tasks"
                         : options.gantt          ? "--gantt"
                                                  : "--record";
    throw Error(fmt::format("{} records one run, and there are {}", option, experiment.repeat),
                "add --repeat 1, and --seed for the run that you mean", experiment.where("repeat"));
}

void add_recording_options(CLI::App& verb, RecordingOptions& options) {
    verb.add_option("--trace", options.trace,
                    "record what every worker does, every task and every message: *.pftrace for Perfetto, "
                    "*.paje or *.trace for Paje viewers, with .gz at the end compressed")
        ->type_name("FILE");
    verb.add_option(
            "--tasks", options.tasks,
            "write a table of the tasks, in CSV: kernel, worker, times, from where it was stolen; with "
            ".gz at the end compressed")
        ->type_name("FILE");
    verb.add_option("--tasks-max", options.tasks_max,
                    "record this many tasks at most, the first ones to begin (1,000,000)")
        ->type_name("N");
    verb.add_flag("--record", options.tables,
                  "with --out: write tasks.csv, workers.csv and timeline.csv into the run's directory");
    verb.add_flag("--gantt", options.gantt, "draw the run: a line for each worker");
}

RunRecording::RunRecording(const RecordingOptions& options, const Part& part, const std::string& cell) {
    if (!options.any()) return;
    if (!part.speaks()) {
        part_.emplace();
        return;
    }
    whole_.emplace(
        results::TraceRecorder::Options{options.tasks_max.value_or(tasks_max_default), part.nodes > 1});
    if (!options.trace.empty()) whole_->add_trace(options.trace);
    if (!options.tasks.empty()) whole_->add_task_table(options.tasks);
    if (options.gantt) whole_->add(gantt_.emplace());
    if (!options.tables) return;
    whole_->add_task_table(cell + "/tasks.csv");
    whole_->add_worker_table(cell + "/workers.csv");
    whole_->add_timeline(cell + "/timeline.csv");
}

Recorder* RunRecording::recorder() {
    if (whole_) return &*whole_;
    return part_ ? &*part_ : nullptr;
}

void RunRecording::name_tasks(const workloads::Workload& workload) {
    if (whole_) whole_->name_tasks([&workload](std::uint64_t task) { return workload.label(task); });
}

void RunRecording::commit() {
    if (whole_) whole_->commit();
}

std::vector<std::string> RunRecording::remarks(const RecordingOptions& options, std::uint64_t tasks) const {
    if (!whole_) return {};
    std::vector<std::string> remarks;
    const std::uint64_t recorded = whole_->tasks_recorded();
    const std::uint64_t begun = recorded + whole_->tasks_left_out();
    if (begun > recorded) {
        remarks.push_back(fmt::format("the record has the first {} of {} tasks; --tasks-max {} records all",
                                      grouped(options.tasks_max.value_or(tasks_max_default)), grouped(begun),
                                      begun));
    }
    if (begun < tasks) {
        remarks.push_back(
            fmt::format("{} of {} tasks are not in the record: each was a plain call inside another task, "
                        "and such a call "
                        "is not observed",
                        grouped(tasks - begun), grouped(tasks)));
    }
    if (clock_error_seconds_ > 0) {
        remarks.push_back(fmt::format("in the record, times of nodes on other machines may be off by {}",
                                      show_seconds(clock_error_seconds_)));
    }
    return remarks;
}

}  // namespace heddle::cli
