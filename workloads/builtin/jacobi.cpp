// jacobi: Jacobi iteration on an n x n grid with a border of zeros, a filament for each point. It is the
// program of section 4.1 of the HyFi paper (Lowenthal, Subramanian). It begins with sin(pi x) sin(pi y),
// which each sweep multiplies by cos(pi / (n - 1)).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <vector>

#include "workloads/filaments.hpp"
#include "workloads/jacobi_grid.hpp"
#include "workloads/work_kinds.hpp"

namespace heddle::workloads {

namespace {

using namespace filaments;
using jacobi::sines;

struct JacobiSettings {
    explicit JacobiSettings(const Settings& settings)
        : n(settings.integer("n")),
          sweeps(settings.integer("sweeps")),
          tolerance(settings.number("tolerance")),
          everywhere(settings.text("fill") == "everywhere") {}

    std::int64_t n;
    std::int64_t sweeps;
    double tolerance;
    bool everywhere;  ///< each node fills both grids
};

/// A point of a sweep. `change`: the largest so far.
inline void relax(const SharedMatrix& old, const SharedMatrix& next, std::int64_t i, std::int64_t j,
                  double& change) {
    next.at(i, j) = (old.at(i - 1, j) + old.at(i + 1, j) + old.at(i, j - 1) + old.at(i, j + 1)) * 0.25;
    const double temp = std::fabs(next.at(i, j) - old.at(i, j));
    if (change < temp) change = temp;
}

/// `count` points of a row.
inline void relax_points(const SharedMatrix& old, const SharedMatrix& next, std::int64_t i, std::int64_t j,
                         std::uint64_t count, double& change) {
    double largest = change;  // no store to the grid can change it
    for (const auto end = j + static_cast<std::int64_t>(count); j < end; ++j) relax(old, next, i, j, largest);
    change = largest;
}

class Jacobi final : public ArrayProgram {
public:
    explicit Jacobi(const Settings& settings) : ArrayProgram(settings), settings_(settings) {}

    void main(Filaments& fil) override {
        const std::int64_t n = settings_.n;
        old_ = allocate(fil, "old", n);
        new_ = allocate(fil, "new", n);
        fil.seal();
        find(fil, old_);
        find(fil, new_);
        sines_ = sines(n);

        const auto per_pool = static_cast<std::uint64_t>(n * n);
        // Filling a point of both grids moves about as many bytes as computing it.
        auto& first = fil.create_phase<&Jacobi::begin, nullptr, &Jacobi::begin_touches>(
            *this, {.units = static_cast<std::uint64_t>(n), .at_once = 1});
        auto& sweep =
            fil.create_phase<&Jacobi::jacobi, &Jacobi::check, &Jacobi::jacobi_touches, &Jacobi::points>(
                *this, {.skip = skips()});
        auto& rows = fil.create_pool_array(first, per_pool, pools());
        auto& points = fil.create_pool_array(sweep, per_pool, pools());
        const auto mine = block(0, n, fil.nodes(), points.size()).of(fil.my_node());
        // Every node writes the same, so it does not matter which one is the last. The paper's main program
        // goes through the rows itself: so they are in one pool.
        for (const auto [i, pool] : settings_.everywhere ? block(0, n, 1, 1).of(0) : mine)
            fil.create_filament(rows[pool], i);
        for (const auto [i, pool] : mine) {
            if (i == 0 || i == n - 1) continue;
            for (std::int64_t j = 1; j < n - 1; ++j) fil.create_filament(points[pool], i, j);
        }
        fil.start();
        look_at_result(fil, mine);
    }

    runtime::Answer answer() const override {
        using Combine = runtime::AnswerValue::Combine;
        return {{"sweeps", static_cast<double>(sweeps_), Combine::max},
                {"largest_change", change_, Combine::max},
                {"deviation", deviation_, Combine::max},
                {"digest", digest_, Combine::sum_40_bits}};
    }

private:
    // --- the start
    void begin(Processor&, std::int64_t i) {
        // One grid after the other: two pages at a time would be taken away from each other by nodes that
        // fill the same row.
        const double height = sines_[static_cast<std::size_t>(i)];
        for (const SharedMatrix* const grid : {&old_, &new_})
            for (std::int64_t j = 0; j < settings_.n; ++j)
                grid->at(i, j) = height * sines_[static_cast<std::size_t>(j)];
    }
    void begin_touches(Ranges& ranges, std::int64_t i, std::uint64_t count) {
        ranges.writes(old_.shared, old_.place(i, 0), count * old_.stride);
        ranges.writes(new_.shared, new_.place(i, 0), count * new_.stride);
    }

    // --- a sweep (the paper's Figure 1)
    void jacobi(Processor& self, std::int64_t i, std::int64_t j) {
        relax(old_, new_, i, j, self.value(maxdiff_));
    }
    void points(Processor& self, std::int64_t i, std::int64_t j, std::uint64_t count) {
        relax_points(old_, new_, i, j, count, self.value(maxdiff_));
    }
    void jacobi_touches(Ranges& ranges, std::int64_t i, std::int64_t j, std::uint64_t count) {
        ranges.reads(old_.shared, old_.place(i - 1, j), count);
        ranges.reads(old_.shared, old_.place(i, j - 1), count + 2);
        ranges.reads(old_.shared, old_.place(i + 1, j), count);
        ranges.writes(new_.shared, new_.place(i, j), count);
    }
    PostPhase check(Filaments& fil) {
        change_ = fil.reduce(maxdiff_, max);
        ++sweeps_;
        std::swap(old_, new_);
        // Without kernels no point changes, so only the number of sweeps counts.
        const bool converged = !skips() && change_ < settings_.tolerance;
        if (sweeps_ == settings_.sweeps || converged) return F_DONE;
        fil.value(maxdiff_) = 0.0;
        return F_CONTINUE;
    }

    /// How far this node's rows are from the known answer, and a number that follows from their bits. Without
    /// kernels, only the pages come.
    void look_at_result(Filaments& fil, const std::vector<Iteration>& mine) {
        const double factor = jacobi::decay(settings_.n, static_cast<double>(sweeps_));
        std::uint64_t sum = 0;
        for (const Iteration& row : mine) {
            const auto checkout = fil.memory().touch(
                fil.strand(), {dsm::reading(old_.shared, old_.place(row.index, 0), old_.n)});
            if (skips()) continue;
            fil.strand().worker().compute({}, [&] { sum += look_at_row(row.index, factor); });
        }
        digest_ = short_digest(sum);
    }

    std::uint64_t look_at_row(std::int64_t i, double factor) {
        std::uint64_t sum = 0;
        for (std::int64_t j = 0; j < settings_.n; ++j) {
            const double value = old_.at(i, j);
            const double known =
                sines_[static_cast<std::size_t>(i)] * sines_[static_cast<std::size_t>(j)] * factor;
            deviate(deviation_, value, known);
            sum += digest(value, static_cast<std::uint64_t>(i * settings_.n + j));
        }
        return sum;
    }

    JacobiSettings settings_;
    SharedMatrix old_, new_;
    Reduction<double> maxdiff_{*this, "maxdiff"};
    std::vector<double> sines_;
    std::int64_t sweeps_ = 0;
    double change_ = 0;
    double deviation_ = 0;
    double digest_ = 0;
};

class JacobiWorkload final : public FilamentWorkload {
public:
    explicit JacobiWorkload(const Settings& settings) : stated_(settings), settings_(settings) {}

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<Jacobi>(stated_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        if (stated_.text("kernels") == "skip") return skipped();
        const auto value = [&](const std::string& name) {
            for (const auto& found : result.answer)
                if (found.name == name) return found.value;
            return std::nan("");
        };
        const double made = value("sweeps");
        const auto most = static_cast<double>(settings_.sweeps);
        const bool converged = made >= 1 && made < most && value("largest_change") < settings_.tolerance;
        if (made != most && !converged)
            return {
                Verdict::Kind::wrong,
                fmt::format("{} sweeps to a change of {}, where a run ends after {}, or at a change below {}",
                            made, value("largest_change"), most, settings_.tolerance)};
        // Each sweep rounds once a point, by at most half a unit in the last place of a number below one.
        const double allowed = 1e-15 * (4 + made);
        if (!(value("deviation") <= allowed)) {
            return {Verdict::Kind::wrong,
                    fmt::format("a point is {} from the start times cos(pi / (n - 1))^{}, and {} is allowed",
                                value("deviation"), made, allowed)};
        }
        // The change is that of two grids, each of which may deviate. One sweep less must not have been
        // enough.
        const double highest = std::ranges::max(sines(settings_.n));
        const auto change_of = [&](double sweep) { return jacobi::change_of(settings_.n, highest, sweep); };
        if (!(std::fabs(value("largest_change") - change_of(made)) <= 2 * allowed) ||
            (made > 1 && change_of(made - 1) < settings_.tolerance - 2 * allowed))
            return {Verdict::Kind::wrong,
                    fmt::format("{} sweeps to a change of {}, where the sweeps change {} and {} before that",
                                made, value("largest_change"), change_of(made), change_of(made - 1))};
        const auto sweeps = static_cast<std::int64_t>(made);
        if (!jacobi::is_small(settings_.n, sweeps))
            return {Verdict::Kind::right, "the start times cos(pi / (n - 1))^sweeps"};
        // One more, so that a run that stopped too early is noticed too.
        const jacobi::Sequential expected(settings_.n, std::min(settings_.sweeps, sweeps + 1),
                                          settings_.tolerance);
        if (made != static_cast<double>(expected.sweeps) ||
            value("largest_change") != expected.largest_change || value("digest") != expected.sum)
            return {
                Verdict::Kind::wrong,
                fmt::format("{} sweeps to a change of {}, or the bits of the points, are not the sequential "
                            "program's, which takes {} to {}",
                            made, value("largest_change"), expected.sweeps, expected.largest_change)};
        return {Verdict::Kind::right,
                "the start times cos(pi / (n - 1))^sweeps, and the sequential program's bits"};
    }

protected:
    /// Both grids; of a small run the sequential program has as many.
    MemoryTaken memory(const WorkerGrid& grid, const runtime::SharedPages& pages) const override {
        const bool compared = jacobi::is_small(settings_.n, sweeps_to_come());
        return memory_of({.shared = 2, .checked = compared ? 2.0 : 0}, stated_, grid, pages);
    }

private:
    /// At least so many. The change of a sweep falls, so the first one below the tolerance is found by
    /// halving.
    std::int64_t sweeps_to_come() const {
        const double highest = std::ranges::max(sines(settings_.n));
        const auto is_last = [&](std::int64_t sweep) {
            return jacobi::change_of(settings_.n, highest, static_cast<double>(sweep)) < settings_.tolerance;
        };
        std::int64_t least = 1, most = settings_.sweeps;
        while (least < most) {
            const std::int64_t middle = least + (most - least) / 2;
            if (is_last(middle)) {
                most = middle;
            } else {
                least = middle + 1;
            }
        }
        // Where rounding decides whether the change is small enough, one sweep less may be enough.
        return is_last(least) ? std::max<std::int64_t>(1, least - 1) : least;
    }

    Settings stated_;
    JacobiSettings settings_;
};

/// Sweeps over grids.
class JacobiKernel {
public:
    explicit JacobiKernel(std::int64_t side) : side_(side) {
        const auto width = static_cast<std::uint64_t>(side);
        const std::vector<double> heights = sines(side);
        for (SharedMatrix* const grid : {&old_, &new_}) {
            auto& numbers = numbers_.emplace_back(static_cast<std::size_t>(side * side));
            *grid = {{}, width, width, numbers.data()};
            for (std::int64_t i = 0; i < side; ++i)
                for (std::int64_t j = 0; j < side; ++j)
                    grid->at(i, j) =
                        heights[static_cast<std::size_t>(i)] * heights[static_cast<std::size_t>(j)];
        }
    }
    void operator()() {
        // As in a phase, the largest change is in memory, and points are in strips.
        double& change = *change_;
        change = 0;
        const std::int64_t end = side_ - 1;
        constexpr auto most = static_cast<std::int64_t>(strip_most);
        for (std::int64_t i = 1; i < end; ++i)
            for (std::int64_t j = 1; j < end; j += most)
                relax_points(old_, new_, i, j, static_cast<std::uint64_t>(std::min(most, end - j)), change);
        std::swap(old_, new_);
    }

    static Kernel::Sample sample(std::int64_t side) {
        const auto points = static_cast<double>((side - 2) * (side - 2));
        return {static_cast<double>(side), [side, points] {
                    return Kernel::Code{6 * points,
                                        [sweep = std::make_shared<JacobiKernel>(side)] { (*sweep)(); }};
                }};
    }

private:
    std::int64_t side_;
    SharedMatrix old_, new_;
    std::deque<std::vector<double>> numbers_;
    std::unique_ptr<double> change_ = std::make_unique<double>();
};

const KernelRegistration kernel{
    {"jacobi.point",
     {JacobiKernel::sample(64), JacobiKernel::sample(128), JacobiKernel::sample(256),
      JacobiKernel::sample(384), JacobiKernel::sample(768), JacobiKernel::sample(1536)}},
    {"jacobi"},
    "n"};

const Registration registration{
    {"jacobi", "Jacobi iteration on a grid that all nodes share, a filament for each point",
     FilamentWorkload::settings(
         {{"n", SettingKind::integer, "256", "points in a row, with the border", {}, 3, 100'000},
          {"sweeps", SettingKind::integer, "20", "at most so many", {}, 1, 1e9},
          {"fill",
           SettingKind::choice,
           "owner",
           "owner: each node begins with its own rows; everywhere: each node writes all rows, as the paper "
           "says",
           {"owner", "everywhere"}},
          {"tolerance",
           SettingKind::number,
           "0",
           "no more sweeps if no point has changed by so much",
           {},
           0}},
         "one point", "6f", "16B"),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<JacobiWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
