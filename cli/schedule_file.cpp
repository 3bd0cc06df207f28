// Reads a schedule from JSON. Processors, times and tasks that cannot be read are errors with their line.
#include "cli/schedule_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "cli/schedule_report.hpp"
#include "graphs/json_document.hpp"

namespace heddle::cli {

namespace {

using graphs::JsonValue;
using Kind = JsonValue::Kind;

class Reader {
public:
    explicit Reader(const graphs::GraphFile& graph) : file_(graph), graph_(graph.graph) {}

    ScheduleFile read(const JsonValue& root) {
        root.expect(Kind::object, "the file");
        if (root.find("schedules")) {
            throw Error("several schedules in one file", "--out writes one; name one scheduler",
                        root.where());
        }
        check_graph(root);
        ScheduleFile result;
        if (const auto scheduler = root.find("scheduler"))
            result.scheduler = scheduler->text("\"scheduler\"");
        if (const auto seconds = root.find("seconds")) result.seconds = seconds->weight("\"seconds\"");
        if (const auto seed = root.find("seed")) result.seed = whole(*seed, "\"seed\"", seed_max);
        if (const auto machine = root.find("machine")) result.machine = machine_in(*machine);
        placement(root.at("placement", "the file"), result);
        return result;
    }

private:
    static std::uint64_t whole(const JsonValue& value, std::string_view what, std::uint64_t most) {
        const double number = value.number(what);
        // The largest number of 64 bits is no double: the next one would not fit.
        if (!(number >= 0 && number == std::floor(number) && number < std::ldexp(1.0, 64)) ||
            static_cast<std::uint64_t>(number) > most) {
            throw Error(fmt::format("{} is {}", what, number),
                        fmt::format("expected a whole number from 0 to {}", most), value.where());
        }
        return static_cast<std::uint64_t>(number);
    }

    void check_graph(const JsonValue& root) {
        const auto compare = [&](const char* name, std::size_t here) {
            const auto value = root.find(name);
            if (!value || value->number(name) == static_cast<double>(here)) return;
            throw Error(fmt::format("this schedule is for another graph: it has {} {}, this graph {}",
                                    value->number(name), name, here),
                        "name the graph that it was made for", value->where());
        };
        compare("tasks", graph_.tasks());
        compare("edges", graph_.edges());
        const auto hash = root.find("graph_hash");
        if (hash && hash->text("\"graph_hash\"") != graph_hash(file_)) {
            throw Error("this schedule is for another graph, of the same size but other edges or weights",
                        "name the graph that it was made for, with the same --time-unit and --bytes-unit",
                        hash->where());
        }
        same_graph_ = hash.has_value();
    }

    /// A task by its number, or by its name.
    TaskIndex task_in(const JsonValue& entry) {
        const JsonValue value = entry.at("task", "an entry of the placement");
        TaskIndex task = 0;
        if (value.kind() == Kind::text) {
            task = task_named(value);
        } else {
            const double number = value.number("\"task\"");
            if (!(number >= 0 && number < graph_.tasks() && number == std::floor(number))) {
                throw Error(fmt::format("task {} is unknown", number),
                            fmt::format("the graph has {}, counted from 0", graph_.tasks()), value.where());
            }
            task = static_cast<TaskIndex>(number);
        }
        // A name that is not UTF-8 does not survive in JSON.
        const auto name = same_graph_ ? std::nullopt : entry.find("name");
        if (name && name->text("\"name\"") != graph_.name(task)) {
            throw Error(fmt::format("task {} is called {} here and {} in the graph", task,
                                    name->text("\"name\""), graph_.name(task)),
                        "is this schedule for another graph?", name->where());
        }
        return task;
    }

    TaskIndex task_named(const JsonValue& value) {
        if (by_name_.empty()) {
            for (TaskIndex task = 0; task < graph_.tasks(); ++task) {
                const auto [at, added] = by_name_.emplace(graph_.name(task), task);
                if (!added) at->second = ambiguous;
            }
        }
        const std::string name(value.text("\"task\""));
        const auto found = by_name_.find(name);
        if (found == by_name_.end()) {
            std::vector<std::string> names;
            for (TaskIndex task = 0; task < graph_.tasks(); ++task) names.push_back(graph_.name(task));
            throw Error(fmt::format("task \"{}\" is unknown", name), nearest_advice(name, names),
                        value.where());
        }
        if (found->second == ambiguous)
            throw Error(fmt::format("two tasks are called \"{}\"", name), "give the task's number",
                        value.where());
        return found->second;
    }

    void placement(const JsonValue& list, ScheduleFile& result) {
        list.expect(Kind::list, "\"placement\"");
        result.line = list.line();
        result.slots.resize(graph_.tasks());
        std::vector<int> line_of(graph_.tasks(), 0);
        for (const JsonValue entry : list) {
            entry.expect(Kind::object, "an entry of the placement");
            const TaskIndex task = task_in(entry);
            if (line_of[task] != 0) {
                throw Error(
                    fmt::format("{} is placed twice, first in line {}", graph_.name(task), line_of[task]),
                    "a task runs once", entry.where());
            }
            line_of[task] = entry.line();
            const std::string& whose = graph_.name(task);
            schedulers::Slot& slot = result.slots[task];
            slot.processor = static_cast<schedulers::ProcessorIndex>(
                whole(entry.at("processor", whose), "\"processor\"", schedulers::unbounded - 1));
            slot.start = entry.at("start", whose).number("\"start\"");
            slot.finish = entry.at("finish", whose).number("\"finish\"");
        }
        for (TaskIndex task = 0; task < graph_.tasks(); ++task) {
            if (line_of[task] != 0) continue;
            const auto missing = std::count(line_of.begin(), line_of.end(), 0);
            throw Error(fmt::format("{} of {} tasks are not placed, the first is {}", missing, graph_.tasks(),
                                    graph_.name(task)),
                        "the file may be cut short, or for another graph", list.where());
        }
    }

    static constexpr TaskIndex ambiguous = std::numeric_limits<TaskIndex>::max();

    const graphs::GraphFile& file_;
    const TaskGraph& graph_;
    bool same_graph_ = false;  ///< for certain
    std::unordered_map<std::string, TaskIndex> by_name_;
};

}  // namespace

ScheduleFile read_schedule(const std::string& path, const graphs::GraphFile& graph) {
    const graphs::SourceText source = graphs::SourceText::read(path);
    if (graphs::trimmed(source.text).empty())
        throw Error("the file is empty", "write one with heddle schedule --out", {path, 0});
    const graphs::JsonDocument document(source);
    return Reader(graph).read(document.root());
}

}  // namespace heddle::cli
