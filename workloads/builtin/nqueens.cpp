// nqueens: counts the placements of n queens on an n x n board in which none attacks another. Each placed
// queen is a task ("unthrottled"; Tremblay et al., section 5; Gautier et al., KAAPI, section 4).
#include <fmt/format.h>

#include <bit>

#include "base/random.hpp"
#include "model/fork_join.hpp"
#include "workloads/queens.hpp"
#include "workloads/unrolled.hpp"
#include "workloads/work_kinds.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using model::Strand;

using Board = QueensBoard;
using Found = QueensFound;

struct Queens {
    static constexpr auto name = "nqueens";
    static Found run(Strand strand, Board board, std::uint16_t cutoff) {
        if (board.rows_left < cutoff) {
            const Found found = search(board);
            strand.work(found.placements);
            return found;
        }
        strand.work();
        if (board.full()) return {1, 1};
        int forks = 0;
        board.places([&](const Board& next) {
            strand.fork<Queens>(next, cutoff);
            ++forks;
        });
        Found found{0, 1};
        for (; forks != 0; --forks) found += strand.join<Queens>();
        return found;
    }
};

struct QueensSettings {
    std::uint16_t n;
    std::uint16_t cutoff;
    double unit_cost;
};

/// How many placements a search from here makes, estimated by random ways down the tree: a way that had
/// d1, d2, ... free columns to choose from stands for 1 + d1 + d1 d2 + ... (Knuth: "Estimating the efficiency
/// of backtrack programs", Mathematics of Computation 29, 1975, section 2). The same on every node.
double estimated_placements(const Board& start) {
    constexpr int ways = 32;
    Random random = Random(1975).split(start.columns).split(start.left).split(start.right);
    double sum = 0;
    for (int way = 0; way < ways; ++way) {
        Board board = start;
        for (double alike = 1;;) {
            sum += alike;
            std::uint32_t free = board.rows_left == 0 ? 0 : board.free();
            if (free == 0) break;
            const int choices = std::popcount(free);
            for (auto skip = random.below(static_cast<std::uint64_t>(choices)); skip > 0; --skip)
                free &= free - 1;
            alike *= choices;
            board = board.with(free & (~free + 1));
        }
    }
    return sum / ways;
}

struct QueensTree {
    using Arguments = Board;
    using Count = Found;

    QueensSettings settings;

    Board root() const { return Board::empty(settings.n); }
    void children(const Board& board, std::vector<Board>& into) const {
        if (board.rows_left < settings.cutoff) return;
        board.places([&](const Board& next) { into.push_back(next); });
    }
    double weight(const Board& board) const { return estimated_placements(board); }
    Found visit(const Board&) const { return {0, 1}; }
    Found run(Strand strand, const Board& board) const { return strand.call<Queens>(board, settings.cutoff); }
    runtime::Answer answer(const Found& found) const { return answer_of(found); }
    std::size_t argument_bytes() const { return model::TaskFunction<Queens>::type.arguments_bytes(); }
    double unit_flops() const { return settings.unit_cost; }
};

class QueensProgram final : public model::ForkJoinProgram {
public:
    explicit QueensProgram(const QueensSettings& settings) : settings_(settings) {}

    runtime::Work unit() const override { return {settings_.unit_cost, 0}; }
    void root(Strand strand) override {
        answer_ = answer_of(strand.call<Queens>(Board::empty(settings_.n), settings_.cutoff));
    }
    runtime::Answer answer() const override { return answer_; }

private:
    QueensSettings settings_;
    runtime::Answer answer_;
};

class QueensWorkload final : public Workload {
public:
    explicit QueensWorkload(const Settings& settings)
        : stated_(settings),
          settings_{settings.integer<std::uint16_t>("n"), settings.integer<std::uint16_t>("cutoff"),
                    settings.number("unit_cost")} {
        if (settings.integer("cutoff") > settings.integer("n")) {
            throw Error(fmt::format("cutoff {} is more than the {} rows of the board",
                                    settings.integer("cutoff"), settings.integer("n")),
                        "cutoff is a number of rows: below it the search is sequential",
                        settings.where("cutoff"));
        }
    }

    void prepare(const ClusterView& cluster, const runtime::Schedule& schedule) override {
        unrolled_ = unroll(QueensTree{settings_}, stated_, cluster, schedule);
    }

    Forecast forecast() const override { return unrolled_ ? unrolled_->forecast() : Forecast{}; }

    std::optional<TaskLabel> label(std::uint64_t task) const override {
        return unrolled_ ? label_of(unrolled_->plan(), task, "nqueens") : std::nullopt;
    }

    std::unique_ptr<runtime::Program> program(NodeId node) const override {
        if (unrolled_) return std::make_unique<UnrolledProgram<QueensTree>>(*unrolled_, node);
        return std::make_unique<QueensProgram>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const runtime::Answer& answer = result.answer;
        return judge(answer, {{"solutions", known_queens[settings_.n]}}, "OEIS A000170");
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&model::TaskFunction<Queens>::type};
    }

private:
    Settings stated_;
    QueensSettings settings_;
    std::unique_ptr<const Unrolled<QueensTree>> unrolled_;
};

// So large a board that no processor learns its branches.
const KernelRegistration kernel{{"queens.placement",
                                 {{0, 60.0 * 856'189,
                                   [] {
                                       return [] {
                                           volatile int n = 12;
                                           [[maybe_unused]] volatile std::uint64_t placements =
                                               search(Board::empty(n)).placements;
                                       };
                                   }}}},
                                {"nqueens", "dataflow_nqueens"}};

const Registration registration{
    {"nqueens",
     "all ways to place n queens on an n x n board, a task for each placement",
     {{"n", SettingKind::integer, "10", "queens, and rows of the board", {}, 0, queens_max},
      {"cutoff",
       SettingKind::integer,
       "0",
       "sequential where fewer rows than this are left; 0: never",
       {},
       0,
       queens_max},
      {"unit_cost",
       SettingKind::flops,
       "60f",
       "cost of one placement where work is charged (60 flop: 6 ns at 10 Gf/s)",
       {},
       0,
       flops_max},
      UnrollLimits::setting()},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<QueensWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
