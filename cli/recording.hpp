// The options of `heddle run` for traces and tables of tasks, and the recorder that they ask for.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/gantt.hpp"
#include "cli/worlds.hpp"
#include "results/trace_parts.hpp"
#include "results/trace_recorder.hpp"

namespace heddle::cli {

struct RecordingOptions {
    std::string trace;
    std::string tasks;
    std::optional<std::uint64_t> tasks_max;  ///< not stated: a million
    bool gantt = false;
    bool tables = false;  ///< tasks.csv, workers.csv and timeline.csv in the cell's directory

    bool any() const { return !trace.empty() || !tasks.empty() || gantt || tables; }
};

void add_recording_options(CLI::App& verb, RecordingOptions& options);

/// Throws Error if several runs would be recorded, if none is and the record has a limit, or if a file would
/// replace another one of this run, whose results go to `out` (empty: nowhere).
void check_recording(const RecordingOptions& options, const configs::Experiment& experiment,
                     const std::string& out);

/// The recorder of this process's part of one run.
class RunRecording {
public:
    /// `cell`: the directory for the tables of RecordingOptions::tables. Throws Error if a file cannot be
    /// written. Only node 0's process writes files.
    RunRecording(const RecordingOptions& options, const Part& part, const std::string& cell = {});

    /// Null if the options ask for no record.
    Recorder* recorder();

    /// What the tasks of this workload are called. Until the end of the run.
    void name_tasks(const workloads::Workload& workload);

    /// clock_error_seconds of the world that has run.
    void note_clock_error(double seconds) { clock_error_seconds_ = seconds; }

    /// The files take their places. Throws Error.
    void commit();

    /// What a reader of the record must know. `tasks`: how many the run has counted.
    std::vector<std::string> remarks(const RecordingOptions& options, std::uint64_t tasks) const;

    /// Empty without --gantt.
    std::string picture() const { return gantt_ ? gantt_->picture() : ""; }

private:
    std::optional<results::TraceRecorder> whole_;
    std::optional<results::PartRecorder> part_;
    std::optional<RunGantt> gantt_;
    double clock_error_seconds_ = 0;
};

}  // namespace heddle::cli
