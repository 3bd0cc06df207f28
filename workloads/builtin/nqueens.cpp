// nqueens: counts the placements of n queens on an n x n board in which none attacks another. Each placed
// queen is a task ("unthrottled"; Tremblay et al., section 5; Gautier et al., KAAPI, section 4).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

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

/// The searches in which a tree of tasks ends at a cutoff, from boards of 12 queens. The fewer rows are left,
/// the shorter the loops, and the less of a search a processor foresees.
class SearchKernel {
public:
    static Kernel::Sample sample(std::uint16_t cutoff) {
        return {static_cast<double>(cutoff), [cutoff] { return code(cutoff); }};
    }
    static Kernel::Sample whole_board() {
        return {0, [] { return code(queens + 1); }};
    }

    void operator()() const {
        std::uint64_t sum = 0;
        for (const Board& board : boards_) sum += search(board).placements;
        [[maybe_unused]] volatile std::uint64_t placements = sum;
    }

private:
    static constexpr std::uint16_t queens = 12;
    /// As many as no processor learns.
    static constexpr double placements_min = 200'000;

    static Kernel::Code code(std::uint16_t cutoff) {
        SearchKernel kernel(cutoff);
        return {60 * kernel.placements_, std::move(kernel)};
    }

    explicit SearchKernel(std::uint16_t cutoff) {
        std::vector<Board> all;
        collect(Board::empty(queens), cutoff, all);
        const double of_all = placements_of(all);
        // Evenly from the whole tree, because boards that follow each other are alike.
        const auto step = static_cast<std::size_t>(std::max(1.0, of_all / placements_min));
        for (std::size_t i = 0; i < all.size(); i += step) boards_.push_back(all[i]);
        placements_ = placements_of(boards_);
    }
    static void collect(const Board& board, std::uint16_t cutoff, std::vector<Board>& into) {
        if (board.rows_left < cutoff) return into.push_back(board);
        board.places([&](const Board& next) { collect(next, cutoff, into); });
    }
    static double placements_of(const std::vector<Board>& boards) {
        double sum = 0;
        for (const Board& board : boards) sum += static_cast<double>(search(board).placements);
        return sum;
    }

    std::vector<Board> boards_;
    double placements_ = 0;
};

const KernelRegistration kernel{
    {"queens.placement",
     {SearchKernel::whole_board(), SearchKernel::sample(4), SearchKernel::sample(5), SearchKernel::sample(6),
      SearchKernel::sample(7), SearchKernel::sample(8), SearchKernel::sample(10)}},
    {"nqueens"},
    "cutoff"};

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
