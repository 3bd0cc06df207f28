// Partitions by METIS (Karypis, Kumar: "A fast and high quality multilevel scheme for partitioning irregular
// graphs", SIAM J. Sci. Comput. 20(1), 1998), k-way or by recursive bisection. No other file includes METIS's
// header.
#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "partitioners/graph/heavy_data.hpp"
#include "partitioners/graph/library_graph.hpp"
#include "partitioners/graph/members.hpp"
#include "partitioners/graph/part_targets.hpp"

namespace heddle::partitioners {

namespace {

static_assert(sizeof(idx_t) == sizeof(std::int32_t),
              "a METIS with 64-bit indices needs a wider LibraryGraph");

std::string version() {
    return fmt::format("METIS {}.{}.{}", METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR);
}

constexpr double imbalance_max = 1000;  // of which METIS keeps thousandths in 32 bits
constexpr double iterations_max = 1'000'000;

void refuse_outside(const char* what, double value, double most, const Location& where) {
    if (value >= 0 && value <= most) return;
    throw Error(fmt::format("{} is {}", what, value), fmt::format("expected a number from 0 to {}", most),
                where);
}

/// Keeps METIS from writing to standard output, where it complains of graphs that it cannot divide. The
/// library's `printf` writes to what `stdout` points to; C++ streams and the file descriptor stay as they
/// are. The caller must be the only thread that partitions.
class Quiet {
public:
#ifdef __GLIBC__
    Quiet() : out_(stdout), nowhere_(std::fopen("/dev/null", "w")) {
        if (nowhere_) stdout = nowhere_;
    }
    ~Quiet() {
        stdout = out_;
        if (nowhere_) std::fclose(nowhere_);
    }
#else
    Quiet() = default;
    ~Quiet() = default;
#endif
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    std::FILE* out_ = nullptr;
    std::FILE* nowhere_ = nullptr;
};

class Metis final : public GraphPartitioner {
public:
    Metis(const Settings& settings, bool recursive)
        : recursive_(recursive),
          imbalance_(settings.number("imbalance")),
          seed_(settings.integer("seed")),
          iterations_(settings.integer<idx_t>("iterations")),
          volume_(!recursive && settings.text("objective") == "volume"),
          contiguous_(!recursive && settings.boolean("contiguous")) {
        refuse_outside("imbalance", imbalance_, imbalance_max, settings.where("imbalance"));
        refuse_outside("iterations", static_cast<double>(iterations_), iterations_max,
                       settings.where("iterations"));
    }

    std::string library() const override { return version(); }

private:
    Parts make_parts(const DataGraph& graph, const WorkerGrid& grid,
                     std::span<const double> speeds) const override {
        require_32_bits(grid.workers(), "parts", version());
        const std::vector<double> shares = shares_of(speeds, grid.workers());
        // METIS cannot divide what is heavier than a part, and says so on standard output.
        const HeavyData heavy(graph, shares);
        Parts result = heavy.alone;
        if (heavy.rest.empty()) return result;
        const bool all = heavy.rest.size() == graph.data();
        const Parts part =
            call_metis(all ? graph : graph.restricted_to(heavy.rest), heavy.shares, speeds.empty());
        for (std::size_t i = 0; i < heavy.rest.size(); ++i) result[heavy.rest[i]] = heavy.parts[part[i]];
        return result;
    }

    Parts call_metis(const DataGraph& graph, const std::vector<double>& shares, bool even) const {
        const std::size_t parts = shares.size();
        if (parts == 1) return Parts(graph.data(), 0);
        LibraryGraph rows(graph, {static_cast<NodeId>(parts), 1}, version());
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
        std::vector<real_t> targets;
        for (const double share : shares) {
            if (!even) targets.insert(targets.end(), graph.constraints(), static_cast<real_t>(share));
        }
        const auto call = recursive_ ? &METIS_PartGraphRecursive : &METIS_PartGraphKway;
        // METIS minimizes the cut without looking at edge weights where it is asked for volume.
        idx_t* edge_weights = rows.edge_weights.empty() || volume_ ? nullptr : rows.edge_weights.data();
        idx_t* sizes = rows.sizes.empty() || !volume_ ? nullptr : rows.sizes.data();
        // METIS takes a pointer to change, but does not.
        auto* neighbours = const_cast<idx_t*>(rows.neighbours);
        const Quiet quiet;
        const int outcome =
            call(&data, &constraints, rows.begin.data(), neighbours,
                 rows.work.empty() ? nullptr : rows.work.data(), sizes, edge_weights, &count,
                 targets.empty() ? nullptr : targets.data(), nullptr, options, &cut, part.data());
        if (outcome != METIS_OK) {
            throw Error(fmt::format(
                "{} failed on {} data and {} parts: {}", version(), data, parts,
                outcome == METIS_ERROR_MEMORY ? "out of memory" : "it does not accept the input"));
        }
        return Parts(part.begin(), part.end());
    }

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
