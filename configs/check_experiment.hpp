// What no single value of an experiment shows: values that exclude each other, and files that are in the way.
#pragma once

#include <string>
#include <vector>

#include "configs/experiment.hpp"

namespace heddle::configs {

/// Throws Error, with the place of one of the values. `base_kernels`: those that the file of `platform.from`
/// states.
void check_together(const Experiment& experiment, const std::vector<std::string>& base_kernels);

/// The same of a platform alone, before its shape is completed. A shape is for as many nodes as one network
/// joins, so that it cannot be every network's. An empty one says nothing.
void check_networks(const Platform& platform, const Experiment& experiment);

}  // namespace heddle::configs
