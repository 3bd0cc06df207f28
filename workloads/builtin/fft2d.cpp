// fft2d: the Fourier transform of a square array, dealt out by rows: transforms of rows, a transpose,
// transforms of rows, and a transpose back (Chiang, Wu, Lin: "Toward supporting data parallel programming on
// clusters of symmetric multiprocessors", section 3.3). The answer is compared with a closed form.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/memory_need.hpp"
#include "workloads/digest.hpp"
#include "workloads/fourier.hpp"
#include "workloads/spmd_settings.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using spmd::Index;
using spmd::Layout;
using spmd::RankId;
using spmd::Redistribution;
using spmd::Spmd;

constexpr double error_max = 1e-14;  ///< relative, in the L2 norm

/// The array is the sum of two products of geometric sequences, whose transforms are known.
constexpr double ratios[2][2] = {{0.75, -0.5}, {-0.9, 0.8}};

/// The transform of 1, r, r^2, ... at place k: a geometric sum.
Complex transformed(double ratio, Index k, Index n) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    return (1 - std::pow(ratio, static_cast<double>(n))) / (1.0 - std::polar(ratio, angle));
}

/// The factors of all places in a dimension: of both products.
using Factors = std::vector<std::array<Complex, 2>>;

template <class Value>
Factors factors(Index n, const Value& value) {
    Factors all(n);
    for (Index i = 0; i < n; ++i) all[i] = {value(0, i), value(1, i)};
    return all;
}

struct Sequences {
    explicit Sequences(Index n) {
        for (std::size_t d = 0; d < 2; ++d) {
            before[d] = factors(n, [&](std::size_t product, Index i) {
                return Complex(std::pow(ratios[product][d], static_cast<double>(i)));
            });
            after[d] = factors(
                n, [&](std::size_t product, Index i) { return transformed(ratios[product][d], i, n); });
        }
    }
    static Complex at(const std::array<Factors, 2>& of, Index row, Index column) {
        return of[0][row][0] * of[1][column][0] + of[0][row][1] * of[1][column][1];
    }

    std::array<Factors, 2> before, after;
};

struct Problem {
    Index n;
    std::uint64_t repeats;
    const Fourier* row;

    Layout rows(RankId ranks) const { return Layout({{n, spmd::Distribution::block(), ranks}, {n}}); }
};

class Fft2dProgram final : public spmd::SpmdProgram {
public:
    Fft2dProgram(spmd::SpmdOptions options, const Problem& problem)
        : SpmdProgram(std::move(options)), problem_(problem) {}

    void set_up(runtime::Node& node) override {
        SpmdProgram::set_up(node);
        ranks_.resize(node.topology().cores);
        seconds_.resize(node.topology().cores);
    }

    // The first round is not measured.
    void main(Spmd& self) override {
        const RankThread thread(self);
        const Layout rows = problem_.rows(self.ranks());
        const Redistribution transpose = Redistribution::transposed(rows, rows);
        std::optional<Sequences> made;
        undeclared(self, [&] { made.emplace(problem_.n); });
        const Sequences& sequences = *made;
        auto& [t, tr] = ranks_[thread.place];
        if (thread.leads())
            undeclared(self, [&] {
                t.resize(transpose.input_elements(self.rank()));
                tr.resize(t.size());
            });
        self.all_reduce_value(std::plus<>(), 0);  // all have their arrays
        for (std::uint64_t round = 0; round <= problem_.repeats; ++round) {
            each(self, rows, thread, [&](Index place, Index row, Index column) {
                t[place] = Sequences::at(sequences.before, row, column);
            });
            self.all_reduce_value(std::plus<>(), 0);
            const double begin = seconds_of(self);
            transform_rows(self, thread, t);
            redistribute(self, transpose, t, tr);
            transform_rows(self, thread, tr);
            redistribute(self, transpose, tr, t);
            if (round > 0) seconds_[self.thread_rank()] += seconds_of(self) - begin;
            judge_round(self, rows, thread, sequences, t);
        }
    }

    runtime::Answer answer() const override {
        const auto max = runtime::AnswerValue::Combine::max;
        return {
            {"relative_error", error_, max},
            {"round_time", *std::ranges::max_element(seconds_) / static_cast<double>(problem_.repeats), max}};
    }

private:
    struct Arrays {
        std::vector<Complex> t, tr;
    };

    void transform_rows(const Spmd& self, const RankThread& thread, std::vector<Complex>& array) const {
        const auto [begin, end] = thread.share(array.size() / problem_.n);
        if (begin == end) return;
        const auto rows = static_cast<double>(end - begin);
        const runtime::Work row = problem_.row->work();
        self.worker().compute({rows * row.flops, rows * row.bytes}, [&, first = begin, last = end] {
            for (Index i = first; i < last; ++i) problem_.row->transform(&array[i * problem_.n]);
        });
    }

    void judge_round(Spmd& self, const Layout& rows, const RankThread& thread, const Sequences& sequences,
                     const std::vector<Complex>& t) {
        double wrong = 0, right = 0;
        each(self, rows, thread, [&](Index place, Index row, Index column) {
            const Complex exact = Sequences::at(sequences.after, row, column);
            wrong += std::norm(t[place] - exact);
            right += std::norm(exact);
        });
        wrong = self.all_reduce_value(std::plus<>(), wrong);
        right = self.all_reduce_value(std::plus<>(), right);
        if (self.thread_rank() == 0) deviate_in_norm(error_, wrong, right);
    }

    /// Calls `visit` for the elements of the thread's rows.
    template <class Visit>
    void each(const Spmd& self, const Layout& rows, const RankThread& thread, const Visit& visit) const {
        const auto [begin, end] = thread.share(rows.extents(self.rank())[0]);
        const std::uint32_t part = rows.node_part(self.rank(), 0);
        undeclared(self, [&, first = begin, last = end] {
            for (Index i = first; i < last; ++i)
                for (Index j = 0; j < problem_.n; ++j)
                    visit(i * problem_.n + j, rows.dealt(0).global(part, i), j);
        });
    }

    Problem problem_;
    std::vector<Arrays> ranks_;
    std::vector<double> seconds_;
    double error_ = 0;
};

class Fft2d final : public Workload {
public:
    explicit Fft2d(const Settings& settings)
        : n_(settings.integer<Index>("n")),
          repeats_(settings.integer<std::uint64_t>("repeats")),
          options_(spmd_options(settings)) {}

    void prepare(const ClusterView& cluster, const runtime::Schedule& /*schedule*/) override {
        const auto n = static_cast<double>(n_);
        need_memory(2 * sizeof(Complex) * n * n * share_here(options_, cluster),
                    fmt::format("two arrays of {0} x {0}", n_), "lower workload.n");
        row_ = std::make_unique<Fourier>(std::vector<int>{static_cast<int>(n_)}, Fourier::Direction::forward);
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<Fft2dProgram>(options_, Problem{n_, repeats_, row_.get()});
    }

    Verdict check(const runtime::RunResult& result) const override {
        const double error = result.answer[0].value;
        const std::string reason = fmt::format(
            "the relative error is {:.3g}, of at most {}; the transform of geometric sequences is known",
            error, error_max);
        return {error <= error_max ? Verdict::Kind::right : Verdict::Kind::wrong, reason};
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

private:
    Index n_;
    std::uint64_t repeats_;
    spmd::SpmdOptions options_;
    std::unique_ptr<Fourier> row_;
};

const Registration registration{
    {"fft2d", "the Fourier transform of a square array by rows, with two transposes: the time of a round",
     with_spmd_settings({{"n", SettingKind::integer, "512", "rows and columns", {}, 1, 1e5},
                         {"repeats",
                          SettingKind::integer,
                          "3",
                          "rounds that are measured, after one that is not",
                          {},
                          1,
                          1e6}}),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<Fft2d>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
