// The program of a tiled factorization by dataflow: tasks make the tiles, the factorization forks, and node 0
// shows the factor for the check.
#include "workloads/dataflow_tiles.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/error.hpp"
#include "runtime/comm/wire.hpp"
#include "workloads/group_placing.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;

constexpr double residual_bound = 1e-12;
constexpr std::size_t matrix_bytes_max = std::size_t{1} << 30;

void make_tile(Thread& self, tiles::Matrix matrix, std::uint32_t row, std::uint32_t column,
               shared_w<SharedTile> tile) {
    self.worker().compute({}, [&] { matrix.make(row, column, tile.make(matrix.numbers_of_tile())); });
}

class DataflowTileProgram final : public DataflowProgram {
public:
    DataflowTileProgram(const DataflowTiles& algorithm, const tiles::Matrix& matrix, const Placer* placer,
                        Recorded recorded)
        : algorithm_(algorithm), matrix_(matrix), placer_(placer), recorded_(recorded) {}

    bool places() const override { return placer_ != nullptr; }
    bool records_elsewhere() const override { return placer_ && recorded_ == Recorded::everywhere; }
    void elsewhere(Thread& self) override {
        SharedTiles shared_tiles(self, matrix_);
        run_as_group(self, shared_tiles);
    }

    void main(Thread& self) override {
        SharedTiles shared_tiles(self, matrix_);
        if (placer_) {
            run_as_group(self, shared_tiles);
        } else {
            fork_all(self, shared_tiles);
            self.sync();
        }
        for (std::uint32_t row = 0; row < matrix_.tiles; ++row)
            for (std::uint32_t column = 0; column < matrix_.tiles; ++column)
                if (shared_tiles.has(row, column)) {
                    const SharedTile& tile = shared_tiles.tile(row, column).read();
                    self.worker().compute({},
                                          [&] { factor_.emplace_back(row * matrix_.tiles + column, tile); });
                }
    }

    runtime::Answer answer() const override {
        if (factor_.empty()) return {};
        runtime::Answer found{{"tiles", static_cast<double>(factor_.size())}};
        if (algorithm_.sparse)
            found.push_back({"filled_in", static_cast<double>(factor_.size() - matrix_.stored_tiles())});
        return found;
    }

    /// Of each tile its number and its numbers.
    runtime::Bytes evidence() const override {
        runtime::Writer writer;
        for (const auto& [number, tile] : factor_)
            writer.put(std::uint64_t{number}).put_bytes(std::as_bytes(std::span(tile)));
        return {writer.bytes().begin(), writer.bytes().end()};
    }

private:
    void fork_all(Thread& self, SharedTiles& shared_tiles) const {
        shared_tiles.make_tiles(self);
        algorithm_.factorize(self, shared_tiles);
    }
    void run_as_group(Thread& self, SharedTiles& shared_tiles) const {
        const auto record = [&](GroupRecorder& recorder) {
            shared_tiles.record(recorder);
            fork_all(self, shared_tiles);
        };
        Group group(self, *placer_, record, recorded_);
        group.run();
    }

    const DataflowTiles& algorithm_;
    tiles::Matrix matrix_;
    const Placer* placer_;
    Recorded recorded_;
    std::vector<std::pair<std::uint32_t, SharedTile>> factor_;
};

}  // namespace

SharedTiles::SharedTiles(Thread& self, const tiles::Matrix& matrix) : matrix_(matrix), present_(matrix) {
    for (std::size_t i = 0; i < std::size_t{matrix.tiles} * matrix.tiles; ++i) tiles_.emplace_back(self);
}

void SharedTiles::make_tiles(Thread& self) const {
    for (std::uint32_t row = 0; row < count(); ++row)
        for (std::uint32_t column = 0; column < count(); ++column) {
            if (!matrix_.stores(row, column)) continue;
            if (recorder_) recorder_->next(0);
            self.fork<make_tile>(matrix_, row, column, tile(row, column));
        }
}

void SharedTiles::record(GroupRecorder& recorder) {
    recorder_ = &recorder;
    for (const auto& tile : tiles_)
        recorder.bytes(tile, sizeof(double) * static_cast<double>(matrix_.numbers_of_tile()));
}

void SharedTiles::costs_thirds(double cubes) const {
    if (recorder_) recorder_->next(cubes * cube(matrix_.tile_size) / 3);
}

DataflowTileWorkload::DataflowTileWorkload(const DataflowTiles& algorithm, const Settings& settings)
    : algorithm_(algorithm),
      matrix_{settings.integer<std::uint32_t>("tiles"), settings.integer<std::uint32_t>("tile_size"),
              settings.integer<std::uint64_t>("matrix_seed"), algorithm.symmetric, algorithm.sparse},
      factor_(matrix_),
      recorded_(recorded_in(settings)) {
    if (algorithm.sparse) factor_ = tiles::filled_in(factor_);
    const std::size_t bytes = factor_.count() * matrix_.numbers_of_tile() * sizeof(double);
    if (bytes > matrix_bytes_max) {
        throw Error(fmt::format("the matrix has {} bytes, and {} at most are gathered for the check", bytes,
                                matrix_bytes_max),
                    "make the matrix smaller", settings.where("tiles"));
    }
}

std::vector<Setting> DataflowTileWorkload::settings() {
    return {{"tiles", SettingKind::integer, "8", "tiles in each row of the matrix", {}, 1, 200},
            {"tile_size", SettingKind::integer, "64", "numbers in each row of a tile", {}, 1, 4096},
            {"matrix_seed", SettingKind::integer, "1", "of the numbers in the matrix", {}, 0, integer_max},
            recording_setting()};
}

void DataflowTileWorkload::prepare(const ClusterView& cluster, const runtime::Schedule& schedule) {
    placer_ = group_placer(cluster, schedule);
    tiles::use_callers_thread_only();
}

std::unique_ptr<runtime::Program> DataflowTileWorkload::program(NodeId /*node*/) const {
    return std::make_unique<DataflowTileProgram>(algorithm_, matrix_, placer_ ? &*placer_ : nullptr,
                                                 recorded_);
}

// Each tile begins at a multiple of 8 bytes, as its numbers need.
std::optional<tiles::Factor> DataflowTileWorkload::read_factor(const runtime::Bytes& shown) const {
    tiles::Factor factor(std::size_t{matrix_.tiles} * matrix_.tiles);
    const std::size_t bytes = matrix_.numbers_of_tile() * sizeof(double);
    std::size_t found = 0;
    runtime::Reader reader(shown);
    while (!reader.done()) {
        const auto number = reader.get<std::uint64_t>();
        const auto tile = reader.get_bytes(bytes);
        if (!reader.ok() || number >= factor.size() || factor[number]) return {};
        if (!factor_.has(static_cast<std::uint32_t>(number / matrix_.tiles),
                         static_cast<std::uint32_t>(number % matrix_.tiles)))
            return {};
        factor[number] = reinterpret_cast<const double*>(tile.data());
        ++found;
    }
    if (found != factor_.count()) return {};
    return factor;
}

Verdict DataflowTileWorkload::check(const runtime::RunResult& result) const {
    const std::size_t stored = matrix_.stored_tiles();
    const std::size_t expected = factor_.count();
    runtime::Answer counts{{"tiles", static_cast<double>(expected)},
                           {"closures", static_cast<double>(stored + algorithm_.closures(factor_))}};
    if (algorithm_.sparse) counts.push_back({"filled_in", static_cast<double>(expected - stored)});
    Verdict counted = judge(result.answer, counts, "the algorithm");
    if (counted.kind == Verdict::Kind::wrong) return counted;
    const std::optional<tiles::Factor> factor = read_factor(result.evidence.front());
    if (!factor) return {Verdict::Kind::wrong, "node 0 does not show each tile of the factor once"};
    const double residual = algorithm_.residual(matrix_, *factor);
    const std::string found = fmt::format("{} is {:.2g}", algorithm_.residual_name, residual);
    // Not `residual >= residual_bound`: it may not be a number.
    if (!(residual < residual_bound))
        return {Verdict::Kind::wrong, fmt::format("{}, expected less than {}", found, residual_bound)};
    if (!algorithm_.sparse) return {Verdict::Kind::right, found};
    return {Verdict::Kind::right, found + ", and its tiles are those of the symbolic factorization"};
}

std::vector<const runtime::TaskType*> DataflowTileWorkload::tasks() const {
    std::vector<const runtime::TaskType*> all = algorithm_.tasks;
    all.push_back(&Task<make_tile>::travelling);
    return all;
}

std::uint64_t lu_closures(const tiles::Pattern& factor) {
    std::uint64_t sum = 0;
    for (std::uint32_t k = 0; k < factor.tiles(); ++k) {
        std::uint64_t row = 0, column = 0;
        for (std::uint32_t other = k + 1; other < factor.tiles(); ++other) {
            row += factor.has(k, other) ? 1 : 0;
            column += factor.has(other, k) ? 1 : 0;
        }
        sum += (1 + row) * (1 + column);
    }
    return sum;
}

}  // namespace heddle::workloads
