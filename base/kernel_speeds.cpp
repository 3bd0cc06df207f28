// Computes the speed of a kind of work at a size between those that a platform states.
#include "base/kernel_speeds.hpp"

#include <cmath>

namespace heddle {

std::optional<double> speed_of(const std::vector<KernelSpeed>& kernels, const std::string& kernel,
                               double size) {
    if (kernel.empty()) return std::nullopt;
    const KernelSpeed* below = nullptr;
    const KernelSpeed* above = nullptr;
    for (const KernelSpeed& one : kernels) {
        if (one.kernel != kernel) continue;
        if (one.size <= size && (!below || one.size > below->size)) below = &one;
        if (one.size >= size && (!above || one.size < above->size)) above = &one;
    }
    if (!below && !above) return std::nullopt;
    if (!below || below->size == 0) below = above ? above : below;
    if (!above || above->size == below->size) return below->speed;
    const double share = std::log(size / below->size) / std::log(above->size / below->size);
    return 1 / ((1 - share) / below->speed + share / above->speed);
}

}  // namespace heddle
