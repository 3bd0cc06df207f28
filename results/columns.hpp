// Defines the columns of the result tables: type, unit, meaning. The data packages beside the CSV files and
// programs that show results both use it. Reads no files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::results {

/// Whether a column of runs.csv was chosen before the run or found by it.
enum class ColumnKind : std::uint8_t {
    identity,       ///< names the row, or the code and files that made it
    measured,       ///< found by the run
    answer,         ///< what the program computed
    configuration,  ///< a key of the experiment
};

struct ColumnInfo {
    ColumnKind kind = ColumnKind::measured;
    std::string type;  ///< of Frictionless Table Schema: string, integer, number, boolean, any
    std::string unit;  ///< s, B, B/s, flop, flop/s; empty for counts, ratios and texts
    std::string meaning;
};

/// The file names that `describe_column` knows: runs.csv, tasks.csv, ...
bool is_known_table(std::string_view table);

/// What a column of a table is. `workload` chooses among settings of equal name; empty: any workload's. A
/// column that no table of this version has is taken for a key of the experiment.
ColumnInfo describe_column(std::string_view table, std::string_view column, std::string_view workload = {});

/// The dotted key behind a column of the experiment, `platform.nodes` for `platform_nodes`. Nothing if this
/// version has no such key.
std::optional<std::string> key_of_column(std::string_view column, std::string_view workload = {});

}  // namespace heddle::results
