// METIS (Karypis, Kumar: "A fast and high quality multilevel scheme for partitioning irregular graphs", SIAM
// J. Sci. Comput. 20(1), 1998): k-way and recursive bisection. The only file that includes its header.
#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "partitioners/graph/library_graph.hpp"
#include "partitioners/graph/members.hpp"

namespace heddle::partitioners {

namespace {

static_assert(sizeof(idx_t) == sizeof(std::int32_t),
              "a METIS with 64-bit indices needs a wider LibraryGraph");

std::string version() {
    return fmt::format("METIS {}.{}.{}", METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR);
}

class Metis final : public GraphPartitioner {
public:
    Metis(const Settings& settings, bool recursive)
        : recursive_(recursive),
          imbalance_(settings.number("imbalance")),
          seed_(settings.integer("seed")),
          iterations_(settings.integer<idx_t>("iterations")),
          volume_(!recursive && settings.text("objective") == "volume"),
          contiguous_(!recursive && settings.boolean("contiguous")) {}

    std::string library() const override { return version(); }

    Parts partition(const DataGraph& graph, const WorkerGrid& grid) const override {
        const std::size_t parts = grid.workers();
        require_32_bits(parts, "parts", version());
        if (parts == 1) return Parts(graph.data(), 0);
        if (graph.data() <= parts) {  // nothing to decide, and METIS does not expect it
            Parts alone(graph.data());
            std::iota(alone.begin(), alone.end(), 0U);
            return alone;
        }
        LibraryGraph rows(graph, grid, version());
        idx_t options[METIS_NOPTIONS];
        METIS_SetDefaultOptions(options);
        options[METIS_OPTION_NUMBERING] = 0;
        options[METIS_OPTION_SEED] = static_cast<idx_t>(seed_ & 0x7fffffff);
        options[METIS_OPTION_UFACTOR] = static_cast<idx_t>(std::max(1.0, std::round(imbalance_ * 1000)));
        options[METIS_OPTION_NITER] = iterations_;
        if (volume_) options[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_VOL;
        if (contiguous_) options[METIS_OPTION_CONTIG] = 1;
        auto data = static_cast<idx_t>(graph.data());
        auto constraints = static_cast<idx_t>(graph.constraints());
        auto count = static_cast<idx_t>(parts);
        idx_t cut = 0;
        std::vector<idx_t> part(graph.data());
        const auto call = recursive_ ? &METIS_PartGraphRecursive : &METIS_PartGraphKway;
        // METIS minimizes the cut without looking at edge weights where it is asked for volume.
        idx_t* edge_weights = rows.edge_weights.empty() || volume_ ? nullptr : rows.edge_weights.data();
        // METIS takes a pointer to change, but does not.
        auto* neighbours = const_cast<idx_t*>(rows.neighbours);
        const int outcome = call(&data, &constraints, rows.begin.data(), neighbours,
                                 rows.work.empty() ? nullptr : rows.work.data(), nullptr, edge_weights,
                                 &count, nullptr, nullptr, options, &cut, part.data());
        if (outcome != METIS_OK) {
            throw Error(fmt::format(
                "{} failed on {} data and {} parts: {}", version(), data, parts,
                outcome == METIS_ERROR_MEMORY ? "out of memory" : "it does not accept the input"));
        }
        return Parts(part.begin(), part.end());
    }

private:
    bool recursive_;
    double imbalance_;
    std::int64_t seed_;
    idx_t iterations_;
    bool volume_;
    bool contiguous_;
};

Setting iterations_setting() {
    return {"iterations", SettingKind::integer, "10", "refinement passes at each level", {}, 1, 1e6};
}

}  // namespace

std::vector<Setting> metis_kway_settings() {
    return {imbalance_setting(),
            seed_setting(),
            iterations_setting(),
            {"objective",
             SettingKind::choice,
             "cut",
             "what is made small: the bytes cut, or the copies sent (volume)",
             {"cut", "volume"}},
            {"contiguous", SettingKind::boolean, "false", "every part is in one piece (the graph must be)"}};
}

std::vector<Setting> metis_recursive_settings() {
    // METIS allows it in every halving, so that it grows with the number of parts: its own default is small.
    return {{"imbalance", SettingKind::number, "0.001", "how uneven each halving may be", {}, 0, 1000},
            seed_setting(),
            iterations_setting()};
}

std::unique_ptr<GraphPartitioner> make_metis_kway(const Settings& settings) {
    return std::make_unique<Metis>(settings, false);
}

std::unique_ptr<GraphPartitioner> make_metis_recursive(const Settings& settings) {
    return std::make_unique<Metis>(settings, true);
}

}  // namespace heddle::partitioners
