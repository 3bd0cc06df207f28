// The cells of a comparison (one cell: one configuration with one seed) in a directory of results: which are
// finished, which failed and why, and tables over all of them. Starts nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/cell.hpp"

namespace heddle::results {

/// Why a cell has no result.
struct Failure {
    std::string error;    ///< what it said last
    int exit_code = 0;    ///< 128 + signal where a signal ended it
    std::string command;  ///< that runs it again, for a shell in any folder
};

/// What a cell's directory holds.
struct Outcome {
    enum class State : std::uint8_t {
        missing,  ///< never run, or cut off
        right,    ///< finished; its answer is right or could not be checked
        wrong,    ///< finished with a wrong answer
        failed    ///< ended without a result
    };

    State state = State::missing;
    double makespan_seconds = 0;
    /// No schedule of the same work on this machine is shorter, if such a bound is known.
    std::optional<double> lower_bound_seconds;
    /// Equal for runs of one workload on one machine, whatever their schedules and seeds are.
    std::string work_and_machine;
    bool deterministic = false;  ///< the same seed gives the same run: not natively
    double workers = 0;          ///< cores of all nodes
    double declared_flops = 0;   ///< of all tasks; 0 if unknown
    /// What else was counted, by the names of runs.csv.
    std::vector<std::pair<std::string, double>> counted;
    /// Of the workload.
    std::vector<std::pair<std::string, double>> answer;
    double wall_seconds = 0;  ///< what it cost; 0 where that is not known
    std::string heddle;       ///< the version that ran it
    Failure failure;          ///< of a cell that failed or is wrong
    /// Of such a cell: when this was written. It tells a failure from an earlier one of the cell.
    std::filesystem::file_time_type written{};

    bool finished() const { return state == State::right || state == State::wrong; }
    bool bad() const { return state == State::wrong || state == State::failed; }
};

/// The folders in a directory of results, by name; none if there is no such directory. Throws Error if it
/// cannot be read.
std::vector<std::string> folders_in(const std::string& directory);

/// Reads what `cell` (its name) left in `directory`. A result that is damaged counts as missing.
Outcome read_outcome(const std::string& directory, const std::string& cell);

/// Keeps a failure in the cell's directory, as failure.json. Throws Error where it cannot be written.
void write_failure(const std::string& directory, const std::string& cell, const Failure& failure);

/// A result in a directory that no cell of a comparison has: of another configuration, or of other files or
/// another program.
struct OtherResult {
    std::string cell;
    configs::Determinants determinants;
};

/// The results in `directory` whose names are not among `cells`. Those of earlier versions, which did not
/// write what determines them, are left out.
std::vector<OtherResult> other_results(const std::string& directory, const std::vector<std::string>& cells);

/// Removes a cell's result or failure, so that it counts as missing.
void forget_cell(const std::string& directory, const std::string& cell);

/// Removes what a writer that was killed left behind in a cell that is finished.
void sweep_cell(const std::string& directory, const std::string& cell);

/// Writes runs.csv, timings.csv and failures.csv of `cells`, in their order. Other results and failures in
/// the directory have no rows, so the tables depend on what was asked for, not on what ran before. Throws
/// Error.
void write_tables(const std::string& directory, const std::vector<std::string>& cells);

}  // namespace heddle::results
