// Tests generated graphs: tasks, edges and critical paths as their formulas say, and equal graphs for an
// equal seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/memory_need.hpp"
#include "graphs/generators/generator.hpp"

namespace heddle::graphs {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

std::string text(std::size_t number) {
    return std::to_string(number);
}

std::map<std::string, std::size_t> tasks_by_kernel(const GraphFile& file) {
    std::map<std::string, std::size_t> counts;
    for (const std::uint16_t kernel : file.kernel_of) ++counts[file.kernels[kernel]];
    return counts;
}

/// The most tasks on any path, as a list of equal tasks would be counted.
double path_in_tasks(const GraphFile& file, double flops) {
    return file.graph.critical_path().length / flops;
}

bool equal(const TaskGraph& a, const TaskGraph& b) {
    if (a.tasks() != b.tasks() || a.edges() != b.edges()) return false;
    for (TaskIndex task = 0; task < a.tasks(); ++task) {
        if (a.flops(task) != b.flops(task) || a.successors(task).size() != b.successors(task).size())
            return false;
        for (std::size_t i = 0; i < a.successors(task).size(); ++i) {
            if (a.successors(task)[i].task != b.successors(task)[i].task) return false;
            if (a.successors(task)[i].bytes != b.successors(task)[i].bytes) return false;
        }
    }
    return true;
}

TEST(Generators, CholeskyHasTheTasksEdgesAndPathOfItsFormulas) {
    const double b3 = 10.0 * 10 * 10;
    for (std::size_t n = 1; n <= 12; ++n) {
        const GraphFile file = generate("cholesky", {{"tiles", text(n)}, {"tile_size", "10"}});
        const std::size_t pairs = n * (n - 1) / 2, triples = n < 3 ? 0 : n * (n - 1) * (n - 2) / 6;
        const auto counts = tasks_by_kernel(file);
        EXPECT_EQ(counts.at("potrf"), n);
        if (n > 1) {
            EXPECT_EQ(counts.at("trsm"), pairs);
        }
        if (n > 1) {
            EXPECT_EQ(counts.at("syrk"), pairs);
        }
        if (n > 2) {
            EXPECT_EQ(counts.at("gemm"), triples);
        }
        EXPECT_EQ(file.graph.tasks(), n + 2 * pairs + triples);
        EXPECT_EQ(file.graph.edges(), 3 * pairs + 3 * triples);
        // The work of a dense factorization of 10n numbers a side is (10n)^3 / 3, and lower-order terms of
        // whole tiles.
        EXPECT_NEAR(file.graph.total_work(),
                    b3 * (static_cast<double>(n) / 3 + 2.0 * static_cast<double>(pairs) +
                          2.0 * static_cast<double>(triples)),
                    1e-6);
        EXPECT_NEAR(file.graph.total_work(), b3 * std::pow(static_cast<double>(n), 3) / 3, 1e-6 * b3);
        // potrf, then n - 1 times trsm with a gemm between two of them, syrk, potrf.
        const double path =
            n == 1 ? 1.0 / 3 : 2.0 / 3 + static_cast<double>(n - 1) + 2.0 * static_cast<double>(n - 2) + 1;
        EXPECT_NEAR(file.graph.critical_path().length, path * b3, 1e-6) << n;
        EXPECT_EQ(file.data, n * n);
    }
}

TEST(Generators, LuHasTheTasksEdgesAndPathOfItsFormulas) {
    const double b3 = 10.0 * 10 * 10;
    for (std::size_t n = 1; n <= 10; ++n) {
        const GraphFile file = generate("lu", {{"tiles", text(n)}, {"tile_size", "10"}});
        const std::size_t squares = (n - 1) * n * (2 * n - 1) / 6;
        EXPECT_EQ(file.graph.tasks(), n + n * (n - 1) + squares);
        EXPECT_EQ(file.graph.edges(), n * (n - 1) + 3 * squares);
        EXPECT_NEAR(file.graph.total_work(), b3 * 2 * std::pow(static_cast<double>(n), 3) / 3, 1e-6 * b3);
        // Each step: getrf, trsm, gemm; and the last getrf.
        const double path = 2.0 / 3 * static_cast<double>(n) + 3.0 * static_cast<double>(n - 1);
        EXPECT_NEAR(file.graph.critical_path().length, path * b3, 1e-6) << n;
    }
}

TEST(Generators, FftHasTheTasksEdgesAndPathOfItsFormulas) {
    for (std::size_t m = 0; m <= 8; ++m) {
        const std::size_t points = std::size_t{1} << m;
        const GraphFile file = generate("fft", {{"points", text(points)}, {"flops", "3f"}});
        EXPECT_EQ(file.graph.tasks(), 2 * points - 1 + points * m);
        EXPECT_EQ(file.graph.edges(), 2 * points - 2 + 2 * points * m);
        EXPECT_EQ(path_in_tasks(file, 3), static_cast<double>(2 * m + 1));
        // Every path is a critical path: all exits have every entry above them.
        EXPECT_EQ(tasks_by_kernel(file).at("call"), 2 * points - 1);
    }
    EXPECT_THROW(generate("fft", {{"points", "12"}}), Error);
}

TEST(Generators, StencilsHaveTheTasksEdgesPathAndDataOfTheirFormulas) {
    for (std::size_t w = 1; w <= 6; ++w) {
        for (std::size_t steps = 1; steps <= 4; ++steps) {
            const GraphFile line =
                generate("stencil_1d", {{"width", text(w)}, {"steps", text(steps)}, {"flops", "2f"}});
            EXPECT_EQ(line.graph.tasks(), w * steps);
            EXPECT_EQ(line.graph.edges(), (steps - 1) * (3 * w - 2));
            EXPECT_EQ(path_in_tasks(line, 2), static_cast<double>(steps));
            for (std::size_t h = 1; h <= 4; ++h) {
                const Values values{{"width", text(w)}, {"height", text(h)}, {"steps", text(steps)}};
                const GraphFile mesh = generate("stencil_2d", values);
                EXPECT_EQ(mesh.graph.tasks(), w * h * steps);
                EXPECT_EQ(mesh.graph.edges(), (steps - 1) * (5 * w * h - 2 * w - 2 * h));
                if (steps == 1) continue;
                const DataGraph data = mesh.data_graph();
                EXPECT_EQ(data.data(), w * h);
                EXPECT_EQ(data.edges(), 2 * w * h - w - h);
            }
        }
    }
    EXPECT_EQ(generate("stencil_1d", {{"width", "5"}, {"steps", "3"}, {"periodic", "true"}}).graph.edges(),
              2U * 15);
    EXPECT_EQ(generate("stencil_2d", {{"width", "5"}, {"height", "4"}, {"steps", "2"}, {"periodic", "true"}})
                  .graph.edges(),
              5U * 20);
}

TEST(Generators, ForkJoinAndTreesHaveTheTasksEdgesAndPathsOfTheirFormulas) {
    for (std::size_t width = 1; width <= 5; ++width) {
        for (std::size_t stages = 1; stages <= 4; ++stages) {
            const GraphFile file =
                generate("fork_join", {{"width", text(width)}, {"stages", text(stages)}, {"flops", "1f"}});
            EXPECT_EQ(file.graph.tasks(), stages * (width + 1) + 1);
            EXPECT_EQ(file.graph.edges(), 2 * stages * width);
            EXPECT_EQ(path_in_tasks(file, 1), static_cast<double>(2 * stages + 1));
        }
    }
    for (std::size_t arity = 1; arity <= 4; ++arity) {
        std::size_t tasks = 0, level = 1;
        for (std::size_t depth = 0; depth <= 4; ++depth, level *= arity) {
            tasks += level;
            const Values values{{"depth", text(depth)}, {"arity", text(arity)}, {"flops", "1f"}};
            const GraphFile in = generate("in_tree", values), out = generate("out_tree", values);
            for (const GraphFile* file : {&in, &out}) {
                EXPECT_EQ(file->graph.tasks(), tasks);
                EXPECT_EQ(file->graph.edges(), tasks - 1);
                EXPECT_EQ(path_in_tasks(*file, 1), static_cast<double>(depth + 1));
            }
            EXPECT_EQ(out.graph.predecessors(0).size(), 0U);
            EXPECT_EQ(in.graph.successors(0).size(), 0U);
            EXPECT_EQ(out.graph.successors(0).size(), depth == 0 ? 0 : arity);
        }
    }
    EXPECT_THROW(generate("out_tree", {{"depth", "40"}}), Error);
}

/// Series and parallel reductions lead to a single edge exactly if the graph is series-parallel.
bool is_series_parallel(const TaskGraph& graph) {
    std::map<std::pair<TaskIndex, TaskIndex>, int> edges;
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        for (const TaskGraph::Link& link : graph.successors(task))
            edges[{task, link.task}] = 1;  // parallel reduction
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (TaskIndex task = 0; task < graph.tasks() && !changed; ++task) {
            std::vector<std::pair<TaskIndex, TaskIndex>> in, out;
            for (const auto& [edge, unused] : edges) {
                if (edge.second == task) in.push_back(edge);
                if (edge.first == task) out.push_back(edge);
            }
            if (in.size() != 1 || out.size() != 1) continue;
            edges.erase(in[0]);
            edges.erase(out[0]);
            edges[{in[0].first, out[0].second}] = 1;
            changed = true;
        }
    }
    return edges.size() == 1;
}

TEST(Generators, SeriesParallelGraphsAreSeriesParallelWithOneEntryAndOneExit) {
    for (std::size_t tasks = 2; tasks <= 60; ++tasks) {
        const GraphFile file = generate("series_parallel", {{"tasks", text(tasks)}, {"seed", text(tasks)}});
        ASSERT_EQ(file.graph.tasks(), tasks);
        std::size_t entries = 0, exits = 0;
        for (TaskIndex task = 0; task < file.graph.tasks(); ++task) {
            entries += file.graph.predecessors(task).empty();
            exits += file.graph.successors(task).empty();
        }
        EXPECT_EQ(entries, 1U);
        EXPECT_EQ(exits, 1U);
        EXPECT_TRUE(is_series_parallel(file.graph)) << tasks;
    }
    EXPECT_EQ(generate("series_parallel", {{"tasks", "1"}}).graph.tasks(), 1U);
    // The test of the test: a task graph with the shape of the letter N is not series-parallel.
    TaskGraphBuilder builder;
    for (int i = 0; i < 6; ++i) builder.add_task(1);
    for (const auto& [from, to] : std::vector<std::pair<TaskIndex, TaskIndex>>{
             {0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 4}, {3, 5}, {4, 5}}) {
        builder.add_edge(from, to, 1);
    }
    EXPECT_FALSE(is_series_parallel(builder.build()));
}

TEST(Generators, LayeredGraphsHaveTheirLayersAndDegrees) {
    const GraphFile file = generate(
        "layered", {{"tasks", "1000"}, {"width", "25"}, {"degree", "4"}, {"reach", "3"}, {"flops", "1f"}});
    EXPECT_EQ(file.graph.tasks(), 1000U);
    EXPECT_EQ(path_in_tasks(file, 1), 40);  // every layer has a task that waits for the one before
    for (TaskIndex task = 0; task < 1000; ++task) {
        const TaskIndex layer = task / 25;
        EXPECT_EQ(file.graph.predecessors(task).size(), layer == 0 ? 0U : 4U);
        for (const TaskGraph::Link& link : file.graph.predecessors(task)) {
            EXPECT_LT(link.task / 25, layer);
            EXPECT_GE(link.task / 25 + 3, layer);
        }
    }
}

TEST(Generators, TaskBenchPatternsHaveTheEdgesOfTheirFormulas) {
    const std::size_t w = 16, steps = 9, rows = steps - 1;
    const std::map<std::string, std::size_t> edges = {
        {"trivial", 0},
        {"no_communication", rows * w},
        {"stencil", rows * (3 * w - 2)},
        {"stencil_periodic", rows * 3 * w},
        {"nearest", rows * (5 * w - 6)},   // 2 and 1 missing at each end
        {"spread", rows * 5 * w - 2 * w},  // in steps 4 and 7 one of the five is the column itself
        {"random", rows * 5 * w},
        {"all_to_all", rows * w * w},
        // Distances 1, 2, 4, 8 twice over: 2 (w - d) edges besides w straight ones.
        {"fft", rows * w + 2 * (2 * (15 + 14 + 12 + 8))},
    };
    for (const Setting& setting : generator_named("task_bench").settings()) {
        if (setting.name == "pattern") {
            ASSERT_EQ(setting.choices.size(), edges.size() + 2);  // and those of the next test
        }
    }
    for (const auto& [pattern, expected] : edges) {
        const GraphFile file = generate("task_bench", {{"pattern", pattern},
                                                       {"width", text(w)},
                                                       {"steps", text(steps)},
                                                       {"radix", "5"},
                                                       {"flops", "1f"}});
        EXPECT_EQ(file.graph.tasks(), w * steps);
        EXPECT_EQ(file.graph.edges(), expected) << pattern;
        EXPECT_EQ(path_in_tasks(file, 1), pattern == "trivial" ? 1 : static_cast<double>(steps)) << pattern;
        EXPECT_EQ(file.data, w);
    }
}

// As core/core.cc of Task Bench: step t of a tree has min(width, 2^t) tasks, of a sweep
// min(width, t + 1, steps - t).
TEST(Generators, TaskBenchsTreeAndSweepGrowFromOneTask) {
    struct Expected {
        const char* pattern;
        std::size_t width, steps, tasks, edges, entries;
    };
    for (const Expected& expected : {
             Expected{"tree", 16, 16, 207, 206, 1},
             Expected{"tree", 16, 3, 7, 6, 1},
             Expected{"tree", 5, 40, 192, 191, 1},  // 1, 2, 4, then 37 rows of 5
             Expected{"tree", 1, 3, 3, 2, 1},
             Expected{"sweep", 16, 31, 256, 480, 1},    // the diagonals of a square
             Expected{"sweep", 16, 40, 400, 759, 1},    // 9 more rows of 16, with 15 + 16 edges
             Expected{"sweep", 16, 16, 72, 120, 8},     // each of the seven rows that grow adds an entry
             Expected{"sweep", 1'000'000, 3, 4, 3, 2},  // 1, 2 and 1 tasks
             Expected{"sweep", 1, 3, 3, 2, 1},
         }) {
        const GraphFile file = generate("task_bench", {{"pattern", expected.pattern},
                                                       {"width", text(expected.width)},
                                                       {"steps", text(expected.steps)},
                                                       {"flops", "1f"}});
        SCOPED_TRACE(std::string(expected.pattern) + " " + text(expected.width) + " " + text(expected.steps));
        EXPECT_EQ(file.graph.tasks(), expected.tasks);
        EXPECT_EQ(file.graph.edges(), expected.edges);
        EXPECT_EQ(path_in_tasks(file, 1), static_cast<double>(expected.steps));
        std::size_t entries = 0;
        for (TaskIndex task = 0; task < file.graph.tasks(); ++task)
            entries += file.graph.predecessors(task).empty();
        EXPECT_EQ(entries, expected.entries);
        EXPECT_LE(file.data, expected.width);
    }
    // Also in a row as wide as the one before it, column c needs c / 2.
    const GraphFile tree = generate("task_bench", {{"pattern", "tree"}, {"width", "16"}, {"steps", "16"}});
    for (TaskIndex column = 0; column < 16; ++column)
        EXPECT_EQ(tree.graph.predecessors(207 - 16 + column)[0].task, 207 - 32 + column / 2);
}

TEST(Generators, CommunicationPatternsHaveTheTasksEdgesPathAndDataOfTheirFormulas) {
    for (std::size_t w = 1; w <= 6; ++w) {
        for (std::size_t steps = 1; steps <= 4; ++steps) {
            const std::size_t rows = steps - 1;
            const Values values{{"width", text(w)}, {"steps", text(steps)}, {"flops", "2f"}};
            const GraphFile all = generate("all_to_all", values), many = generate("incast", values);
            const GraphFile pairs =
                generate("ping_pong", {{"pairs", text(w)}, {"steps", text(steps)}, {"flops", "2f"}});
            EXPECT_EQ(all.graph.edges(), rows * w * w);
            EXPECT_EQ(many.graph.edges(), rows * (2 * w - 1));
            EXPECT_EQ(pairs.graph.edges(), rows * w);
            for (const GraphFile* file : {&all, &many, &pairs}) {
                EXPECT_EQ(file->graph.tasks(), w * steps);
                EXPECT_EQ(path_in_tasks(*file, 2), static_cast<double>(steps));
            }
            EXPECT_EQ(all.data, w);
            EXPECT_EQ(many.data, w);
            EXPECT_EQ(pairs.data, steps == 1 ? w : 2 * w);
            // Only column 0 receives from other columns, and no column waits for it.
            for (TaskIndex task = static_cast<TaskIndex>(w); task < many.graph.tasks(); ++task) {
                EXPECT_EQ(many.graph.predecessors(task).size(), task % w == 0 ? w : 1U);
            }
        }
    }
    EXPECT_THROW(generate("all_to_all", {{"width", "100000"}, {"steps", "2"}}), Error);
}

TEST(Generators, SameSeedSameGraphOtherSeedOtherGraph) {
    for (const Generator& generator : generators()) {
        Settings settings(generator.settings());
        const GraphFile once = generator.make(settings), again = generator.make(settings);
        EXPECT_GT(once.graph.tasks(), 10U) << generator.name;
        EXPECT_TRUE(equal(once.graph, again.graph)) << generator.name;
        if (generator.name == "cholesky" || generator.name == "lu") continue;
        if (generator.name != "topcuoglu") settings.set("spread", "0.5");
        const GraphFile uneven = generator.make(settings);
        settings.set("seed", "2");
        EXPECT_FALSE(equal(uneven.graph, generator.make(settings).graph)) << generator.name;
    }
    for (const char* name : {"layered", "series_parallel"}) {
        EXPECT_FALSE(equal(generate(name, {{"seed", "1"}}).graph, generate(name, {{"seed", "2"}}).graph))
            << name;
    }
}

TEST(Generators, SpreadIsHowFarWeightsLieFromTheirMean) {
    const GraphFile file =
        generate("layered", {{"tasks", "5000"}, {"flops", "100f"}, {"bytes", "1000B"}, {"spread", "0.5"}});
    double least = 1e9, most = 0, bytes = 0;
    for (TaskIndex task = 0; task < 5000; ++task) {
        least = std::min(least, file.graph.flops(task));
        most = std::max(most, file.graph.flops(task));
        for (const TaskGraph::Link& link : file.graph.successors(task)) bytes += link.bytes;
    }
    EXPECT_GE(least, 50);
    EXPECT_LT(least, 51);
    EXPECT_LE(most, 150);
    EXPECT_GT(most, 149);
    EXPECT_NEAR(file.graph.total_work() / 5000, 100, 2);
    EXPECT_NEAR(bytes / static_cast<double>(file.graph.edges()), 1000, 20);
    EXPECT_THROW(generate("layered", {{"spread", "1.5"}}), Error);
}

/// The setting that an error names; empty if there is a graph.
std::string refused_setting(const std::string& name, const Values& values) {
    const Generator& generator = generator_named(name);
    Settings settings(generator.settings());
    for (const auto& [key, value] : values) settings.set(key, value, {key, 0});
    try {
        (void)generator.make(settings);
    } catch (const Error& error) {
        return error.where().file;
    }
    return "";
}

// As on a machine with a gigabyte: a graph that would be larger is refused before it takes any of it.
TEST(Generators, GraphsThatAreTooLargeAreRefusedByTheSettingThatMakesThem) {
    set_available_memory(1e9);
    const std::string huge = "1000000000";
    const std::vector<std::pair<std::string, std::vector<std::string>>> counts{
        {"fork_join", {"width", "stages"}},
        {"in_tree", {"depth", "arity"}},
        {"out_tree", {"depth", "arity"}},
        {"series_parallel", {"tasks"}},
        {"layered", {"tasks"}},
        {"stencil_1d", {"width", "steps"}},
        {"stencil_2d", {"width", "height", "steps"}},
        {"all_to_all", {"width", "steps"}},
        {"incast", {"width", "steps"}},
        {"ping_pong", {"pairs", "steps"}},
        {"task_bench", {"width", "steps"}},
        {"topcuoglu", {"tasks", "processors"}}};
    for (const auto& [name, settings] : counts)
        for (const std::string& setting : settings)
            EXPECT_EQ(refused_setting(name, {{setting, huge}}), setting) << name;
    EXPECT_EQ(refused_setting("fft", {{"points", "536870912"}}), "points");
    EXPECT_EQ(refused_setting("fork_join", {{"width", huge}, {"stages", huge}}), "width");
    EXPECT_EQ(refused_setting("stencil_2d", {{"width", huge}, {"height", huge}, {"steps", huge}}), "width");
    EXPECT_EQ(refused_setting("layered", {{"tasks", "1000000"}, {"width", "100000"}, {"degree", "99999"}}),
              "tasks");
    EXPECT_EQ(refused_setting("topcuoglu", {{"tasks", "1000000"}, {"out_degree", huge}}), "out_degree");
    for (const char* pattern : {"all_to_all", "spread", "nearest", "random"})
        EXPECT_EQ(refused_setting("task_bench", {{"pattern", pattern}, {"width", "20000"}, {"radix", huge}}),
                  "radix")
            << pattern;
    // These make no large graph.
    for (const char* setting : {"width", "degree", "reach"})
        EXPECT_EQ(refused_setting("layered", {{setting, huge}}), "");
    for (const char* pattern : {"stencil", "spread", "nearest", "random"})
        EXPECT_EQ(refused_setting("task_bench", {{"pattern", pattern}, {"radix", huge}}), "") << pattern;
    EXPECT_EQ(refused_setting("task_bench", {{"pattern", "sweep"}, {"width", huge}}), "");
    EXPECT_EQ(refused_setting("task_bench", {{"pattern", "tree"}, {"width", huge}}), "");
    EXPECT_EQ(refused_setting("topcuoglu", {{"out_degree", huge}}), "");
    set_available_memory(std::numeric_limits<double>::infinity());
}

// A memory need that is too large would refuse what fits.
TEST(Generators, NoGraphThatFitsIsRefused) {
    const auto taken = [](const GraphFile& file) {
        return 48.0 * file.graph.tasks() + 56.0 * static_cast<double>(file.graph.edges());
    };
    std::vector<std::pair<std::string, Values>> graphs{
        {"fft", {{"points", "64"}}},
        {"fork_join", {}},
        {"in_tree", {{"depth", "7"}, {"arity", "3"}}},
        {"in_tree", {{"depth", "9"}, {"arity", "1"}}},
        {"series_parallel", {{"tasks", "500"}}},
        {"layered", {}},
        {"layered", {{"tasks", "500"}, {"width", "10"}, {"degree", "200"}, {"reach", "30"}}},
        {"stencil_1d", {}},
        {"stencil_2d", {}},
        {"all_to_all", {}},
        {"incast", {}},
        {"ping_pong", {}},
        {"topcuoglu", {{"processors", "1"}, {"out_degree", "20"}}}};
    for (const char* pattern : {"stencil", "stencil_periodic", "sweep", "fft", "tree", "nearest", "spread",
                                "random", "all_to_all", "no_communication", "trivial"})
        for (const char* steps : {"1", "3", "12", "40"})
            for (const char* radix : {"1", "3", "100"})
                graphs.emplace_back("task_bench",
                                    Values{{"pattern", pattern}, {"steps", steps}, {"radix", radix}});
    for (const auto& [name, values] : graphs) {
        const double bytes = taken(generate(name, values)) + (name == "topcuoglu" ? 8 * 100 : 0);
        set_available_memory(bytes);
        EXPECT_NO_THROW(generate(name, values)) << name;
        set_available_memory(std::numeric_limits<double>::infinity());
    }
}

TEST(Generators, WhatMakesNoGraphIsRefused) {
    EXPECT_THROW(generate("choleski"), Error);
    EXPECT_THROW(generate("cholesky", {{"tiles", "0"}}), Error);
    EXPECT_THROW(generate("cholesky", {{"tiles", "100000"}}), Error);
    EXPECT_THROW(generate("stencil_2d", {{"width", "100000"}, {"height", "100000"}}), Error);
    EXPECT_THROW(generate("layered", {{"tasks", "9000000000"}}), Error);
    EXPECT_THROW(generate("task_bench", {{"pattern", "star"}}), Error);
}

}  // namespace
}  // namespace heddle::graphs
