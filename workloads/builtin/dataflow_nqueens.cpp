// dataflow_nqueens: all ways to place n queens, by dataflow: tasks accumulate what they find in one shared
// object. Of boards that are turned or mirrored into each other one is searched, unless the settings say
// otherwise. For boards that take too long the search may be estimated and declared.
#include <cmath>

#include "base/error.hpp"
#include "model/dataflow.hpp"
#include "workloads/queens_symmetry.hpp"
#include "workloads/work_kinds.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;

struct AddFound {
    void operator()(ClassesFound& into, const ClassesFound& from) const { into += from; }
};
using Found = shared_cw<ClassesFound, AddFound>;

/// The search of the rest of a board in one task; or where the program estimates, an estimate.
QueensFound search_or_estimate(const Thread& self, const QueensBoard& board);

/// Searches a board, `times` of which are alike: `depth` rows by forks, the rest in one task.
void search_board(Thread& self, QueensBoard board, std::uint32_t depth, std::uint64_t times, Found found) {
    if (depth == 0 || board.full()) {
        const QueensFound here = search_or_estimate(self, board);
        self.work(here.placements);
        return found.add(ClassesFound{here.solutions * times, here.placements, 0});
    }
    self.work();
    found.add(ClassesFound{0, 1, 0});
    board.places([&](const QueensBoard& next) { self.fork<search_board>(next, depth - 1, times, found); });
}

/// The same for boards that may be the least of their images.
void search_least(Thread& self, LeastBoard board, std::uint32_t depth, Found found) {
    if (depth == 0 || board.full()) {
        const ClassesFound here = search(board);
        self.work(here.placements);
        return found.add(here);
    }
    self.work();
    found.add(ClassesFound{0, 1, 0});
    board.places([&](const LeastBoard& next) { self.fork<search_least>(next, depth - 1, found); });
}

enum class Symmetry : std::uint8_t { all, mirror, none };

Symmetry symmetry_of(const std::string& name) {
    return name == "all" ? Symmetry::all : name == "mirror" ? Symmetry::mirror : Symmetry::none;
}

struct QueensSettings {
    std::uint32_t n;
    std::uint32_t depth;
    Symmetry symmetry;
    double unit_cost;
    std::uint32_t descents;  ///< of an estimate; 0: boards are searched
};

class DataflowQueens final : public DataflowProgram {
public:
    explicit DataflowQueens(const QueensSettings& settings) : settings_(settings) {}

    runtime::Work unit() const override { return {settings_.unit_cost, 0}; }

    const QueensSettings& settings() const { return settings_; }

    void main(Thread& self) override {
        shared<ClassesFound> found(self, ClassesFound{});
        const int n = static_cast<int>(settings_.n);
        if (settings_.symmetry == Symmetry::all) {
            self.fork<search_least>(LeastBoard::empty(n), settings_.depth, found);
        } else if (settings_.symmetry == Symmetry::none || n < 2) {
            self.fork<search_board>(QueensBoard::empty(n), settings_.depth, 1U, found);
        } else {
            fork_half(self, QueensBoard::empty(n), found);
        }
        self.sync();
        found_ = found.read();
        ended_ = true;
    }

    runtime::Answer answer() const override {
        if (!ended_) return {};
        if (settings_.descents != 0) return {{"placements", static_cast<double>(found_.placements)}};
        runtime::Answer answer = answer_of(QueensFound{found_.solutions, found_.placements});
        if (settings_.symmetry == Symmetry::all)
            answer.push_back({"fundamental", static_cast<double>(found_.fundamental)});
        return answer;
    }

private:
    /// The first queen in the left half, twice; if there is a middle column, once there.
    void fork_half(Thread& self, const QueensBoard& empty, const shared<ClassesFound>& found) const {
        const std::uint32_t below = settings_.depth == 0 ? 0 : settings_.depth - 1;
        for (std::uint32_t column = 0; column < (settings_.n + 1) / 2; ++column) {
            const bool middle = 2 * column + 1 == settings_.n;
            self.fork<search_board>(empty.with(1U << column), below, middle ? 1U : 2U, found);
        }
    }

    QueensSettings settings_;
    ClassesFound found_;
    bool ended_ = false;
};

QueensFound search_or_estimate(const Thread& self, const QueensBoard& board) {
    const std::uint32_t descents = self.program<DataflowQueens>().settings().descents;
    if (descents == 0) return search(board);
    const std::uint64_t key = std::uint64_t{board.columns} << 32 | board.left;
    const double placements = estimate_placements(board, descents, Random(key).split(board.right));
    return {0, static_cast<std::uint64_t>(std::llround(placements))};
}

class DataflowQueensWorkload final : public Workload {
public:
    explicit DataflowQueensWorkload(const Settings& settings)
        : settings_{
              settings.integer<std::uint32_t>("n"), settings.integer<std::uint32_t>("depth"),
              symmetry_of(settings.text("symmetry")), settings.number("unit_cost"),
              settings.text("subtrees") == "estimate" ? settings.integer<std::uint32_t>("descents") : 0} {
        if (settings_.descents == 0 || settings_.symmetry != Symmetry::all) return;
        throw Error("subtrees are estimated of boards of which no image is left out",
                    "state symmetry: mirror, or none", settings.where("subtrees"));
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<DataflowQueens>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        if (settings_.descents != 0) {
            return {Verdict::Kind::unchecked, "subtrees are estimated: none is searched"};
        }
        const double solutions = known_queens.at(settings_.n);
        if (settings_.symmetry != Symmetry::all)
            return judge(result.answer, {{"solutions", solutions}}, "OEIS A000170");
        return judge(result.answer,
                     {{"solutions", solutions}, {"fundamental", known_fundamental_queens.at(settings_.n)}},
                     "OEIS A000170 and A002562");
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&Task<search_board>::travelling, &Task<search_least>::travelling};
    }

private:
    QueensSettings settings_;
};

const UnitRegistration unit{"dataflow_nqueens", {"queens.placement", ""}};

const Registration registration{
    {"dataflow_nqueens",
     "all ways to place n queens, by dataflow: tasks accumulate what they find",
     {{"n", SettingKind::integer, "10", "queens, and rows of the board", {}, 0, symmetric_queens_max},
      {"depth",
       SettingKind::integer,
       "3",
       "queens that are placed by forks; the rest is one task",
       {},
       0,
       symmetric_queens_max},
      {"symmetry",
       SettingKind::choice,
       "all",
       "all: of boards turned or mirrored into each other one is searched; mirror: the first queen in the "
       "left "
       "half only, counted twice; none: everywhere",
       {"all", "mirror", "none"}},
      {"subtrees",
       SettingKind::choice,
       "run",
       "run: the boards below depth are searched; estimate: their search is estimated, and only declared",
       {"run", "estimate"}},
      {"descents", SettingKind::integer, "10", "random descents of an estimate", {}, 1, 1e6},
      {"unit_cost",
       SettingKind::flops,
       "60f",
       "cost of one placement where work is charged (60 flop: 6 ns at 10 Gf/s)",
       {},
       0,
       flops_max}},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<DataflowQueensWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
