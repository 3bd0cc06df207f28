// For tests: runs the tile factorizations on any backend and reads their factors.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/comm/wire.hpp"
#include "runtime/run/execution.hpp"
#include "tests/placement_testing.hpp"
#include "workloads/tile_factorization.hpp"

namespace heddle::testing_tiles {

using testing_placement::schedule;
using Stated = std::vector<std::pair<std::string, std::string>>;

inline std::unique_ptr<workloads::Workload> make(const std::string& name, const Stated& stated) {
    return testing_placement::Stated{name, stated}.make();
}

struct Done {
    runtime::RunResult result;
    workloads::Verdict verdict;
    std::uint64_t promised_bytes = 0;
};

/// Placed as if messages cost next to nothing, so that even small tiles go to many nodes.
inline Done run(workloads::Workload& workload, runtime::Backend& backend, const runtime::Schedule& schedule) {
    const WorkerGrid grid{backend.topology().nodes, backend.topology().cores};
    workload.prepare({grid, 1e9, 1e-9, 1e-12, {}}, schedule);
    runtime::Execution execution(backend, schedule, [&](NodeId id) { return workload.program(id); });
    Done done;
    done.result = execution.run();
    done.verdict = workload.check(done.result);
    done.promised_bytes = static_cast<std::uint64_t>(workload.forecast().data_bytes.value());
    return done;
}

/// The whole factor column by column, as its nodes show it; zeros in tiles that are not stored.
inline std::vector<double> factor(const runtime::RunResult& result, std::size_t tiles, std::size_t size) {
    const std::size_t rows = tiles * size;
    std::vector<double> whole(rows * rows);
    for (const runtime::Bytes& shown : result.evidence) {
        for (runtime::Reader reader(shown); !reader.done();) {
            const auto tile = reader.get<DatumIndex>();
            for (std::size_t column = 0; column < size; ++column) {
                const auto numbers = reader.get_bytes(size * sizeof(double));
                std::memcpy(&whole[(tile % tiles * size + column) * rows + tile / tiles * size],
                            numbers.data(), numbers.size());
            }
        }
    }
    return whole;
}

}  // namespace heddle::testing_tiles
