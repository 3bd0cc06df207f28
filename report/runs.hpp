// The runs that a report is about: reads them from directories of results. Draws no conclusions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/cells.hpp"

namespace heddle::report {

struct StealCount {
    std::uint32_t thief = 0;
    std::uint32_t victim = 0;
    std::uint64_t tasks = 0;
};

/// One finished run.
struct Run {
    std::string directory;                      ///< of results, as it was named
    std::string cell;                           ///< its name there
    std::map<std::string, std::string> values;  ///< its row of runs.csv

    // What only result.json and timing.json say; empty where they are lost.
    std::map<std::string, std::string> versions;
    std::string host;
    std::string check;  ///< against what the answer was checked, or what is wrong with it
    std::vector<std::string> warnings;
    std::vector<StealCount> steals;                   ///< between nodes
    std::vector<std::uint32_t> groups = {};           ///< of each node, if the network has several
    std::map<std::string, std::string> program = {};  ///< ids of the code that ran, by its parts' names
    std::map<std::string, std::string> files = {};    ///< digests of the input files, by their keys

    /// Empty if the row has no such value.
    const std::string& value(const std::string& column) const;
    /// 0 if the value is no number.
    double number(const std::string& column) const;
    bool ok() const { return value("ok") == "true"; }
    std::string folder() const { return directory + "/" + cell; }
    /// A table that was recorded beside the result, or its compressed form. Empty if there is none.
    std::string recorded(const std::string& table) const;
};

struct FailedRun {
    std::string directory;
    std::string cell;
    results::Failure failure;
};

struct Runs {
    std::vector<Run> all;                 ///< in the order of runs.csv, directory by directory
    std::vector<std::string> columns;     ///< of all rows, in the order of the tables
    std::set<std::string> configuration;  ///< of these columns, those that were chosen before the run
    std::vector<FailedRun> failed;        ///< without a result
    std::vector<std::string> remarks;     ///< what a reader must know of the directories, a sentence each
};

/// Reads directories of results, or directories that have such directories in them. A result that is damaged
/// becomes a remark, as does a directory without any. Each directory is read once. If it has a runs.csv,
/// finished runs that this does not name are left out, as are failures that a failures.csv does not name.
/// Throws Error if a directory does not exist or cannot be read.
Runs read_runs(const std::vector<std::string>& directories);

}  // namespace heddle::report
