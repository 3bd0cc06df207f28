// A directory of results: a subdirectory for each cell (a configuration with a seed), and tables over all
// cells. Every file is written under another name and then renamed, so a reader never sees half of one.
#pragma once

#include <cstdint>
#include <string>

#include "base/input_file.hpp"
#include "results/record.hpp"

namespace heddle::results {

class Store {
public:
    /// Whether runs and their times are entered in the tables. Not if the caller makes the tables
    /// (results/cells.hpp).
    enum class Tables : std::uint8_t { write, leave };

    /// Makes the directory where there is none, and proves that it can be written. Throws Error where it
    /// cannot: call it before the run.
    explicit Store(std::string directory, Tables tables = Tables::write);

    /// Whether tasks.csv, workers.csv and timeline.csv of this very run are in the cell's directory.
    enum class Recorded : bool { no, yes };

    /// Writes `CELL/result.json`, `CELL/timing.json`, `CELL/steals.csv`, `CELL/datapackage.json`, and the
    /// cell's rows of `runs.csv` and `timings.csv`, in the place of earlier ones. Removes what was recorded
    /// of an earlier run, also in compressed form. result.json comes last of its directory: where it is, the
    /// cell is complete. Several processes may write to one store. Throws Error.
    void write(const Record& record, Recorded recorded = Recorded::no) const;

    /// Makes the directory of a cell, for what is recorded during its run. Returns its path. Throws Error.
    std::string make_cell(const configs::Determinants& determinants) const;

    /// Where the cell of a record lies.
    std::string path_of(const Record& record) const;

private:
    std::string directory_;
    Tables tables_;
};

/// Where a table that was recorded beside a result lies in the cell's folder, or its compressed form. Empty
/// if there is none.
std::string recorded_table(const std::string& folder, const std::string& table);

/// The text of a file in a directory of results; empty if there is none. Throws Error if it cannot be read or
/// is not a regular file.
std::string read_stored(const std::string& path, const InputLimits& limits = {});

/// Writes a file in one step (temporary file, fsync, rename). Throws Error.
void write_atomically(const std::string& path, const std::string& text);

}  // namespace heddle::results
