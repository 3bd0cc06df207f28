// Runs every scheduler on every published graph. Each schedule is feasible by the checker, and never below a
// lower bound or a proved optimum. No bound of ours is above the best known schedule. The known values come
// with the graphs.
#include <optional>

#include "graphs/graph_file.hpp"
#include "tests/scheduler_testing.hpp"

namespace heddle::schedulers {
namespace {

using graphs::GraphFile;
using testing::data;

namespace fs = std::filesystem;

/// What others know of an instance.
struct Known {
    double least = 0;                 ///< no schedule is shorter
    std::optional<double> best = {};  ///< a published schedule is as short
};

/// Portfolios that stop when they have asked so often, so that the outcome does not depend on the machine.
Options asked_at_most(int calls) {
    return {1, [left = calls]() mutable { return left-- <= 0; }};
}

constexpr int portfolio_questions = 2000;

class ScheduledRealGraphs : public ::testing::Test {
protected:
    void SetUp() override {
        if (data().empty()) GTEST_SKIP() << "no published graphs beside the project";
    }
    void TearDown() override { RecordProperty("schedules", std::to_string(schedules_)); }

    void hold(const GraphFile& file, Machine machine, const std::string& what, const Known& known = {}) {
        const Problem problem(file.graph, std::move(machine));
        const double bound = lower_bounds(problem).best();
        if (known.best) {
            EXPECT_LE(bound, *known.best * (1 + 1e-9)) << what;
        }
        double best = std::numeric_limits<double>::infinity();
        for (const Kind& kind : all()) {
            const Schedule schedule = kind.make()->schedule(problem, asked_at_most(portfolio_questions));
            const std::string where = what + ", " + kind.name;
            const std::vector<std::string> violations = verify(problem, schedule);
            EXPECT_TRUE(violations.empty()) << where << ": " << violations.front();
            EXPECT_GE(schedule.makespan(), std::max(bound, known.least) * (1 - 1e-9)) << where;
            EXPECT_LE(schedule.proved_bound(), schedule.makespan() * (1 + 1e-9)) << where;
            if (known.best) {
                EXPECT_LE(schedule.proved_bound(), *known.best * (1 + 1e-9)) << where;
            }
            if (kind.name == "portfolio") {
                EXPECT_LE(schedule.makespan(), best) << where;
            }
            best = std::min(best, schedule.makespan());
            ++schedules_;
        }
    }

    /// If no optimum is known: the literature's machine of four processors, one without an end, and
    /// two nodes of two with a network of 10 Gbit/s and 100 us, where a unit of work is a second.
    void hold_on_usual_machines(const fs::path& path) {
        const GraphFile file = graphs::read_task_graph(path.string());
        const std::string what = path.filename().string();
        hold(file, Machine::equal(4), what + " on 4");
        hold(file, Machine::equal(unbounded), what + " on any number");
        hold(file, Machine::nodes({2, 2}, 1, {}, {1e-4, 8e-10}), what + " on 2 nodes of 2");
    }

    /// Rows of a table: graph, processors and the columns asked for, by graph.
    static std::map<std::string, std::map<ProcessorIndex, Known>> table(const fs::path& path,
                                                                        std::size_t least, std::size_t best) {
        std::map<std::string, std::map<ProcessorIndex, Known>> known;
        for (const auto& row : testing::read_csv(path)) {
            known[row.at(0)][static_cast<ProcessorIndex>(std::stoul(row.at(1)))] = {std::stod(row.at(least)),
                                                                                    std::stod(row.at(best))};
        }
        return known;
    }

private:
    std::size_t schedules_ = 0;
};

TEST_F(ScheduledRealGraphs, StandardTaskGraphsOnTwoToSixteenProcessors) {
    const auto known = table(data() / "stg" / "stg_bounds_shared.csv", 6, 7);
    std::size_t compared = 0;
    for (const fs::path& path : testing::files_in(data() / "stg", ".stg")) {
        const GraphFile file = graphs::read_task_graph(path.string());
        const std::string name = fs::relative(path, data() / "stg").string();
        const auto rows = known.find(name);
        for (const ProcessorIndex processors : {2U, 4U, 8U, 16U}) {
            Known values;
            if (rows != known.end()) values = rows->second.at(processors);
            compared += rows != known.end();
            hold(file, Machine::without_communication(processors), name + " on " + std::to_string(processors),
                 values);
        }
    }
    EXPECT_GE(compared, 900U);
}

TEST_F(ScheduledRealGraphs, SinnensGraphsNeverBelowTheProvedOptimum) {
    std::size_t compared = 0;
    for (const auto& [name, rows] : table(data() / "sinnen" / "optimal_shared.csv", 4, 4)) {
        const GraphFile file =
            graphs::read_task_graph((data() / "sinnen" / "graphs" / (name + ".dot")).string());
        for (const auto& [processors, known] : rows) {
            hold(file, Machine::equal(processors), name + " on " + std::to_string(processors), known);
            ++compared;
        }
    }
    for (const auto& [name, rows] : table(data() / "sinnen" / "basic" / "optimal.csv", 2, 2)) {
        const GraphFile file = graphs::read_task_graph((data() / "sinnen" / "basic" / name).string());
        for (const auto& [processors, known] : rows) {
            hold(file, Machine::equal(processors), name + " on " + std::to_string(processors), known);
            ++compared;
        }
    }
    EXPECT_EQ(compared, 276U + 10U);
}

TEST_F(ScheduledRealGraphs, SinnensGraphsOnTheUsualMachines) {
    for (const fs::path& path : testing::files_in(data() / "sinnen", ".dot")) hold_on_usual_machines(path);
}

TEST_F(ScheduledRealGraphs, HeterogeneousGraphsNeverBelowTheProvedOptimum) {
    // Optima by exhaustive search, as the collection of the graphs gives them.
    const std::map<std::string, double> optima = {
        {"Ilavarasan-3-10", 73}, {"Ahmad-3-9", 27},  {"Daoud-2-11", 56}, {"Eswari-2-11", 56},
        {"Kang1-3-10", 73},      {"Kang2-3-10", 79}, {"Sample-3-8", 81}};
    std::vector<fs::path> paths = testing::files_in(data() / "hetero", ".txt");
    for (const fs::path& path : testing::files_in(data() / "hetero", ".dag")) paths.push_back(path);
    ASSERT_EQ(paths.size(), 12U);
    std::size_t compared = 0;
    for (const fs::path& path : paths) {
        const GraphFile file = graphs::read_task_graph(path.string());
        std::vector<double> times;
        for (const std::vector<double>& row : file.costs) times.insert(times.end(), row.begin(), row.end());
        const auto processors = static_cast<ProcessorIndex>(file.costs.front().size());
        Known known;
        if (const auto optimum = optima.find(path.stem().string()); optimum != optima.end()) {
            known = {optimum->second, optimum->second};
            ++compared;
        }
        hold(file, Machine::unrelated(processors, std::move(times)), path.filename().string(), known);
    }
    EXPECT_EQ(compared, optima.size());
}

TEST_F(ScheduledRealGraphs, WorkflowsOnTheUsualMachines) {
    std::vector<fs::path> paths = testing::files_in(data() / "dax", ".xml");
    for (const fs::path& path : testing::files_in(data() / "wfcommons", ".json")) paths.push_back(path);
    ASSERT_EQ(paths.size(), 22U);
    for (const fs::path& path : paths) hold_on_usual_machines(path);
}

TEST_F(ScheduledRealGraphs, TheCheckerAcceptsPublishedOptimalSchedulesAndNoneThatEndsEarlier) {
    static const std::regex node(R"((\w+)\s*\[Weight=\d+,\s*Start=(\d+),\s*Processor=(\d+)\])");
    for (const std::string name : {"Nodes_8_Random", "Nodes_11_OutTree"}) {
        const fs::path path = data() / "sinnen" / "basic" / (name + "-output.dot");
        const GraphFile file = graphs::read_task_graph(path.string());
        std::map<std::string, Slot> published;
        const std::string text = testing::text_of(path);
        for (std::sregex_iterator i(text.begin(), text.end(), node), end; i != end; ++i) {
            published[(*i)[1]] = {static_cast<ProcessorIndex>(std::stoul((*i)[3]) - 1), std::stod((*i)[2]),
                                  0};
        }
        ASSERT_EQ(published.size(), file.graph.tasks()) << name;
        std::vector<Slot> slots;
        ProcessorIndex processors = 1;
        for (TaskIndex task = 0; task < file.graph.tasks(); ++task) {
            slots.push_back(published.at(file.graph.name(task)));
            slots.back().finish = slots.back().start + file.graph.flops(task);
            processors = std::max(processors, slots.back().processor + 1);
        }
        const Problem problem(file.graph, Machine::equal(processors));
        const Schedule schedule(problem, slots);
        EXPECT_EQ(verify(problem, schedule), std::vector<std::string>{}) << name;
        const Schedule ours = make("portfolio")->schedule(problem);
        EXPECT_TRUE(ours.proved_optimal()) << name;
        EXPECT_EQ(ours.makespan(), schedule.makespan()) << name;
        // The last task waits for its data or its processor: otherwise the schedule could be shorter.
        const auto last = static_cast<std::size_t>(
            std::max_element(slots.begin(), slots.end(),
                             [](const Slot& a, const Slot& b) { return a.finish < b.finish; }) -
            slots.begin());
        slots[last].start -= 1;
        slots[last].finish -= 1;
        EXPECT_FALSE(verify(problem, Schedule(problem, slots)).empty()) << name;
    }
}

}  // namespace
}  // namespace heddle::schedulers
