// The speeds of a core at kinds of work that workloads name, such as a node of a search tree. A core has one
// `core_speed`, but declared flops of different work take different times, and so do those of one kind whose
// data lie in another cache.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// What a platform states of one kind of work.
struct KernelSpeed {
    std::string kernel;
    double size = 0;   ///< of its data, as the workload counts it, such as the rows of a matrix; 0: of none
    double speed = 1;  ///< flops per second, as the workload declares flops for it

    bool operator==(const KernelSpeed&) const = default;
};

/// The speed of that kind of work on data of that size; nothing if none is stated, or no kind is named.
/// Between two sizes the time of a flop follows a line over the logarithm of the size; beyond all sizes it is
/// that of the nearest. What is stated for no size is for work without one, and for all if there is no other.
std::optional<double> speed_of(const std::vector<KernelSpeed>& kernels, const std::string& kernel,
                               double size);

/// A kind of work that can be measured without its workload.
struct Kernel {
    struct Code {
        double flops = 0;  ///< of a call
        std::function<void()> call;
    };
    /// `make` prepares data of that size, and returns code that does the work.
    struct Sample {
        double size = 0;  ///< as in KernelSpeed
        std::function<Code()> make;
    };

    std::string name;
    std::vector<Sample> samples;
};

}  // namespace heddle
