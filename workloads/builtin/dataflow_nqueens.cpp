// dataflow_nqueens: all ways to place n queens, by dataflow: tasks accumulate what they find in one shared
// object. Boards that mirror each other are searched once, unless the settings say otherwise.
#include <fmt/format.h>

#include "model/dataflow.hpp"
#include "workloads/queens.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;

struct AddFound {
    void operator()(QueensFound& into, const QueensFound& from) const { into += from; }
};

/// Searches a board, `times` of which are alike: `depth` rows by forks, the rest in one task.
void search_board(Thread& self, QueensBoard board, std::uint32_t depth, std::uint64_t times,
                  shared_cw<QueensFound, AddFound> found) {
    if (depth == 0 || board.full()) {
        const QueensFound here = search(board);
        self.work(here.placements);
        return found.add(QueensFound{here.solutions * times, here.placements});
    }
    self.work();
    found.add(QueensFound{0, 1});
    board.places([&](const QueensBoard& next) { self.fork<search_board>(next, depth - 1, times, found); });
}

struct QueensSettings {
    std::uint32_t n;
    std::uint32_t depth;
    bool mirrored;
    double unit_cost;
};

class DataflowQueens final : public DataflowProgram {
public:
    explicit DataflowQueens(const QueensSettings& settings) : settings_(settings) {}

    runtime::Work unit() const override { return {settings_.unit_cost, 0}; }

    void main(Thread& self) override {
        shared<QueensFound> found(self, QueensFound{});
        const QueensBoard empty = QueensBoard::empty(static_cast<int>(settings_.n));
        if (!settings_.mirrored || settings_.n < 2) {
            self.fork<search_board>(empty, settings_.depth, 1U, found);
        } else {
            fork_half(self, empty, found);
        }
        self.sync();
        answer_ = answer_of(found.read());
    }

    runtime::Answer answer() const override { return answer_; }

private:
    /// The first queen in the left half, twice; if there is a middle column, once there.
    void fork_half(Thread& self, const QueensBoard& empty, const shared<QueensFound>& found) const {
        const std::uint32_t below = settings_.depth == 0 ? 0 : settings_.depth - 1;
        for (std::uint32_t column = 0; column < (settings_.n + 1) / 2; ++column) {
            const bool middle = 2 * column + 1 == settings_.n;
            self.fork<search_board>(empty.with(1U << column), below, middle ? 1U : 2U, found);
        }
    }

    QueensSettings settings_;
    runtime::Answer answer_;
};

class DataflowQueensWorkload final : public Workload {
public:
    explicit DataflowQueensWorkload(const Settings& settings)
        : settings_{settings.integer<std::uint32_t>("n"), settings.integer<std::uint32_t>("depth"),
                    settings.text("symmetry") == "mirror", settings.number("unit_cost")} {}

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<DataflowQueens>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        return judge(result.answer, {{"solutions", known_queens.at(settings_.n)}}, "OEIS A000170");
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {&Task<search_board>::travelling}; }

private:
    QueensSettings settings_;
};

const Registration registration{
    {"dataflow_nqueens",
     "all ways to place n queens, by dataflow: tasks accumulate what they find",
     {{"n", SettingKind::integer, "10", "queens, and rows of the board", {}, 0, queens_max},
      {"depth", SettingKind::integer, "3", "rows that are filled by forks; the rest is one task", {}, 0, 18},
      {"symmetry",
       SettingKind::choice,
       "mirror",
       "mirror: the first queen in the left half only, counted twice; none: everywhere",
       {"mirror", "none"}},
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
