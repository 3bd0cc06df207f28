// dataflow_jacobi: Jacobi iteration on an n x n grid with a border of zeros, as a plain loop of forks. Each
// strip of rows has a task in each sweep. The rows at the edges of a strip are objects of their own. So a
// task gets only those rows of its neighbours that it reads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "base/memory_need.hpp"
#include "model/dataflow.hpp"
#include "workloads/group_placing.hpp"
#include "workloads/jacobi_grid.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;

using Numbers = std::vector<double>;

struct Largest {
    void operator()(double& into, double from) const { into = std::max(into, from); }
};

/// Rows `first` to `last`, the last not included, of a grid of n.
struct Strip {
    std::int64_t n;
    std::int64_t first;
    std::int64_t last;

    std::size_t width() const { return static_cast<std::size_t>(n); }
    std::size_t rows() const { return static_cast<std::size_t>(last - first); }
};

Numbers row_of(const Numbers& rows, std::size_t row, std::size_t width) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(row * width);
    return {begin, begin + static_cast<std::ptrdiff_t>(width)};
}

void begin_strip(Thread& self, Strip strip, shared_w<Numbers> rows, shared_w<Numbers> top,
                 shared_w<Numbers> bottom) {
    const Numbers wave = jacobi::sines(strip.n);
    Numbers& made = rows.make(strip.rows() * strip.width());
    for (std::size_t i = 0; i < strip.rows(); ++i)
        for (std::size_t j = 0; j < strip.width(); ++j)
            made[i * strip.width() + j] = wave[static_cast<std::size_t>(strip.first) + i] * wave[j];
    self.work(made.size());
    top.write(row_of(made, 0, strip.width()));
    bottom.write(row_of(made, strip.rows() - 1, strip.width()));
}

/// One sweep over a strip. `above` and `below`: the rows next to it.
void sweep_strip(Thread& self, Strip strip, shared_r<Numbers> above, shared_r<Numbers> old,
                 shared_r<Numbers> below, shared_w<Numbers> rows, shared_w<Numbers> top,
                 shared_w<Numbers> bottom, shared_cw<double, Largest> change) {
    const std::size_t width = strip.width();
    const Numbers& before = old.read();
    Numbers& after = rows.make(before);
    double largest = 0;
    for (std::size_t i = 0; i < strip.rows(); ++i) {
        const double* const north = i == 0 ? above.read().data() : &before[(i - 1) * width];
        const double* const south = i + 1 == strip.rows() ? below.read().data() : &before[(i + 1) * width];
        const double* const here = &before[i * width];
        for (std::size_t j = 1; j + 1 < width; ++j) {
            const double value = (north[j] + south[j] + here[j - 1] + here[j + 1]) * 0.25;
            largest = std::max(largest, std::fabs(value - here[j]));
            after[i * width + j] = value;
        }
    }
    self.work(before.size());
    top.write(row_of(after, 0, width));
    bottom.write(row_of(after, strip.rows() - 1, width));
    change.add(largest);
}

/// No point has changed yet.
void begin_change(Thread& /*self*/, shared_w<double> change) {
    change = 0.0;
}

struct GridSettings {
    std::int64_t n;
    std::int64_t sweeps;
    std::int64_t strips;
    double unit_cost;
    Recorded recorded;
};

class DataflowJacobi final : public DataflowProgram {
public:
    /// `placer`: of the sweeps; null if they are stolen. `by_measure`: after the first iteration; null if
    /// they are not placed again.
    DataflowJacobi(const GridSettings& settings, const Placer* placer, const Placer* by_measure)
        : settings_(settings), placer_(placer), by_measure_(by_measure) {}

    runtime::Work unit() const override { return {settings_.unit_cost, 0}; }

    bool places() const override { return placer_ != nullptr; }
    bool records_elsewhere() const override { return placer_ && settings_.recorded == Recorded::everywhere; }
    void elsewhere(Thread& self) override {
        const std::vector<Strip> cut = cut_grid();
        const shared<Numbers> border(self);
        const Grid grids[2] = {Grid(self, cut.size(), border), Grid(self, cut.size(), border)};
        run_as_groups(self, grids, cut, shared<double>(self));
    }

    void main(Thread& self) override {
        const std::vector<Strip> cut = cut_grid();
        const shared<Numbers> border(self, Numbers(static_cast<std::size_t>(settings_.n)));
        const Grid grids[2] = {Grid(self, cut.size(), border), Grid(self, cut.size(), border)};
        for (std::size_t i = 0; i < cut.size(); ++i)
            self.fork<begin_strip>(cut[i], grids[0].rows[i], grids[0].top[i + 1], grids[0].bottom[i]);
        const std::int64_t last = settings_.sweeps % 2;
        if (placer_) {
            const shared<double> change(self);
            run_as_groups(self, grids, cut, change);
            change_ = change.read();
        } else {
            std::deque<shared<double>> changes;
            for (std::int64_t sweep = 0; sweep < settings_.sweeps; ++sweep) {
                changes.emplace_back(self);
                fork_sweep(self, grids[sweep % 2], grids[(sweep + 1) % 2], cut, changes.back());
            }
            self.sync();
            change_ = changes.back().read();
        }
        look_at(grids[last], cut);
    }

    runtime::Answer answer() const override {
        using Combine = runtime::AnswerValue::Combine;
        return {{"sweeps", static_cast<double>(done_), Combine::max},
                {"largest_change", change_, Combine::max},
                {"deviation", deviation_, Combine::max},
                {"digest", digest_, Combine::sum}};
    }

private:
    std::vector<Strip> cut_grid() const {
        const std::int64_t inner = settings_.n - 2;
        const std::int64_t strips = std::min(settings_.strips, inner);
        std::vector<Strip> cut;
        for (std::int64_t i = 0; i < strips; ++i)
            cut.push_back({settings_.n, 1 + inner * i / strips, 1 + inner * (i + 1) / strips});
        return cut;
    }

    struct Grid {
        /// `top[i + 1]` and `bottom[i]` are those of strip i; outside the strips is the border.
        Grid(Thread& self, std::size_t strips, const shared<Numbers>& border) : edge(border) {
            top.push_back(border);
            for (std::size_t i = 0; i < strips; ++i) {
                rows.emplace_back(self);
                top.emplace_back(self);
                bottom.emplace_back(self);
            }
        }
        const shared<Numbers>& bottom_above(std::size_t i) const { return i == 0 ? edge : bottom[i - 1]; }
        const shared<Numbers>& top_below(std::size_t i) const {
            return i + 1 == rows.size() ? edge : top[i + 2];
        }

        /// What a strip of it has when it travels.
        void say_bytes(GroupRecorder& recorder, std::size_t i, const Strip& strip) const {
            const auto row = sizeof(double) * static_cast<double>(strip.width());
            recorder.bytes(rows[i], row * static_cast<double>(strip.rows()));
            recorder.bytes(top[i + 1], row);
            recorder.bytes(bottom[i], row);
            recorder.bytes(edge, row);
        }

        shared<Numbers> edge;
        std::vector<shared<Numbers>> rows, top, bottom;
    };

    static void fork_sweep(Thread& self, const Grid& old, const Grid& next, const std::vector<Strip>& cut,
                           const shared<double>& change) {
        for (std::size_t i = 0; i < cut.size(); ++i) fork_strip(self, old, next, cut, i, change);
    }
    static void fork_strip(Thread& self, const Grid& old, const Grid& next, const std::vector<Strip>& cut,
                           std::size_t i, const shared<double>& change) {
        self.fork<sweep_strip>(cut[i], old.bottom_above(i), old.rows[i], old.top_below(i), next.rows[i],
                               next.top[i + 1], next.bottom[i], change);
    }

    /// Two sweeps are recorded, there and back between the grids, and run as often as it takes.
    void run_as_groups(Thread& self, const Grid (&grids)[2], const std::vector<Strip>& cut,
                       const shared<double>& change) const {
        const auto record = [&](GroupRecorder& recorder, std::int64_t sweeps) {
            for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
                const Grid& next = grids[(sweep + 1) % 2];
                // Of both: where the group is only recorded, nothing has been written before it either.
                for (const Grid& grid : grids)
                    for (std::size_t i = 0; i < cut.size(); ++i) grid.say_bytes(recorder, i, cut[i]);
                recorder.next(0);
                self.fork<begin_change>(change);
                for (std::size_t i = 0; i < cut.size(); ++i) {
                    recorder.next(settings_.unit_cost * static_cast<double>(cut[i].rows() * cut[i].width()));
                    fork_strip(self, grids[sweep % 2], next, cut, i, change);
                }
            }
        };
        if (settings_.sweeps > 1) {
            Group both(
                self, *placer_, [&](GroupRecorder& recorder) { record(recorder, 2); }, settings_.recorded);
            auto iterations = static_cast<std::uint32_t>(settings_.sweeps / 2);
            if (by_measure_) {
                both.measure();
                both.run();
                both.place(*by_measure_);
                --iterations;
            }
            both.run(iterations);
        }
        if (settings_.sweeps % 2 == 1) {
            Group one(
                self, *placer_, [&](GroupRecorder& recorder) { record(recorder, 1); }, settings_.recorded);
            one.run();
        }
    }

    /// How far the grid is from the known answer, and a number that follows from its bits.
    void look_at(const Grid& grid, const std::vector<Strip>& cut) {
        done_ = settings_.sweeps;
        const Numbers wave = jacobi::sines(settings_.n);
        const double factor = jacobi::decay(settings_.n, static_cast<double>(done_));
        Numbers all(wave.size() * wave.size());
        for (std::size_t i = 0; i < cut.size(); ++i)
            std::ranges::copy(grid.rows[i].read(), all.begin() + cut[i].first * settings_.n);
        std::uint64_t sum = 0;
        for (std::size_t at = 0; at < all.size(); ++at) {
            const double known = wave[at / wave.size()] * wave[at % wave.size()] * factor;
            deviate(deviation_, all[at], known);
            sum += digest(all[at], at);
        }
        digest_ = short_digest(sum);
    }

    GridSettings settings_;
    const Placer* placer_;
    const Placer* by_measure_;
    std::int64_t done_ = 0;
    double change_ = 0;
    double deviation_ = 0;
    double digest_ = 0;
};

class DataflowJacobiWorkload final : public Workload {
public:
    explicit DataflowJacobiWorkload(const Settings& settings)
        : settings_{settings.integer("n"), settings.integer("sweeps"), settings.integer("strips"),
                    settings.number("unit_cost"), recorded_in(settings)},
          where_(settings.where("n")),
          weights_(weights_in(settings)) {
        if (weights_ == Weights::measured && settings_.recorded == Recorded::everywhere)
            throw Error("weights are measured, and every node records the group",
                        "let one node record it, or declare the weights", settings.where("weights"));
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<DataflowJacobi>(settings_, placer_ ? &*placer_ : nullptr,
                                                by_measure_ ? &*by_measure_ : nullptr);
    }

    void prepare(const ClusterView& cluster, const runtime::Schedule& schedule) override {
        // One grid is where its strips were computed; the last one comes to node 0, which copies it.
        const auto n = static_cast<double>(settings_.n);
        need_memory(sizeof(double) * n * n * (2 + cluster.share_here()),
                    fmt::format("grids of {:.0f} x {:.0f} points", n, n), "lower workload.n", where_);
        placer_ = group_placer(cluster, schedule);
        if (weights_ == Weights::measured) by_measure_ = group_placer(cluster, schedule, weights_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const auto value = [&](const std::string& name) {
            for (const auto& found : result.answer)
                if (found.name == name) return found.value;
            return std::nan("");
        };
        // Each sweep rounds once a point, by at most half a unit in the last place of a number below one.
        const double allowed = 1e-15 * static_cast<double>(4 + settings_.sweeps);
        if (!(value("deviation") <= allowed)) {
            return {Verdict::Kind::wrong,
                    fmt::format("a point is {} from the start times cos(pi / (n - 1))^{}, and {} is allowed",
                                value("deviation"), settings_.sweeps, allowed)};
        }
        if (!jacobi::is_small(settings_.n, settings_.sweeps))
            return judge(result.answer, {{"sweeps", static_cast<double>(settings_.sweeps)}},
                         "the start times cos(pi / (n - 1))^sweeps");
        const jacobi::Sequential expected(settings_.n, settings_.sweeps, 0);
        return judge(result.answer,
                     {{"sweeps", static_cast<double>(expected.sweeps)},
                      {"largest_change", expected.largest_change},
                      {"digest", expected.sum}},
                     "the start times cos(pi / (n - 1))^sweeps, and the sequential program's bits");
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&Task<begin_strip>::travelling, &Task<sweep_strip>::travelling,
                &Task<begin_change>::travelling};
    }

private:
    GridSettings settings_;
    Location where_;  ///< of `n`
    Weights weights_;
    std::optional<Placer> placer_;
    std::optional<Placer> by_measure_;
};

const Registration registration{
    {"dataflow_jacobi",
     "Jacobi iteration on a grid by dataflow, a task for each strip of rows and each sweep",
     {{"n", SettingKind::integer, "128", "points in a row, with the border", {}, 3, 20'000},
      {"sweeps", SettingKind::integer, "20", "sweeps over the grid", {}, 1, 1e6},
      {"strips", SettingKind::integer, "8", "strips of rows, each of which is a task", {}, 1, 10'000},
      {"unit_cost", SettingKind::flops, "6f", "cost of one point where work is charged", {}, 0, flops_max},
      recording_setting(),
      weights_setting()},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<DataflowJacobiWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
