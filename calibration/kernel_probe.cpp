// The micro-benchmark of kinds of work that workloads name. It measures all kinds and sizes in turn, so that
// a disturbance affects all of them.
#include <functional>
#include <string>
#include <vector>

#include "calibration/probe.hpp"

namespace heddle::calibration {

namespace {

class KernelProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(runtime::Worker& worker) override {
        std::vector<Made> all;
        for (const Kernel& kernel : effort_.kernels)
            for (const Kernel::Sample& sample : kernel.samples)
                all.push_back({kernel.name, sample.size, sample.make()});
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
            for (const Made& made : all) {
                made.code.call();  // caches and pages
                for (const std::uint64_t calls : {std::uint64_t{1}, effort_.operations(5) + 1})
                    read(worker, made, calls);
            }
        }
    }

private:
    struct Made {
        const std::string& kernel;
        double size;
        Kernel::Code code;
    };

    void read(runtime::Worker& worker, const Made& made, std::uint64_t calls) {
        const double size = made.size;
        const double flops = made.code.flops * static_cast<double>(calls);
        settle(worker);
        const double begin = seconds_now(worker);
        worker.compute({effort_.declared ? effort_.declared(made.kernel, size, flops) : flops, 0}, [&] {
            for (std::uint64_t call = 0; call < calls; ++call) made.code.call();
        });
        add({kernel_quantity + made.kernel, size, flops, seconds_now(worker) - begin});
    }
};

}  // namespace

Probe kernel_probe(const Effort& effort) {
    return {"kernels", "kinds of work that workloads name", 1, 1, quiet_schedule(), [effort](NodeId) {
                return std::make_unique<KernelProgram>(effort);
            }};
}

}  // namespace heddle::calibration
