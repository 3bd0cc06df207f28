// The files that a run of an experiment writes because settings of its workload name them.
#pragma once

#include <string>
#include <vector>

#include "configs/experiment.hpp"

namespace heddle::configs {

struct NamedOutput {
    std::string key;   ///< `workload.output`
    std::string path;  ///< as the caller can open it
    Location where;
};

/// In the order of their declaration.
std::vector<NamedOutput> output_files(const Experiment& experiment);

/// Throws Error if one of them is in the directory of results or below it, where results may take its name.
void refuse_output_among_results(const Experiment& experiment, const std::string& directory);

}  // namespace heddle::configs
