// Schedules published graphs with known answers: from the HEFT paper, Kwok and Ahmad, Sinnen (proved optima),
// small heterogeneous ones, and the Standard Task Graph Set. The answers come with the graphs.
#include <chrono>

#include "partitioners/schedulers/levels.hpp"
#include "tests/scheduler_testing.hpp"
#include "tests/seeds.hpp"

namespace heddle::schedulers {
namespace {

using testing::data;
using testing::expect_feasible;

class Published : public ::testing::Test {
protected:
    void SetUp() override {
        if (data().empty()) GTEST_SKIP() << "no published graphs beside the project";
    }
};

Options seconds(double budget) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(budget);
    return {1, [end] { return Clock::now() > end; }};
}

TEST_F(Published, HeftAndCpopGiveTheirPapersAnswers) {
    const auto example = testing::read_heterogeneous(data() / "hetero" / "Synthetic" / "Ilavarasan-3-10.txt");
    const Problem problem(example.graph, example.machine);
    EXPECT_EQ(make("heft")->schedule(problem).makespan(), 80);
    EXPECT_EQ(make("cpop")->schedule(problem).makespan(), 86);
    const std::vector<double> rank = bottom_levels(problem);
    const std::vector<double> known = {108, 77, 80, 80, 69, 63.333, 42.667, 35.667, 44.333, 14.667};
    ASSERT_EQ(rank.size(), known.size());
    for (std::size_t i = 0; i < rank.size(); ++i) EXPECT_NEAR(rank[i], known[i], 5e-4) << i;
}

TEST_F(Published, SmallHeterogeneousGraphsAreSolvedWithProof) {
    const std::map<std::string, double> optima = {
        {"Ilavarasan-3-10", 73}, {"Ahmad-3-9", 27},  {"Daoud-2-11", 56}, {"Eswari-2-11", 56},
        {"Kang1-3-10", 73},      {"Kang2-3-10", 79}, {"Sample-3-8", 81}};
    for (const auto& [name, optimum] : optima) {
        const auto example = testing::read_heterogeneous(data() / "hetero" / "Synthetic" / (name + ".txt"));
        const Problem problem(example.graph, example.machine);
        for (const Kind& kind : all()) {
            const Schedule schedule = kind.make()->schedule(problem);
            expect_feasible(problem, schedule, name + " " + kind.name);
            EXPECT_GE(schedule.makespan(), optimum) << name << " " << kind.name;
            if (kind.name != "portfolio") continue;
            EXPECT_EQ(schedule.makespan(), optimum) << name;
            EXPECT_TRUE(schedule.proved_optimal()) << name;
        }
    }
}

TEST_F(Published, LargerHeterogeneousGraphsHaveFeasibleSchedules) {
    const auto files = testing::files_in(data() / "hetero", ".dag");
    ASSERT_FALSE(files.empty());
    for (const auto& file : files) {
        const auto example = testing::read_heterogeneous(file);
        const Problem problem(example.graph, example.machine);
        for (const Kind& kind : all()) {
            expect_feasible(problem, kind.make()->schedule(problem, seconds(0.2)),
                            file.filename().string() + " " + kind.name);
        }
    }
}

TEST_F(Published, KwokAndAhmadsGraphIsSolvedOnOneToFourProcessors) {
    const TaskGraph graph = testing::read_dot(data() / "misc_dags" / "kwok_ahmad_9node.dot");
    const std::vector<double> optima = {30, 17, 16, 16};
    for (ProcessorIndex processors = 1; processors <= 4; ++processors) {
        const Schedule schedule = make("portfolio")->schedule(Problem(graph, Machine::equal(processors)));
        EXPECT_EQ(schedule.makespan(), optima[processors - 1]);
        EXPECT_TRUE(schedule.proved_optimal());
    }
}

TEST_F(Published, DscIsOptimalForForksAndJoins) {
    const std::map<std::string, double> optima = {
        {"Fork_Nodes_10_CCR_0.10", 167}, {"Fork_Nodes_10_CCR_0.99", 20},  {"Fork_Nodes_10_CCR_1.97", 34},
        {"Fork_Nodes_10_CCR_10.00", 47}, {"Join_Nodes_10_CCR_0.10", 130}, {"Join_Nodes_10_CCR_1.00", 26},
        {"Join_Nodes_10_CCR_2.00", 24},  {"Join_Nodes_10_CCR_10.07", 52}};
    for (const auto& [name, optimum] : optima) {
        const TaskGraph graph =
            testing::read_dot(data() / "sinnen" / "graphs" / (name + "_WeightType_Random.dot"));
        EXPECT_EQ(make("dsc")->schedule(Problem(graph, Machine::equal(unbounded))).makespan(), optimum)
            << name;
    }
}

/// Gerasoulis and Yang's granularity: 1 or more means coarse grain, for which DSC is within a factor 2.
double granularity(const TaskGraph& graph) {
    double least = std::numeric_limits<double>::infinity();
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        for (const bool forward : {false, true}) {
            double work = std::numeric_limits<double>::infinity(), bytes = 0;
            for (const auto& link : forward ? graph.successors(task) : graph.predecessors(task)) {
                work = std::min(work, graph.flops(link.task));
                bytes = std::max(bytes, link.bytes);
            }
            if (bytes > 0) least = std::min(least, work / bytes);
        }
    }
    return least;
}

TEST_F(Published, SchedulersComeNearSinnensOptima) {
    std::map<std::string, double> sums;
    double portfolio_everywhere = 0;
    int few = 0, everywhere = 0, coarse = 0;
    for (const auto& row : testing::read_csv(data() / "sinnen" / "optimal_shared.csv")) {
        const TaskGraph graph = testing::read_dot(data() / "sinnen" / "graphs" / (row.at(0) + ".dot"));
        ASSERT_EQ(graph.tasks(), std::stoul(row.at(2))) << row[0];
        ASSERT_EQ(graph.edges(), std::stoul(row.at(3))) << row[0];
        const auto processors = static_cast<ProcessorIndex>(std::stoul(row.at(1)));
        const double optimum = std::stod(row.at(4));
        const Problem problem(graph, Machine::equal(processors));
        few += processors <= 4;
        ++everywhere;
        for (const Kind& kind : all()) {
            const Schedule schedule = kind.make()->schedule(problem, seconds(1));
            expect_feasible(problem, schedule, row[0] + " " + kind.name);
            EXPECT_GE(schedule.makespan(), optimum) << row[0] << " " << kind.name;
            if (processors <= 4) sums[kind.name] += schedule.makespan() / optimum;
            if (kind.name == "portfolio") portfolio_everywhere += schedule.makespan() / optimum;
        }
        if (processors == 16 && granularity(graph) >= 1) {
            ++coarse;
            EXPECT_LE(make("dsc")->schedule(Problem(graph, Machine::equal(unbounded))).makespan(),
                      2 * optimum)
                << row[0];
        }
    }
    ASSERT_GE(few, 100);
    EXPECT_GE(coarse, 5);
    for (const auto& [name, sum] : sums) RecordProperty(name, std::to_string(sum / few));
    for (const char* name : {"etf", "heft", "mcp"}) EXPECT_LE(sums[name] / few, 1.25) << name;
    EXPECT_LE(sums["dsc"] / few, 1.40);
    EXPECT_LE(sums["portfolio"] / few, 1.02);
    EXPECT_LE(portfolio_everywhere / everywhere, 1.05);
}

TEST_F(Published, PortfolioReachesTheBestKnownOnTheStandardTaskGraphSet) {
    unsigned found = 0;
    int reached = 0, cases = 0;
    for (const auto& row : testing::read_csv(data() / "stg" / "stg_bounds_shared.csv")) {
        const auto file = data() / "stg" / row.at(0);
        if (!std::filesystem::exists(file) || ++found % testing_seeds::stride() != 0) continue;
        const TaskGraph graph = testing::read_stg(file);
        const Problem problem(
            graph, Machine::without_communication(static_cast<ProcessorIndex>(std::stoul(row.at(1)))));
        const Schedule schedule = make("portfolio")->schedule(problem, seconds(0.5));
        expect_feasible(problem, schedule, row[0]);
        EXPECT_GE(schedule.makespan(), std::stod(row.at(6))) << row[0];
        ++cases;
        reached += schedule.makespan() <= std::stod(row.at(7));
    }
    ASSERT_GE(found, 500);
    RecordProperty("reached", std::to_string(reached) + " of " + std::to_string(cases));
    EXPECT_GE(reached, 0.98 * cases);
}

}  // namespace
}  // namespace heddle::schedulers
