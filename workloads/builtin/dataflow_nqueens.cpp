// dataflow_nqueens: all ways to place n queens, by dataflow: tasks accumulate what they find in one shared
// object. Of boards that are turned or mirrored into each other one is searched, unless the settings say
// otherwise.
#include <fmt/format.h>

#include "model/dataflow.hpp"
#include "workloads/queens_symmetry.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;

struct AddFound {
    void operator()(ClassesFound& into, const ClassesFound& from) const { into += from; }
};
using Found = shared_cw<ClassesFound, AddFound>;

/// Searches a board, `times` of which are alike: `depth` rows by forks, the rest in one task.
void search_board(Thread& self, QueensBoard board, std::uint32_t depth, std::uint64_t times, Found found) {
    if (depth == 0 || board.full()) {
        const QueensFound here = search(board);
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
};

class DataflowQueens final : public DataflowProgram {
public:
    explicit DataflowQueens(const QueensSettings& settings) : settings_(settings) {}

    runtime::Work unit() const override { return {settings_.unit_cost, 0}; }

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

class DataflowQueensWorkload final : public Workload {
public:
    explicit DataflowQueensWorkload(const Settings& settings)
        : settings_{settings.integer<std::uint32_t>("n"), settings.integer<std::uint32_t>("depth"),
                    symmetry_of(settings.text("symmetry")), settings.number("unit_cost")} {}

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<DataflowQueens>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
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
