// Prints schedules as a table and as JSON: makespan, bound, speedup, efficiency, and where each task runs.
#include "cli/schedule_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/fnv1a.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "cli/text_table.hpp"
#include "partitioners/schedulers/verify.hpp"

namespace heddle::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// By how much a makespan may exceed its bound, because both are rounded sums.
constexpr double rounding = 1e-12;

/// In whole numbers where it is one.
std::string show_time(double time, bool in_seconds) {
    constexpr double seconds_max = 1e9;
    if (in_seconds) return time < seconds_max ? show_seconds(time) : fmt::format("{:.3g} s", time);
    constexpr double whole_max = 1e15;
    return time == std::floor(time) && time < whole_max ? fmt::format("{:.0f}", time)
                                                        : fmt::format("{:.6g}", time);
}

/// A pure number. Only a file that was made up has one that does not fit a column.
std::string show_number(double number, int digits) {
    constexpr double fits_max = 1e7;
    return number < fits_max ? fmt::format("{:.{}f}", number, digits) : fmt::format("{:.3g}", number);
}

/// Of the makespan to the bound; less than 0 where there is none.
double ratio(const JudgedSchedule& judged) {
    if (judged.lower_bound > 0) return judged.schedule.makespan() / judged.lower_bound;
    return judged.schedule.makespan() > 0 ? -1 : 1;
}

/// 1.000 says that no schedule is shorter, so that a ratio above 1 does not become it by rounding.
std::string show_ratio(const JudgedSchedule& judged) {
    const double exact = ratio(judged);
    if (exact < 0) return "-";
    constexpr double next = 1.001;
    return show_number(exact > 1 + rounding ? std::max(exact, next) : exact, 3);
}

Json measures(const ScheduleTask& task, const JudgedSchedule& judged) {
    const TaskGraph& graph = task.graph.graph;
    Json object = {{"scheduler", judged.scheduler},
                   {"graph", task.source},
                   {"tasks", graph.tasks()},
                   {"edges", graph.edges()},
                   {"processors", machine_json(task.machine)["processors"]},
                   {"makespan", judged.schedule.makespan()},
                   {"lower_bound", judged.lower_bound},
                   {"ratio", ratio(judged) < 0 ? Json() : Json(ratio(judged))},
                   {"feasible", judged.feasible()},
                   {"proved_optimal", judged.proved_optimal()},
                   {"slr", schedulers::schedule_length_ratio(task.problem, judged.schedule)},
                   {"speedup", schedulers::speedup(task.problem, judged.schedule)},
                   {"efficiency", schedulers::efficiency(task.problem, judged.schedule)},
                   {"processors_used", judged.schedule.processors_used()},
                   {"seconds", judged.seconds},
                   {"seed", judged.seed},
                   {"in_seconds", task.machine.in_seconds},
                   {"machine", machine_json(task.machine)},
                   {"graph_hash", task.graph_hash}};
    if (!judged.feasible()) object["violations"] = judged.violations;
    return object;
}

/// Adds a member to the text of an object that ends in a line of its own.
void append_placement(std::string& object, const ScheduleTask& task, const schedulers::Schedule& schedule) {
    object.erase(object.rfind("\n}"));
    object += ",\n  \"placement\": [";
    for (TaskIndex index = 0; index < schedule.tasks(); ++index) {
        const schedulers::Slot& slot = schedule.slot(index);
        object += fmt::format("{}{{\"task\": {}", index == 0 ? "\n" : ",\n", index);
        const std::string name = task.graph.graph.name(index);
        if (name != fmt::format("task {}", index)) object += fmt::format(", \"name\": {}", quoted(name));
        object += fmt::format(", \"processor\": {}, \"start\": {}, \"finish\": {}}}", slot.processor,
                              slot.start, slot.finish);
    }
    object += "\n]\n}";
}

}  // namespace

bool JudgedSchedule::proved_optimal() const {
    return feasible() && schedule.makespan() <= lower_bound * (1 + rounding);
}

JudgedSchedule judge(const ScheduleTask& task, std::string scheduler, std::uint64_t seed,
                     schedulers::Schedule schedule, double seconds, double lower_bound) {
    if (!std::isfinite(schedule.makespan())) {
        throw Error("the makespan is beyond the range of numbers",
                    "the graph's weights are too large for this machine", {task.source, 0});
    }
    const double bound = std::max(lower_bound, schedule.proved_bound());
    std::vector<std::string> violations = schedulers::verify(task.problem, schedule);
    return {std::move(scheduler), seed, std::move(schedule), seconds, bound, std::move(violations)};
}

std::string schedule_table(const ScheduleTask& task, const std::vector<JudgedSchedule>& schedules) {
    std::vector<std::vector<std::string>> rows = {{"scheduler", "makespan", "bound", "ratio", "SLR",
                                                   "speedup", "efficiency", "used", "feasible", "taken"}};
    const bool in_seconds = task.machine.in_seconds;
    for (const JudgedSchedule& judged : schedules) {
        const schedulers::Schedule& schedule = judged.schedule;
        rows.push_back({judged.scheduler, show_time(schedule.makespan(), in_seconds),
                        show_time(judged.lower_bound, in_seconds), show_ratio(judged),
                        show_number(schedulers::schedule_length_ratio(task.problem, schedule), 3),
                        show_number(schedulers::speedup(task.problem, schedule), 2),
                        show_number(schedulers::efficiency(task.problem, schedule), 3),
                        std::to_string(schedule.processors_used()), judged.feasible() ? "yes" : "NO",
                        judged.seconds > 0 ? show_seconds(judged.seconds) : "-"});
    }
    return fmt::format("{}: {} tasks, {} edges; {}\n", task.source, grouped(task.graph.graph.tasks()),
                       grouped(task.graph.graph.edges()), in_words(task.machine)) +
           columns(rows, 1);
}

std::string schedule_json(const ScheduleTask& task, const JudgedSchedule& judged) {
    std::string text = measures(task, judged).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    append_placement(text, task, judged.schedule);
    return text + "\n";
}

std::string schedules_json(const ScheduleTask& task, const std::vector<JudgedSchedule>& schedules) {
    const Json head = {
        {"graph", task.source}, {"tasks", task.graph.graph.tasks()}, {"edges", task.graph.graph.edges()}};
    std::string text = head.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    text.erase(text.rfind("\n}"));
    text += ",\n  \"schedules\": [";
    for (const JudgedSchedule& judged : schedules) {
        text += &judged == &schedules.front() ? "\n" : ",\n";
        text += schedule_json(task, judged);
        text.pop_back();
    }
    return text + "\n]\n}\n";
}

std::string graph_hash(const graphs::GraphFile& file) {
    Fnv1a hash;  // of words, mixed well at the end
    const auto add_number = [&hash](double number) {
        hash.add(Random(std::bit_cast<std::uint64_t>(number))());
    };
    const TaskGraph& graph = file.graph;
    hash.add(graph.tasks());
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        add_number(graph.flops(task));
        hash.add(graph.successors(task).size());
        for (const TaskGraph::Link& link : graph.successors(task)) {
            hash.add(link.task);
            add_number(link.bytes);
        }
    }
    for (const std::vector<double>& row : file.costs) {
        for (const double cost : row) add_number(cost);
    }
    return fmt::format("{:016x}", Random(hash.value())());
}

}  // namespace heddle::cli
