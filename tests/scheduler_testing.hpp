// For tests of schedulers: random graphs, and small readers of published graphs without checks. The project's
// own readers, which check, are elsewhere.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/task_graph.hpp"
#include "partitioners/schedulers/scheduler.hpp"
#include "partitioners/schedulers/verify.hpp"

namespace heddle::schedulers::testing {

/// `tasks` tasks in layers of about `width`, each with about `degree` predecessors in the layer before; times
/// 1 to 10, bytes 0 to 2 * ccr * 5.5, all whole numbers.
inline TaskGraph layered_graph(TaskIndex tasks, TaskIndex width, double degree, double ccr,
                               std::uint64_t seed) {
    Random random(seed);
    TaskGraphBuilder builder;
    TaskIndex layer_begin = 0, before_begin = 0, layer_end = 0;
    for (TaskIndex task = 0; task < tasks; ++task) {
        if (task == layer_end) {
            before_begin = layer_begin;
            layer_begin = layer_end;
            layer_end += 1 + static_cast<TaskIndex>(random.below(2 * width - 1));
        }
        builder.add_task(1 + static_cast<double>(random.below(10)));
        const TaskIndex before = layer_begin - before_begin;
        if (before == 0) continue;
        const auto edges = random.below(static_cast<std::uint64_t>(2 * degree) + 1);
        for (std::uint64_t i = 0; i < edges; ++i) {
            const auto from = before_begin + static_cast<TaskIndex>(random.below(before));
            builder.add_edge(from, task,
                             static_cast<double>(random.below(static_cast<std::uint64_t>(11 * ccr) + 1)));
        }
    }
    return builder.build();
}

/// Where published graphs lie; empty where they are absent.
inline std::filesystem::path data() {
    const std::filesystem::path path = std::filesystem::path(HEDDLE_SOURCE_DIR) / ".." / "shared" / "data";
    return std::filesystem::exists(path) ? path : std::filesystem::path{};
}

inline std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                                   const std::string& extension) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == extension) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// Standard Task Graph Set: the number of tasks without the two empty ones at the ends; a line for each task
/// with its number, time, number of predecessors, predecessors.
inline TaskGraph read_stg(const std::filesystem::path& path) {
    std::istringstream in(text_of(path));
    TaskIndex tasks = 0;
    in >> tasks;
    TaskGraphBuilder builder;
    for (TaskIndex i = 0; i < tasks + 2; ++i) {
        TaskIndex task = 0, before = 0;
        double time = 0;
        in >> task >> time;
        std::size_t predecessors = 0;
        in >> predecessors;
        builder.add_task(time);
        for (std::size_t j = 0; j < predecessors; ++j) {
            in >> before;
            builder.add_edge(before, task, 0);
        }
    }
    if (!in) throw Error("cannot read " + path.string());
    return builder.build();
}

/// `a [Weight=1];` and `a -> b [Weight=1];`, as in Sinnen's graphs.
inline TaskGraph read_dot(const std::filesystem::path& path) {
    const std::string text = text_of(path);
    static const std::regex edge(R"((\w+)\s*->\s*(\w+)\s*\[[^\]]*?Weight=([0-9.]+))");
    static const std::regex node(R"((?:^|[;{\n\]])\s*(\w+)\s*\[[^\]]*?Weight=([0-9.]+))");
    TaskGraphBuilder builder;
    std::map<std::string, TaskIndex> number;
    for (std::sregex_iterator i(text.begin(), text.end(), node), end; i != end; ++i) {
        if (number.contains((*i)[1])) continue;
        number[(*i)[1]] = builder.add_task(std::stod((*i)[2]), (*i)[1]);
    }
    for (std::sregex_iterator i(text.begin(), text.end(), edge), end; i != end; ++i) {
        builder.add_edge(number.at((*i)[1]), number.at((*i)[2]), std::stod((*i)[3]));
    }
    return builder.build();
}

/// A graph with the time of each task on each processor.
struct Heterogeneous {
    TaskGraph graph;
    Machine machine;
};

/// `#tasks` with lines `task: time, time, ...` and `#edges` with lines `edge: from, to, cost`.
inline Heterogeneous read_heterogeneous(const std::filesystem::path& path) {
    std::istringstream in(text_of(path));
    std::string line, section;
    TaskGraphBuilder builder;
    std::vector<double> times;
    ProcessorIndex processors = 0;
    while (std::getline(in, line)) {
        if (line.starts_with("#")) {
            section = line.substr(1, 5);
            continue;
        }
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        std::string rest = line.substr(colon + 1);
        std::replace(rest.begin(), rest.end(), ',', ' ');
        std::istringstream numbers(rest);
        std::vector<double> values;
        for (double value; numbers >> value;) values.push_back(value);
        if (section == "tasks") {
            processors = static_cast<ProcessorIndex>(values.size());
            double sum = 0;
            for (const double value : values) sum += value;
            builder.add_task(sum / processors);
            times.insert(times.end(), values.begin(), values.end());
        } else {
            builder.add_edge(static_cast<TaskIndex>(values.at(0)), static_cast<TaskIndex>(values.at(1)),
                             values.at(2));
        }
    }
    return {builder.build(), Machine::unrelated(processors, std::move(times))};
}

/// Lines of a .csv file without its head, split at commas.
inline std::vector<std::vector<std::string>> read_csv(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    std::vector<std::vector<std::string>> rows;
    while (std::getline(file, line)) {
        std::istringstream in(line);
        rows.emplace_back();
        for (std::string cell; std::getline(in, cell, ',');) rows.back().push_back(cell);
    }
    return rows;
}

/// Fails the test with the violations in words.
inline void expect_feasible(const Problem& problem, const Schedule& schedule, const std::string& what) {
    const std::vector<std::string> violations = verify(problem, schedule);
    EXPECT_TRUE(violations.empty()) << what << ": " << violations.front();
    EXPECT_GE(schedule.makespan(), lower_bounds(problem).best() * (1 - 1e-9)) << what;
}

/// The least makespan of all sequences on all processors, each of them tried.
inline double least_of_all(const Problem& problem) {
    const TaskGraph& graph = problem.graph();
    double least = std::numeric_limits<double>::infinity();
    std::vector<ProcessorIndex> where(graph.tasks());
    std::vector<TaskIndex> sequence;
    std::vector<bool> taken(graph.tasks(), false);
    const std::function<void()> go_on = [&] {
        if (sequence.size() == graph.tasks())
            least = std::min(least, run_in_sequence(problem, where, sequence).makespan());
        for (TaskIndex task = 0; task < graph.tasks(); ++task) {
            bool ready = !taken[task];
            for (const auto& link : graph.predecessors(task)) ready = ready && taken[link.task];
            if (!ready) continue;
            taken[task] = true;
            sequence.push_back(task);
            for (where[task] = 0; where[task] < problem.processors(); ++where[task]) go_on();
            sequence.pop_back();
            taken[task] = false;
        }
    };
    go_on();
    return least;
}

}  // namespace heddle::schedulers::testing
