// ptrans: A := A^T + B of a square matrix over a grid of ranks, in blocks dealt out in turns (PTRANS of the
// HPC Challenge: Dongarra, Luszczek: "Introduction to the HPCChallenge benchmark suite", 2005; after
// PARKBENCH). Each element of the answer is compared.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/memory_need.hpp"
#include "workloads/spmd_settings.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using spmd::Index;
using spmd::Layout;
using spmd::RankId;
using spmd::Redistribution;
using spmd::Spmd;

struct Problem {
    Index n;
    Index block;              ///< 0: each rank has one
    std::uint32_t grid_rows;  ///< 0: the grid is as square as it can be
    std::uint64_t repeats;
    Index tile;
    bool add;

    /// Throws Error if the grid does not have so many rows.
    Layout layout(RankId ranks) const {
        std::uint32_t rows = grid_rows;
        if (rows == 0)
            for (std::uint32_t i = 1; i * i <= ranks; ++i)
                if (ranks % i == 0) rows = i;
        if (ranks % rows != 0)
            throw Error(fmt::format("a grid of {} rows for {} ranks", rows, ranks),
                        "choose a divisor of the number of ranks, or 0");
        const auto dealt = block > 0 ? spmd::Distribution::cyclic(block) : spmd::Distribution::block();
        return Layout({{n, dealt, rows}, {n, dealt, ranks / rows}});
    }
};

/// Elements of A and B in round `round`. They and their sums are whole numbers below 2^53, so sums are exact.
double a_at(Index row, Index column, std::uint64_t round) {
    return static_cast<double>((row * 1'000'003 + column * 7'919 + round) % 1'000'000'007);
}
double b_at(Index row, Index column) {
    return static_cast<double>((row * 104'729 + column * 1'299'709) % 1'000'000'007);
}

class PtransProgram final : public spmd::SpmdProgram {
public:
    PtransProgram(spmd::SpmdOptions options, const Problem& problem)
        : SpmdProgram(std::move(options)), problem_(problem) {}

    void set_up(runtime::Node& node) override {
        SpmdProgram::set_up(node);
        ranks_.resize(node.topology().cores);
        results_.resize(node.topology().cores);
    }

    // The first round is not measured.
    void main(Spmd& self) override {
        const RankThread thread(self);
        const Layout layout = problem_.layout(self.ranks());
        Redistribution transpose = Redistribution::transposed(layout, layout);
        transpose.set_tile(problem_.tile);
        Matrices& mine = ranks_[thread.place];
        Result& result = results_[self.thread_rank()];
        if (thread.leads()) undeclared(self, [&] { mine.resize(transpose.input_elements(self.rank())); });
        self.all_reduce_value(std::plus<>(), 0);  // all have their arrays
        for (std::uint64_t round = 0; round <= problem_.repeats; ++round) {
            each(self, layout, thread, [&](Index place, Index row, Index column) {
                mine.a[place] = a_at(row, column, round);
                mine.b[place] = b_at(row, column);
                mine.transposed[place] = -1;
            });
            self.all_reduce_value(std::plus<>(), 0);
            const double begin = seconds_of(self);
            redistribute(self, transpose, mine.a, mine.transposed);
            if (problem_.add) add(self, thread, mine);
            self.all_reduce_value(std::plus<>(), 0);
            if (round > 0) result.seconds += seconds_of(self) - begin;
            each(self, layout, thread, [&](Index place, Index row, Index column) {
                const double sum = problem_.add ? mine.a[place] : mine.transposed[place] + b_at(row, column);
                if (sum != a_at(column, row, round) + b_at(row, column)) ++result.wrong;
            });
            self.all_reduce_value(std::plus<>(), 0);
        }
    }

    runtime::Answer answer() const override {
        Result all;
        for (const Result& thread : results_) {
            all.wrong += thread.wrong;
            all.seconds = std::max(all.seconds, thread.seconds);
        }
        const auto max = runtime::AnswerValue::Combine::max;
        return {{"wrong", static_cast<double>(all.wrong)},
                {"round_time", all.seconds / static_cast<double>(problem_.repeats), max}};
    }

private:
    struct Matrices {
        void resize(Index elements) {
            for (std::vector<double>* all : {&a, &b, &transposed}) all->resize(elements);
        }
        std::vector<double> a, b, transposed;
    };
    struct Result {
        std::uint64_t wrong = 0;
        double seconds = 0;
    };

    /// Calls `visit` for the elements of the thread's rows.
    template <class Visit>
    static void each(const Spmd& self, const Layout& layout, const RankThread& thread, const Visit& visit) {
        const std::vector<Index> extents = layout.extents(self.rank());
        const auto [begin, end] = thread.share(extents[0]);
        const spmd::Dealt &rows = layout.dealt(0), &columns = layout.dealt(1);
        const std::uint32_t row_part = layout.node_part(self.rank(), 0),
                            column_part = layout.node_part(self.rank(), 1);
        undeclared(self, [&, first = begin, last = end] {
            for (Index i = first; i < last; ++i)
                for (Index j = 0; j < extents[1]; ++j)
                    visit(i * extents[1] + j, rows.global(row_part, i), columns.global(column_part, j));
        });
    }

    static void add(const Spmd& self, const RankThread& thread, Matrices& mine) {
        const auto [begin, end] = thread.share(mine.a.size());
        const auto n = static_cast<double>(end - begin);
        if (begin == end) return;
        self.worker().compute({n, 3 * sizeof(double) * n}, [&, first = begin, last = end] {
            for (Index i = first; i < last; ++i) mine.a[i] = mine.transposed[i] + mine.b[i];
        });
    }

    Problem problem_;
    std::vector<Matrices> ranks_;
    std::vector<Result> results_;
};

class Ptrans final : public Workload {
public:
    explicit Ptrans(const Settings& settings)
        : problem_{settings.integer<Index>("n"),
                   settings.integer<Index>("block"),
                   settings.integer<std::uint32_t>("grid_rows"),
                   settings.integer<std::uint64_t>("repeats"),
                   settings.integer<Index>("tile"),
                   settings.boolean("add")},
          options_(spmd_options(settings)),
          grid_rows_(settings.where("grid_rows")) {}

    void prepare(const ClusterView& cluster, const runtime::Schedule& /*schedule*/) override {
        try {
            problem_.layout(ranks_of(options_, cluster));
        } catch (const Error& error) {
            throw error.at(grid_rows_);
        }
        const auto n = static_cast<double>(problem_.n);
        need_memory(3 * sizeof(double) * n * n * share_here(options_, cluster),
                    fmt::format("three matrices of {0} x {0}", problem_.n), "lower workload.n");
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<PtransProgram>(options_, problem_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        return judge(result.answer, {{"wrong", 0}}, "each element of A^T + B, whose value is known");
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

private:
    Problem problem_;
    spmd::SpmdOptions options_;
    Location grid_rows_;
};

const Registration registration{
    {"ptrans", "A := A^T + B of a matrix in blocks over a grid of ranks: the time of a round",
     with_spmd_settings({{"n", SettingKind::integer, "1024", "rows and columns", {}, 1, 1e6},
                         {"block",
                          SettingKind::integer,
                          "64",
                          "rows and columns of a block; 0: each rank has one block",
                          {},
                          0,
                          1e6},
                         {"grid_rows",
                          SettingKind::integer,
                          "0",
                          "rows of the grid of ranks; 0: it is as square as it can be",
                          {},
                          0,
                          1e6},
                         {"repeats",
                          SettingKind::integer,
                          "3",
                          "rounds that are measured, after one that is not",
                          {},
                          1,
                          1e6},
                         {"tile",
                          SettingKind::integer,
                          "32",
                          "rows and columns of the tiles in which a rank transposes; 0: no tiles",
                          {},
                          0,
                          1e6},
                         {"add", SettingKind::boolean, "true", "whether B is added"}}),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<Ptrans>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
