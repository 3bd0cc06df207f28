// The program of a tiled factorization: it makes tiles, calls kernels on them, and checks the factor at the
// end.
#include "workloads/tile_factorization.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/memory_need.hpp"
#include "graphs/generators/generator.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::workloads {

namespace {

using model::Datum;
using model::PlacedGraph;
using runtime::Bytes;

constexpr double residual_max = 1e-12;

// What travels in one message has its bounds: a stolen task with three tiles, a node's part of the factor.
constexpr std::uint32_t run_tile_size_max = 4096;
constexpr std::size_t checked_bytes_max = std::size_t{1} << 30;

std::size_t bytes_of_tiles(const tiles::Matrix& matrix) {
    return matrix.stored_tiles() * matrix.numbers_of_tile() * sizeof(double);
}

double tasks_of(const tiles::Matrix& matrix) {
    const double n = matrix.tiles;
    return n * (n + 1) * (matrix.symmetric ? n + 2 : 2 * n + 1) / 6;
}

/// Of the graph's tasks. Measured where kernels are declared.
double bytes_of_tasks(const tiles::Matrix& matrix) {
    constexpr double bytes_per_task = 600;
    return bytes_per_task * tasks_of(matrix);
}

tiles::Tile numbers_of(Bytes& bytes) {
    return {reinterpret_cast<double*>(bytes.data()), bytes.size() / sizeof(double)};
}

class TileProgram final : public model::PlacedGraphProgram {
public:
    TileProgram(const PlacedGraph& plan, const TileFactorization& workload, NodeId node)
        : PlacedGraphProgram(plan, node), workload_(workload), of_core_(plan.placement().grid().cores) {}

    runtime::Answer answer() const override {
        std::uint64_t tasks = 0, tiles = 0;
        for (const Done& done : of_core_) {
            tasks += done.tasks;
            tiles += done.tiles;
        }
        return {{"tasks", static_cast<double>(tasks)}, {"tiles", static_cast<double>(tiles)}};
    }

    /// The tiles that are complete here: of each its number, and its numbers.
    Bytes evidence() const override {
        runtime::Writer writer;
        for (const Done& done : of_core_) {
            for (const auto& [tile, datum] : done.factor) writer.put(tile).put_bytes(*datum);
        }
        return {writer.bytes().begin(), writer.bytes().end()};
    }

protected:
    Datum run(model::Strand strand, TaskIndex task, const model::Inputs& inputs) override {
        runtime::Worker& worker = strand.worker();
        const runtime::Work cost{workload_.file().graph.flops(task), 0};
        Datum tile;
        if (workload_.computes()) {
            worker.compute(cost, [&] { tile = change(task, inputs); });
        } else {
            worker.compute(cost, {});
        }
        Done& done = of_core_[worker.id.core];
        ++done.tasks;
        if (!workload_.is_final(task)) return tile;
        ++done.tiles;
        if (workload_.shows_factor()) done.factor.emplace_back(workload_.file().writes[task], tile);
        return tile;
    }

private:
    /// Of one worker, which alone writes it.
    struct alignas(64) Done {
        std::uint64_t tasks = 0;
        std::uint64_t tiles = 0;
        std::vector<std::pair<DatumIndex, Datum>> factor;
    };

    /// The task's kernel on its tile, which no task wrote before, or comes with the inputs.
    Datum change(TaskIndex task, const model::Inputs& inputs) const {
        const graphs::GraphFile& file = workload_.file();
        const tiles::Matrix& matrix = workload_.matrix();
        const DatumIndex self = file.writes[task];
        const DatumIndex row = self / matrix.tiles;
        Datum tile;
        std::vector<tiles::ConstTile> reads;
        const auto predecessors = file.graph.predecessors(task);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const DatumIndex read = file.writes[predecessors[i].task];
            if (read == self) {
                // Its only reader changes it: TileFactorization::find_final_tasks.
                tile = inputs[i].last ? inputs[i].datum : std::make_shared<Bytes>(*inputs[i].datum);
            } else {
                reads.insert(read / matrix.tiles == row ? reads.begin() : reads.end(),
                             numbers_of(*inputs[i].datum));
            }
        }
        if (!tile) {
            tile = std::make_shared<Bytes>(matrix.numbers_of_tile() * sizeof(double));
            matrix.make(row, self % matrix.tiles, numbers_of(*tile));
        }
        workload_.algorithm().run(file.kernel_of[task], matrix.tile_size, reads, numbers_of(*tile));
        return tile;
    }

    const TileFactorization& workload_;
    std::vector<Done> of_core_;
};

}  // namespace

std::vector<Setting> tile_settings() {
    return {
        {"tiles", SettingKind::integer, "10", "tiles in each row of the matrix", {}, 1, graphs::tiles_max},
        {"tile_size",
         SettingKind::integer,
         "128",
         "numbers in each row of a tile",
         {},
         1,
         graphs::tile_size_max},
        {"kernels",
         SettingKind::choice,
         "run",
         "declare: their cost only, and the bytes of the tiles",
         {"run", "declare"}},
        {"matrix_seed", SettingKind::integer, "1", "of the numbers in the matrix", {}, 0, integer_max},
        {"check",
         SettingKind::choice,
         "residual",
         "residual: node 0 gathers the factor and multiplies it",
         {"residual", "none"}}};
}

TileFactorization::TileFactorization(const TileAlgorithm& algorithm, const Settings& settings)
    : algorithm_(algorithm),
      computes_(settings.text("kernels") == "run"),
      shows_factor_(computes_ && settings.text("check") == "residual"),
      where_(settings.where("tiles")) {
    if (computes_ && settings.integer("tile_size") > run_tile_size_max) {
        throw Error(fmt::format("tile_size is {}, but it is at most {} where kernels are run",
                                settings.integer("tile_size"), run_tile_size_max),
                    "make more and smaller tiles, or set kernels: declare", settings.where("tile_size"));
    }
    matrix_ = {settings.integer<std::uint32_t>("tiles"), settings.integer<std::uint32_t>("tile_size"),
               settings.integer<std::uint64_t>("matrix_seed"), algorithm.symmetric};
    refuse_large();
    try {
        file_ = graphs::generate(
            algorithm.graph, {{"tiles", settings.text("tiles")}, {"tile_size", settings.text("tile_size")}});
    } catch (const Error& error) {
        throw error.at(settings.where(settings.stated("tiles") ? "tiles" : "tile_size"));
    }
    find_final_tasks();
}

/// Before the graph, which every process has, is made: a large one takes minutes.
void TileFactorization::refuse_large() const {
    const std::size_t bytes = bytes_of_tiles(matrix_);
    if (shows_factor_ && bytes > checked_bytes_max) {
        throw Error(fmt::format("the factor has {} bytes, but at most {} are gathered for the check", bytes,
                                checked_bytes_max),
                    "make the matrix smaller, or set check: none", where_);
    }
    need_memory(bytes_of_tasks(matrix_),
                fmt::format("{:.0f} tasks on {} x {} tiles", tasks_of(matrix_), matrix_.tiles, matrix_.tiles),
                "lower workload.tiles", where_);
}

/// Each stored tile is there once at least. Tiles are dealt out over the nodes, unless node 0 gathers them
/// all.
void TileFactorization::refuse_large_on(const ClusterView& cluster) const {
    if (!computes_) return;
    const double share = shows_factor_ ? 1 : cluster.share_here();
    need_memory(bytes_of_tasks(matrix_) + static_cast<double>(bytes_of_tiles(matrix_)) * share,
                fmt::format("{} x {} tiles of {} x {} numbers, and the tasks on them,", matrix_.tiles,
                            matrix_.tiles, matrix_.tile_size, matrix_.tile_size),
                shows_factor_ && cluster.share_here() < 1
                    ? "lower workload.tiles or workload.tile_size, or set workload.check to none"
                    : "lower workload.tiles or workload.tile_size",
                where_);
}

/// Also makes sure that a tile that will be changed has one reader, the task that changes it: no other task
/// reads it meanwhile.
void TileFactorization::find_final_tasks() {
    const TaskGraph& graph = file_.graph;
    final_.assign(graph.tasks(), true);
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        for (const TaskGraph::Link& link : graph.successors(task)) {
            if (file_.writes[link.task] != file_.writes[task]) continue;
            HEDDLE_ASSERT(graph.successors(task).size() == 1);
            final_[task] = false;
        }
    }
}

void TileFactorization::prepare(const ClusterView& cluster, const runtime::Schedule& schedule) {
    refuse_large_on(cluster);
    if (computes_) tiles::use_callers_thread_only();
    placed_ = place_for_run({&file_.graph, file_.writes, file_.data, file_.costs}, cluster, schedule,
                            computes_ ? PlacedGraph::Data::carried : PlacedGraph::Data::declared);
}

std::unique_ptr<runtime::Program> TileFactorization::program(NodeId node) const {
    return std::make_unique<TileProgram>(placed_->plan, *this, node);
}

/// False where the nodes do not show each tile of the factor once.
bool TileFactorization::read_factor(const runtime::RunResult& result,
                                    std::vector<std::vector<double>>& tiles) const {
    const std::size_t numbers = matrix_.numbers_of_tile();
    std::size_t found = 0;
    tiles.assign(std::size_t{matrix_.tiles} * matrix_.tiles, {});
    for (const Bytes& shown : result.evidence) {
        runtime::Reader reader(shown);
        while (!reader.done()) {
            const auto tile = reader.get<DatumIndex>();
            const auto bytes = reader.get_bytes(numbers * sizeof(double));
            if (!reader.ok() || tile >= tiles.size() || !tiles[tile].empty() ||
                !matrix_.stores(tile / matrix_.tiles, tile % matrix_.tiles))
                return false;
            tiles[tile].resize(numbers);
            std::memcpy(tiles[tile].data(), bytes.data(), bytes.size());
            ++found;
        }
    }
    return found == matrix_.stored_tiles();
}

Verdict TileFactorization::check(const runtime::RunResult& result) const {
    Verdict counted = judge(result.answer,
                            {{"tasks", static_cast<double>(file_.graph.tasks())},
                             {"tiles", static_cast<double>(matrix_.stored_tiles())}},
                            "the graph");
    if (counted.kind == Verdict::Kind::wrong) return counted;
    if (!computes_)
        return {Verdict::Kind::unchecked, "kernels are declared: every task ran, none computed anything"};
    if (!shows_factor_) return {Verdict::Kind::unchecked, "check is none"};

    std::vector<std::vector<double>> tiles;
    if (!read_factor(result, tiles))
        return {Verdict::Kind::wrong, "the nodes do not show each tile of the factor once"};
    tiles::Factor factor;
    for (const auto& tile : tiles) factor.push_back(tile.empty() ? nullptr : tile.data());
    const double residual = algorithm_.residual(matrix_, factor);
    const std::string found = fmt::format("{} is {:.2g}", algorithm_.residual_name, residual);
    // Not `residual >= residual_max`: it may not be a number.
    if (!(residual < residual_max))
        return {Verdict::Kind::wrong, fmt::format("{}, expected less than {}", found, residual_max)};
    return {Verdict::Kind::right, found};
}

}  // namespace heddle::workloads
