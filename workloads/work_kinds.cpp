// Lists the kinds of work that workloads have registered.
#include "workloads/work_kinds.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/assert.hpp"

namespace heddle::workloads {

namespace {

struct KnownKernels {
    std::vector<Kernel> kernels;
    std::map<std::string, UnitKernel> of_workload;
};

KnownKernels& known_kernels() {
    static KnownKernels known;
    return known;
}

}  // namespace

const std::vector<Kernel>& kernels() {
    return known_kernels().kernels;
}

UnitKernel kernel_of(const std::string& workload) {
    const auto& known = known_kernels().of_workload;
    const auto found = known.find(workload);
    return found == known.end() ? UnitKernel{} : found->second;
}

KernelRegistration::KernelRegistration(Kernel kernel, const std::vector<std::string>& workloads,
                                       const std::string& size_setting) {
    KnownKernels& known = known_kernels();
    for (const std::string& workload : workloads) UnitRegistration(workload, {kernel.name, size_setting});
    const auto place = std::ranges::lower_bound(known.kernels, kernel.name, {}, &Kernel::name);
    HEDDLE_ASSERT(place == known.kernels.end() || place->name != kernel.name);
    known.kernels.insert(place, std::move(kernel));
}

UnitRegistration::UnitRegistration(const std::string& workload, const UnitKernel& unit) {
    const bool is_new = known_kernels().of_workload.emplace(workload, unit).second;
    HEDDLE_ASSERT(is_new);  // a workload has one kind of unit
}

}  // namespace heddle::workloads
