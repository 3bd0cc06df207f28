// Reads a schedule from a file that `heddle schedule --out` or another program wrote. It does not check
// whether the schedule is possible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "cli/machine_options.hpp"
#include "graphs/graph_file.hpp"
#include "partitioners/schedulers/schedule.hpp"

namespace heddle::cli {

/// Numbers of JSON are doubles: up to here every whole number is one.
inline constexpr auto seed_max = static_cast<std::uint64_t>(integer_max);

/// What a file says of a schedule. Only the placement has to be there.
struct ScheduleFile {
    std::string scheduler = "from file";
    std::uint64_t seed = 0;
    double seconds = 0;
    std::optional<MachineChoice> machine;
    std::vector<schedulers::Slot> slots;  ///< by task
    int line = 0;                         ///< of the placement
};

/// Throws Error, with file and line, for a file that is not JSON or cut short, is for another graph, names a
/// task that the graph lacks or names one twice, leaves one out, or has a field that is missing or not a
/// number.
ScheduleFile read_schedule(const std::string& path, const graphs::GraphFile& graph);

}  // namespace heddle::cli
