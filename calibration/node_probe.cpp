// The micro-benchmark of several nodes: all of them do the same work at the same time, each on one worker.
#include <algorithm>
#include <cstring>

#include "calibration/probe.hpp"

namespace heddle::calibration {

namespace {

using runtime::Worker;

/// Arithmetic that stays in registers, and copies that go through memory.
class NodeProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(Worker& worker) override {
        const auto node = static_cast<double>(worker.id.node);
        std::vector<std::byte> from(effort_.sweep_bytes, std::byte{1});
        std::vector<std::byte> to(effort_.sweep_bytes, std::byte{2});
        const std::uint64_t loops = effort_.operations(400'000);
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
            read(worker, node_flop, node, {loops / 10, loops}, [&](std::uint64_t count) {
                worker.compute({static_cast<double>(count), 0}, [count] {
                    volatile double value = 1;
                    for (std::uint64_t k = 0; k < count; ++k) value = value * 1.0000001;
                });
            });
            const double bytes = 2.0 * static_cast<double>(from.size());
            const double begin = seconds_now(worker);
            worker.compute({0, bytes}, [&] { std::memcpy(to.data(), from.data(), from.size()); });
            add({node_byte, node, bytes, seconds_now(worker) - begin});
        }
    }
};

}  // namespace

Probe node_probe(const Effort& effort, NodeId nodes) {
    return {
        "nodes", "how fast each host is", nodes,
        1,       quiet_schedule(),        [effort](NodeId) {
                return std::make_unique<NodeProgram>(effort); }};
}

}  // namespace heddle::calibration
