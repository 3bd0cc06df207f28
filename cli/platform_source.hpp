// Reads a platform that the user names on the command line. It builds no platform: a backend does.
#pragma once

#include <string>
#include <vector>

#include "base/platform.hpp"
#include "configs/experiment.hpp"

namespace heddle::cli {

/// An experiment or platform in YAML, a SimGrid platform file (.xml), or YAML written out: `{nodes: 16}`.
/// `sets`: KEY=VALUE in place of the file's. Throws Error, also for a key that is none of the platform's.
Platform platform_named(const std::string& platform, const std::vector<std::string>& sets = {});

/// The same with the speeds of kernels.
configs::PlatformSection platform_section_named(const std::string& platform,
                                                const std::vector<std::string>& sets = {});

/// What a unit of a graph's file stands for, as the workload `dag` of an experiment states it. Empty: not
/// stated.
struct StatedUnits {
    std::string time_unit, bytes_unit;
};

/// Whether KEY=VALUE states such a unit.
bool states_unit(const std::string& set);

/// The units in the experiment that `platform` names, or in `sets`. Throws Error if the file cannot be read.
StatedUnits units_named(const std::string& platform, const std::vector<std::string>& sets = {});

}  // namespace heddle::cli
