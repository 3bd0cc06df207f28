// A matrix that is factorized in tiles by dataflow. Each tile is a shared object, and the factorization is a
// plain loop of forks (builtin/dataflow_cholesky.cpp, dataflow_lu.cpp, sparse_lu.cpp). Its tasks are stolen.
// If a placement is named, they are recorded and run as a group.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/dataflow.hpp"
#include "workloads/tile_matrix.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

/// The numbers of a tile, column by column.
using SharedTile = std::vector<double>;

/// The matrix as a body sees it: tile (row, column) is `tile(row, column)`. The program's main task knows
/// which tiles there are, and adds those that its forks make.
class SharedTiles {
public:
    SharedTiles(dataflow::Thread& self, const tiles::Matrix& matrix);
    /// Forks the tasks that make the tiles.
    void make_tiles(dataflow::Thread& self) const;

    /// From here on `recorder` is told what each task costs.
    void record(dataflow::GroupRecorder& recorder);
    /// The next task that is forked costs a third of so many times the cube of a tile's rows, as its kernel
    /// does.
    void costs_thirds(double cubes) const;

    std::uint32_t count() const { return matrix_.tiles; }
    bool has(std::uint32_t row, std::uint32_t column) const { return present_.has(row, column); }
    void add(std::uint32_t row, std::uint32_t column) { present_.add(row, column); }
    const dataflow::shared<SharedTile>& tile(std::uint32_t row, std::uint32_t column) const {
        return tiles_[std::size_t{row} * matrix_.tiles + column];
    }

private:
    tiles::Matrix matrix_;
    tiles::Pattern present_;
    std::vector<dataflow::shared<SharedTile>> tiles_;
    dataflow::GroupRecorder* recorder_ = nullptr;
};

/// Computes on a tile: `flops` in simulation, and `code` in every world.
template <class Code>
void kernel(dataflow::Thread& self, double flops, const Code& code) {
    self.worker().compute({flops, 0}, code);
}

/// Rows of a tile with so many numbers.
inline std::size_t rows_of(const SharedTile& tile) {
    std::size_t rows = 0;
    while (rows * rows < tile.size()) ++rows;
    return rows;
}
inline double cube(std::size_t rows) {
    return static_cast<double>(rows) * static_cast<double>(rows) * static_cast<double>(rows);
}

/// What differs between the factorizations. Static.
struct DataflowTiles {
    bool symmetric;
    bool sparse;  ///< the factor has tiles that the matrix does not have
    std::string residual_name;
    void (*factorize)(dataflow::Thread& self, SharedTiles& matrix);
    double (*residual)(const tiles::Matrix& matrix, const tiles::Factor& factor);
    std::uint64_t (*closures)(const tiles::Pattern& factor);  ///< of `factorize`
    std::vector<const runtime::TaskType*> tasks;
};

class DataflowTileWorkload final : public Workload {
public:
    /// `algorithm` must outlive the workload. Throws Error for a matrix that is too large.
    DataflowTileWorkload(const DataflowTiles& algorithm, const Settings& settings);

    static std::vector<Setting> settings();

    void prepare(const ClusterView& cluster, const runtime::Schedule& schedule) override;
    std::unique_ptr<runtime::Program> program(NodeId node) const override;
    Verdict check(const runtime::RunResult& result) const override;
    std::vector<const runtime::TaskType*> tasks() const override;

private:
    /// Reads the tiles that node 0 shows: each tile of the factor once, and no other. Null elsewhere; nothing
    /// if these are not the tiles.
    std::optional<tiles::Factor> read_factor(const runtime::Bytes& shown) const;

    const DataflowTiles& algorithm_;
    tiles::Matrix matrix_;
    tiles::Pattern factor_;
    dataflow::Recorded recorded_;
    std::optional<dataflow::Placer> placer_;
};

/// How many tasks a tiled LU factorization has: of each step one, those of its row and its column, and their
/// products.
std::uint64_t lu_closures(const tiles::Pattern& factor);

/// The algorithms of the workloads of these names.
const DataflowTiles& dataflow_cholesky();
const DataflowTiles& dataflow_lu();
const DataflowTiles& sparse_lu();

}  // namespace heddle::workloads
