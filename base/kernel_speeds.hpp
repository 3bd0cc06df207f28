// The speeds of a core at kinds of work that workloads name, such as a node of a search tree. A core has one
// `core_speed`, but declared flops of different work take different times.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// What a platform states of one kind of work: flops per second, as the workload declares flops for it.
struct KernelSpeed {
    std::string kernel;
    double speed = 1;

    bool operator==(const KernelSpeed&) const = default;
};

/// The speed of that kind of work; nothing if none is stated, or no kind is named.
inline std::optional<double> speed_of(const std::vector<KernelSpeed>& kernels, const std::string& kernel) {
    for (const KernelSpeed& one : kernels)
        if (!kernel.empty() && one.kernel == kernel) return one.speed;
    return std::nullopt;
}

/// A kind of work that can be measured without its workload. `make` prepares data, and returns code that does
/// `flops` of the work, as the workload declares it.
struct Kernel {
    std::string name;
    double flops = 0;
    std::function<std::function<void()>()> make;
};

}  // namespace heddle
