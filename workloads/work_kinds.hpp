// Kinds of work that a platform may state the speed of. A workload registers its own, with code that does
// nothing else, so that `heddle calibrate` can measure it without the workload.
#pragma once

#include <string>
#include <vector>

#include "base/kernel_speeds.hpp"

namespace heddle::workloads {

/// All of them, by name.
const std::vector<Kernel>& kernels();

/// The kind of work that the setting `unit_cost` of a workload is the cost of.
struct UnitKernel {
    std::string kernel;        ///< empty: of no kind
    std::string size_setting;  ///< that says the size of the data; empty: the size does not matter
};
UnitKernel kernel_of(const std::string& workload);

/// Registers one before `main`. `workloads`: those whose unit of work it is.
struct KernelRegistration {
    KernelRegistration(Kernel kernel, const std::vector<std::string>& workloads,
                       const std::string& size_setting = "");
};

/// Says before `main` what the unit of another workload is, whose size is said by another setting.
struct UnitRegistration {
    UnitRegistration(const std::string& workload, const UnitKernel& unit);
};

}  // namespace heddle::workloads
