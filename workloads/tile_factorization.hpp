// A workload that factorizes a dense matrix in tiles, as a placed graph. Each task changes one tile, and each
// edge carries one. builtin/cholesky.cpp and builtin/lu.cpp define the kernels, and what a tile holds
// afterwards.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graphs/graph_file.hpp"
#include "model/placed_graph.hpp"
#include "workloads/placed_run.hpp"
#include "workloads/tile_matrix.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

/// What differs between the factorizations. Static.
struct TileAlgorithm {
    std::string graph;  ///< the generator that makes its tasks
    bool symmetric = false;
    std::string residual_name;

    /// Runs a kernel, an index into GraphFile::kernels, on a tile. `reads`: the other tiles that the task
    /// reads; if there are two, first that of the changed tile's row.
    void (*run)(std::uint16_t kernel, std::size_t size, const std::vector<tiles::ConstTile>& reads,
                tiles::Tile tile) = nullptr;

    double (*residual)(const tiles::Matrix& matrix, const tiles::Factor& factor) = nullptr;
};

/// The settings that all factorizations have.
std::vector<Setting> tile_settings();

class TileFactorization final : public Workload {
public:
    /// `algorithm` must outlive the workload. Throws Error for a matrix that is too large.
    TileFactorization(const TileAlgorithm& algorithm, const Settings& settings);

    void prepare(const ClusterView& cluster, const runtime::Schedule& schedule) override;
    Forecast forecast() const override { return placed_->forecast; }
    std::optional<TaskLabel> label(std::uint64_t task) const override {
        return label_of(placed_->plan, task, file_);
    }
    std::unique_ptr<runtime::Program> program(NodeId node) const override;
    Verdict check(const runtime::RunResult& result) const override;
    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

    // --- for its programs
    const TileAlgorithm& algorithm() const { return algorithm_; }
    const tiles::Matrix& matrix() const { return matrix_; }
    const graphs::GraphFile& file() const { return file_; }
    bool computes() const { return computes_; }          ///< false: the kernels' cost is only declared
    bool shows_factor() const { return shows_factor_; }  ///< for the check
    /// True where no task changes the tile afterwards.
    bool is_final(TaskIndex task) const { return final_[task]; }

private:
    void refuse_large() const;
    void refuse_large_on(const ClusterView& cluster) const;
    void find_final_tasks();
    bool read_factor(const runtime::RunResult& result, std::vector<std::vector<double>>& tiles) const;

    const TileAlgorithm& algorithm_;
    tiles::Matrix matrix_;
    bool computes_;
    bool shows_factor_;
    Location where_;  ///< of the number of tiles
    graphs::GraphFile file_;
    std::vector<bool> final_;
    std::optional<PlacedRun> placed_;
};

}  // namespace heddle::workloads
