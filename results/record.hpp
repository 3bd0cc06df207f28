// All measured values of one finished run, as JSON and as rows of tables. Writes no files: results/store.hpp
// does.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "configs/cell.hpp"
#include "configs/experiment.hpp"
#include "runtime/run/execution.hpp"
#include "workloads/workload.hpp"

namespace heddle::results {

/// What a result depends on besides its configuration.
struct Versions {
    std::string heddle;
    std::string simgrid;  ///< empty where it is not built in
    std::string compiler;
    std::string metis = {};
    std::string scotch = {};
    std::string openblas = {};  ///< empty unless the run has loaded it
    std::string mpi = {};       ///< empty unless it carried the run's messages
};

/// What a run cost the machine that it ran on: the only part of a record that may differ between two
/// simulations of one configuration.
struct Timing {
    double wall_seconds = 0;
    double placement_seconds = 0;  ///< before the run, on this process
    std::uint64_t peak_memory_bytes = 0;
    std::string host;
    std::vector<std::string> hosts = {};  ///< natively: of each node, by number
    unsigned sim_threads = 0;             ///< threads that simulated; 0 natively
};

struct Record {
    configs::Experiment experiment;      ///< of this run: its seed is the run's
    configs::Determinants determinants;  ///< of this run, as they were before it began
    runtime::Topology topology;          ///< as it was built
    workloads::Forecast forecast;
    runtime::RunResult result;
    workloads::Verdict verdict;
    Versions versions;
    Timing timing;
    std::vector<std::string> warnings;  ///< what a reader of the result must know, a sentence or two each

    bool ok() const { return verdict.kind != workloads::Verdict::Kind::wrong; }
};

/// Everything but the timing: the same, byte for byte, for every simulation of one configuration.
std::string result_json(const Record& record);

/// The timing alone.
std::string timing_json(const Record& record);

/// What `run --json` prints: one line with all fields (docs/results.md). For several runs, those of the run
/// with the median makespan, and all of them in `runs`. `ok` says that all were right. At least one record.
std::string summary_json(const std::vector<Record>& records);

/// Index of the run with the median makespan (of two, the shorter).
std::size_t median_run(const std::vector<Record>& records);

/// Of the tasks that were stolen between nodes, those whose thief and victim are in different groups of the
/// network.
std::uint64_t steals_between_groups(const Record& record);

/// Thief, victim, tasks: a line each, with a header.
std::string steals_csv(const Record& record);

/// A key as the name of a column that can be an attribute in Python and R: `platform.nodes` is
/// `platform_nodes`.
std::string column(const std::string& key);

/// Names and values of a row: of runs.csv, which has a column for each variable, and of timings.csv.
using Row = std::vector<std::pair<std::string, std::string>>;
Row run_row(const Record& record);
Row timing_row(const Record& record);

/// The same rows from the text of a cell's result.json and timing.json. Throws Error for any other text.
Row run_row(const std::string& result_json_text);
Row timing_row(const std::string& cell, const std::string& timing_json_text);

}  // namespace heddle::results
