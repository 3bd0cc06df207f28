// Shared by the workloads of filaments over shared arrays: settings, the work of a unit, and the collection
// of a result's rows for the check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "model/filaments.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

/// A square array that all nodes share, by rows.
struct SharedMatrix {
    dsm::Shared<double> shared;
    std::uint64_t n = 0;
    std::uint64_t stride = 0;  ///< from row to row, in elements
    double* here = nullptr;    ///< on this node, once the memory is sealed

    double* row(std::int64_t i) const { return here + static_cast<std::uint64_t>(i) * stride; }
    double& at(std::int64_t i, std::int64_t j) const { return row(i)[j]; }
    /// The number of an element.
    std::uint64_t place(std::int64_t i, std::int64_t j) const {
        return static_cast<std::uint64_t>(i) * stride + static_cast<std::uint64_t>(j);
    }
};

/// What a run takes of memory at least, in bytes.
struct MemoryTaken {
    double shared = 0;   ///< the arrays, of which each node has a part
    double moved = 0;    ///< such arrays, of which each row comes to other nodes too
    double each = 0;     ///< arrays that come to each node
    double first = 0;    ///< what node 0 has of arrays besides its part
    double shown = 0;    ///< what node 0 gathers of them while they are there
    double checked = 0;  ///< that, and what the check makes, once the arrays are gone
    std::string what = {};
    std::string reduce = {};  ///< what to lower
    Location where = {};
};

class FilamentWorkload : public Workload {
public:
    /// Throws Error, a refusal, if the arrays or their check would not fit into memory.
    void prepare(const ClusterView& cluster, const runtime::Schedule& schedule) final;

    /// `own`, and the settings of all. `unit`: what a unit of work is. `flops`, `bytes`: what it takes,
    /// initially.
    static std::vector<Setting> common_settings(std::vector<Setting> own, const std::string& unit,
                                                const std::string& flops, const std::string& bytes) {
        own.push_back({"pools",
                       SettingKind::integer,
                       "1",
                       "pools of filaments for each processor; several hide latencies",
                       {},
                       1,
                       1024});
        own.push_back({"unit_cost",
                       SettingKind::flops,
                       flops,
                       "cost of " + unit + " where work is charged",
                       {},
                       0,
                       flops_max});
        own.push_back({"unit_bytes",
                       SettingKind::bytes,
                       bytes,
                       "bytes that " + unit + " moves to and from memory where work is charged",
                       {},
                       0,
                       1e15});
        own.push_back({"kernels",
                       SettingKind::choice,
                       "run",
                       "skip: pages are fetched as ever, but nothing is computed",
                       {"run", "skip"}});
        return own;
    }

    /// The same, and how the rows of square arrays lie (ArrayProgram).
    static std::vector<Setting> settings(std::vector<Setting> own, const std::string& unit,
                                         const std::string& flops, const std::string& bytes) {
        auto all = common_settings(std::move(own), unit, flops, bytes);
        all.push_back({"rows",
                       SettingKind::choice,
                       "packed",
                       "packed: one after the other; aligned: each begins on a page of its own",
                       {"packed", "aligned"}});
        all.push_back({"homes",
                       SettingKind::choice,
                       "as_set",
                       "where pages begin: as_set: as schedule.memory.placement says; first_node: at node 0; "
                       "cyclic_rows: each row at another node",
                       {"as_set", "first_node", "cyclic_rows"}});
        return all;
    }

    /// Filaments start on no other node than their own.
    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

protected:
    /// Nothing if it is little, whatever the settings are.
    virtual MemoryTaken memory(const WorkerGrid& /*grid*/, const runtime::SharedPages& /*pages*/) const {
        return {};
    }

    /// Of square arrays of doubles of `n` rows, whose numbers `matrices` has in place of bytes. If kernels
    /// are skipped, nothing is shown and checked.
    static MemoryTaken memory_of(MemoryTaken matrices, const Settings& settings, const WorkerGrid& grid,
                                 const runtime::SharedPages& pages);

    /// Of a row that begins on a page of its own. `moves`: if there are several nodes, it comes to other ones
    /// too. A group of pages comes as a whole, and takes its memory where it comes from, too.
    static double aligned_bytes(double bytes, bool moves, const WorkerGrid& grid,
                                const runtime::SharedPages& pages);
};

/// A program with the settings of all.
class SharedProgram : public filaments::FilamentProgram {
public:
    explicit SharedProgram(const Settings& settings)
        : pools_(settings.integer<std::uint32_t>("pools")),
          unit_{settings.number("unit_cost"), settings.number("unit_bytes")},
          skips_(settings.text("kernels") == "skip") {}

    runtime::Work unit() const override { return unit_; }
    runtime::Bytes evidence() const override { return evidence_; }

protected:
    bool skips() const { return skips_; }
    std::uint32_t pools() const { return pools_; }
    /// For the workload's check.
    void show(runtime::Bytes evidence) { evidence_ = std::move(evidence); }

private:
    std::uint32_t pools_;
    runtime::Work unit_;
    bool skips_;
    runtime::Bytes evidence_;
};

/// A program on square arrays of doubles, which shows rows of its result.
class ArrayProgram : public SharedProgram {
public:
    explicit ArrayProgram(const Settings& settings)
        : SharedProgram(settings),
          aligned_(settings.text("rows") == "aligned"),
          homes_(homes(settings.text("homes"))) {}

protected:
    SharedMatrix allocate(filaments::Filaments& fil, std::string name, std::int64_t n) const {
        const auto size = static_cast<std::uint64_t>(n);
        const std::uint64_t page = fil.memory().page_bytes() / sizeof(double);
        const std::uint64_t stride = aligned_ ? (size + page - 1) / page * page : size;
        return {
            fil.memory().allocate<double>(std::move(name), size * stride, {.row = stride, .homes = homes_}),
            size, stride};
    }
    /// After `seal`.
    static void find(filaments::Filaments& fil, SharedMatrix& matrix) {
        matrix.here = fil.memory().at(matrix.shared);
    }

    /// This node shows the rows with these numbers, in this order. Without kernels it only reads them.
    void show(filaments::Filaments& fil, const SharedMatrix& matrix,
              const std::vector<filaments::Iteration>& rows) {
        const std::size_t bytes = matrix.n * sizeof(double);
        runtime::Bytes evidence(skips() ? 0 : rows.size() * bytes);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const auto checkout = fil.memory().touch(
                fil.strand(), {dsm::reading(matrix.shared, matrix.place(rows[r].index, 0), matrix.n)});
            if (skips()) continue;
            fil.strand().worker().compute(
                {}, [&] { std::memcpy(evidence.data() + r * bytes, matrix.row(rows[r].index), bytes); });
        }
        SharedProgram::show(std::move(evidence));
    }

private:
    static dsm::Homes homes(std::string_view name) {
        if (name == "first_node") return dsm::Homes::first_node;
        return name == "cyclic_rows" ? dsm::Homes::cyclic_rows : dsm::Homes::as_set;
    }

    bool aligned_;
    dsm::Homes homes_;
};

/// The rows that the nodes have shown, each where it belongs.
inline std::vector<double> shown_rows(const runtime::RunResult& result, const filaments::Distribution& rows,
                                      std::int64_t n) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> matrix(size * size);
    for (NodeId node = 0; node < result.evidence.size(); ++node) {
        const runtime::Bytes& shown = result.evidence[node];
        std::size_t at = 0;
        for (const auto& row : rows.of(node)) {
            if (shown.size() < at + size * sizeof(double)) throw Error("a node has not shown all its rows");
            std::memcpy(matrix.data() + static_cast<std::size_t>(row.index) * size, shown.data() + at,
                        size * sizeof(double));
            at += size * sizeof(double);
        }
    }
    return matrix;
}

/// Where the first two matrices differ in a bit; empty: nowhere.
std::string first_difference(const std::vector<double>& found, const std::vector<double>& expected,
                             std::int64_t n);

inline Verdict skipped() {
    return {Verdict::Kind::unchecked, "kernels were skipped"};
}

}  // namespace heddle::workloads
