// The micro-benchmark of kinds of work that workloads name. It measures the kinds in turn, so that a
// disturbance affects all of them.
#include <algorithm>

#include "calibration/probe.hpp"

namespace heddle::calibration {

namespace {

class KernelProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(runtime::Worker& worker) override {
        std::vector<std::function<void()>> codes;
        for (const Kernel& kernel : effort_.kernels) codes.push_back(kernel.make());
        for (const auto& code : codes) code();  // caches and pages
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i)
            for (std::size_t k = 0; k < codes.size(); ++k)
                for (const std::uint64_t calls : {std::uint64_t{1}, effort_.operations(5) + 1})
                    read(worker, effort_.kernels[k], calls, codes[k]);
    }

private:
    void read(runtime::Worker& worker, const Kernel& kernel, std::uint64_t calls,
              const std::function<void()>& code) {
        const double flops = kernel.flops * static_cast<double>(calls);
        settle(worker);
        const double begin = seconds_now(worker);
        worker.compute({effort_.declared ? effort_.declared(kernel.name, flops) : flops, 0}, [&] {
            for (std::uint64_t call = 0; call < calls; ++call) code();
        });
        add({kernel_quantity + kernel.name, 0, flops, seconds_now(worker) - begin});
    }
};

}  // namespace

Probe kernel_probe(const Effort& effort) {
    return {"kernels", "kinds of work that workloads name", 1, 1, quiet_schedule(), [effort](NodeId) {
                return std::make_unique<KernelProgram>(effort);
            }};
}

}  // namespace heddle::calibration
