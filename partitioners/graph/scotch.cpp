// Partitions by Scotch (Pellegrini, Roman: "Experimental analysis of the dual recursive bipartitioning
// algorithm for static mapping", 1996), or maps onto the platform's tree. No other file includes Scotch's
// header.
#include <cstdint>
#include <cstdio>

#include <fmt/format.h>
#include <scotch.h>

#include <algorithm>
#include <cstdlib>

#include "partitioners/graph/library_graph.hpp"
#include "partitioners/graph/members.hpp"
#include "partitioners/graph/part_targets.hpp"

namespace heddle::partitioners {

namespace {

static_assert(sizeof(SCOTCH_Num) == sizeof(std::int32_t),
              "a Scotch with 64-bit numbers needs a wider LibraryGraph");

std::string version() {
    int major = 0, release = 0, patch = 0;
    SCOTCH_version(&major, &release, &patch);
    return fmt::format("Scotch {}.{}.{}", major, release, patch);
}

void require(int outcome, const char* what) {
    if (outcome != 0) throw Error(fmt::format("{} failed: {}", version(), what));
}

/// Scotch's objects are initialized, used and freed by hand: this frees them in every case.
template <class Object, void (*exit)(Object*)>
struct Owned {
    Object object;

    template <class Init>
    explicit Owned(const Init& init) {
        require(init(&object), "an object cannot be made");
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() { exit(&object); }
    Object* get() { return &object; }
};
using Graph = Owned<SCOTCH_Graph, &SCOTCH_graphExit>;
using Strategy = Owned<SCOTCH_Strat, &SCOTCH_stratExit>;
using Architecture = Owned<SCOTCH_Arch, &SCOTCH_archExit>;
using Thread = Owned<SCOTCH_Context, &SCOTCH_contextExit>;

class Scotch final : public GraphPartitioner {
public:
    Scotch(const Settings& settings, bool map)
        : map_(map),
          imbalance_(settings.number("imbalance")),
          seed_(settings.integer("seed")),
          distance_(map ? settings.integer<SCOTCH_Num>("node_distance") : 1) {
        const std::string strategy = settings.text("strategy");
        strategy_ = strategy == "quality"   ? SCOTCH_STRATQUALITY
                    : strategy == "speed"   ? SCOTCH_STRATSPEED
                    : strategy == "balance" ? SCOTCH_STRATBALANCE
                    : strategy == "safety"  ? SCOTCH_STRATSAFETY
                                            : SCOTCH_STRATDEFAULT;
    }

    std::string library() const override { return version(); }

private:
    Parts make_parts(const DataGraph& graph, const WorkerGrid& grid,
                     std::span<const double> speeds) const override {
        if (grid.workers() == 1 || graph.data() == 0) return Parts(graph.data(), 0);
        if (graph.constraints() > 1) {
            throw Error("Scotch balances one weight of each datum, and these have several",
                        "use metis or metis_recursive");
        }
        const SCOTCH_Num distance = distance_for(graph, grid, speeds);
        const LibraryGraph rows(graph, grid, version(), sums_of_cut * distance);
        Graph plain(&SCOTCH_graphInit);
        require(SCOTCH_graphBuild(plain.get(), 0, static_cast<SCOTCH_Num>(graph.data()), rows.begin.data(),
                                  rows.begin.data() + 1, rows.work.empty() ? nullptr : rows.work.data(),
                                  nullptr, rows.ends, rows.neighbours,
                                  rows.edge_weights.empty() ? nullptr : rows.edge_weights.data()),
                "the graph cannot be built");

        // One thread, and its own random numbers: the same result wherever and however often it runs.
        Thread context(&SCOTCH_contextInit);
        require(SCOTCH_contextOptionSetNum(context.get(), SCOTCH_OPTIONNUMDETERMINISTIC, 1),
                "option deterministic");
        SCOTCH_contextRandomSeed(context.get(), static_cast<SCOTCH_Num>(seed_ & 0x7fffffff));
        SCOTCH_contextRandomReset(context.get());
        require(SCOTCH_contextThreadSpawn(context.get(), 1, nullptr), "one thread");
        Graph bound(&SCOTCH_graphInit);
        require(SCOTCH_contextBindGraph(context.get(), plain.get(), bound.get()),
                "the graph cannot be bound");

        Strategy strategy(&SCOTCH_stratInit);
        require(SCOTCH_stratGraphMapBuild(strategy.get(), strategy_, static_cast<SCOTCH_Num>(grid.workers()),
                                          imbalance_),
                "the strategy cannot be built");
        Architecture architecture(&SCOTCH_archInit);
        if (!speeds.empty()) {
            describe_unequal(architecture.get(), grid, speeds, distance);
        } else if (tells_nodes_apart(grid, speeds)) {
            // A message between nodes costs `node_distance` times one within a node.
            const SCOTCH_Num sizes[] = {static_cast<SCOTCH_Num>(grid.nodes),
                                        static_cast<SCOTCH_Num>(grid.cores)};
            const SCOTCH_Num distances[] = {distance, 1};
            require(SCOTCH_archTleaf(architecture.get(), 2, sizes, distances),
                    "the platform cannot be described");
        } else {
            require(SCOTCH_archCmplt(architecture.get(), static_cast<SCOTCH_Num>(grid.workers())),
                    "the platform cannot be described");
        }
        std::vector<SCOTCH_Num> part(graph.data());
        require(SCOTCH_graphMap(bound.get(), architecture.get(), strategy.get(), part.data()),
                "no partition");
        return Parts(part.begin(), part.end());
    }

    /// Whether distances count. For workers of unequal speed all pairs are named, so there must be few
    /// enough.
    bool tells_nodes_apart(const WorkerGrid& grid, std::span<const double> speeds) const {
        constexpr std::size_t pairs_workers_max = 512;
        return map_ && grid.nodes > 1 && grid.cores > 1 &&
               (speeds.empty() || grid.workers() <= pairs_workers_max);
    }

    /// The distance of nodes. Scotch adds up weights of edges times distances in 32 bits. The weights come
    /// first: a distance for which they would have to be scaled to a handful of numbers is lowered.
    SCOTCH_Num distance_for(const DataGraph& graph, const WorkerGrid& grid,
                            std::span<const double> speeds) const {
        if (!tells_nodes_apart(grid, speeds)) return 1;
        constexpr double mean_weight_kept = 16;  // what is scaled has half of that in the mean
        const std::vector<double>& weights = graph.all_edge_weights();
        const bool equal = std::ranges::all_of(weights, [](double weight) { return weight == 1; });
        const double sum =
            static_cast<double>(graph.all_neighbours().size()) * (equal ? 1 : mean_weight_kept);
        const double most = 0x1p31 / sums_of_cut / std::max(sum, 1.0);
        return std::clamp(static_cast<SCOTCH_Num>(std::min(most, 1e9)), SCOTCH_Num{1}, distance_);
    }

    /// Workers with weights in proportion to their speeds.
    void describe_unequal(SCOTCH_Arch* architecture, const WorkerGrid& grid, std::span<const double> speeds,
                          SCOTCH_Num distance) const {
        constexpr double weights_sum = 1e6;
        std::vector<SCOTCH_Num> weights;
        for (const double share : shares_of(speeds, grid.workers()))
            weights.push_back(std::max<SCOTCH_Num>(1, static_cast<SCOTCH_Num>(share * weights_sum)));
        const auto workers = static_cast<SCOTCH_Num>(weights.size());
        if (!tells_nodes_apart(grid, speeds)) {
            require(SCOTCH_archCmpltw(architecture, workers, weights.data()),
                    "the platform cannot be described");
            return;
        }
        std::vector<SCOTCH_Num> begin{0}, ends, distances;
        for (SCOTCH_Num a = 0; a < workers; ++a) {
            for (SCOTCH_Num b = 0; b < workers; ++b) {
                if (a == b) continue;
                const bool near = grid.worker(static_cast<std::size_t>(a)).node ==
                                  grid.worker(static_cast<std::size_t>(b)).node;
                ends.push_back(b);
                distances.push_back(near ? 1 : distance);
            }
            begin.push_back(static_cast<SCOTCH_Num>(ends.size()));
        }
        Graph pairs(&SCOTCH_graphInit);
        require(SCOTCH_graphBuild(pairs.get(), 0, workers, begin.data(), begin.data() + 1, weights.data(),
                                  nullptr, begin.back(), ends.data(), distances.data()),
                "the platform cannot be built");
        Strategy strategy(&SCOTCH_stratInit);
        require(SCOTCH_archBuild0(architecture, pairs.get(), 0, nullptr, strategy.get()),
                "the platform cannot be described");
    }

    static constexpr double sums_of_cut = 4;  ///< what Scotch adds up is at most so many times all weights

    bool map_;
    double imbalance_;
    std::int64_t seed_;
    SCOTCH_Num distance_;
    SCOTCH_Num strategy_ = SCOTCH_STRATDEFAULT;
};

}  // namespace

std::vector<Setting> scotch_settings() {
    return {imbalance_setting(),
            seed_setting(),
            {"strategy",
             SettingKind::choice,
             "default",
             "what Scotch favours",
             {"default", "quality", "speed", "balance", "safety"}},
            {"node_distance",
             SettingKind::integer,
             "10",
             "scotch_map: cost of a byte between nodes, in bytes within a node",
             {},
             1,
             1e6}};
}

std::unique_ptr<GraphPartitioner> make_scotch(const Settings& settings) {
    return std::make_unique<Scotch>(settings, false);
}

std::unique_ptr<GraphPartitioner> make_scotch_map(const Settings& settings) {
    return std::make_unique<Scotch>(settings, true);
}

}  // namespace heddle::partitioners
