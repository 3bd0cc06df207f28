// Reads and writes Heddle's own graph format: JSON with a task or an edge on each line.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>

#include "base/output_file.hpp"
#include "graphs/json_document.hpp"
#include "graphs/readers.hpp"

namespace heddle::graphs {

namespace {

using Kind = JsonValue::Kind;

constexpr double version_now = 1;

std::string in_words(std::string_view name, std::size_t task) {
    return name.empty() ? fmt::format("task {}", task) : fmt::format("task {}", name);
}

/// A whole number below `bound`.
std::uint32_t index_in(const JsonValue& value, std::string_view what, std::size_t bound) {
    const double number = value.number(what);
    if (!(number >= 0 && number < static_cast<double>(bound)) ||
        number != static_cast<double>(static_cast<std::uint32_t>(number))) {
        throw Error(fmt::format("{} is {}", what, number), fmt::format("there are {}, counted from 0", bound),
                    value.where());
    }
    return static_cast<std::uint32_t>(number);
}

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

GraphFile read_heddle(const SourceText& source, const ReadOptions& options) {
    const JsonDocument document(source);
    const JsonValue root = document.root();
    root.expect(Kind::object, "the file");
    const JsonValue version = root.at("heddle_graph", "the file");
    if (version.number("\"heddle_graph\"") != version_now) {
        throw Error(fmt::format("version {} of the format", version.number("the version")),
                    "this program reads version 1", version.where());
    }
    GraphFile result;
    TaskGraphBuilder builder;
    std::unordered_map<std::string_view, TaskIndex> index;
    std::unordered_map<std::string_view, std::uint16_t> kernel_index;
    const JsonValue tasks = root.at("tasks", "the file");
    tasks.expect(Kind::list, "\"tasks\"");
    std::size_t count = 0;
    for (const JsonValue task : tasks) {
        task.expect(Kind::object, fmt::format("task {}", count));
        const auto named = task.find("name");
        const std::string_view name =
            named ? named->text(fmt::format("the name of task {}", count)) : std::string_view();
        const std::string words = in_words(name, count);
        if (named && !index.emplace(name, static_cast<TaskIndex>(count)).second) {
            throw Error(fmt::format("two tasks are called {}", name), {}, task.where());
        }
        const auto costs = task.find("costs");
        if (count > 0 && costs.has_value() == result.costs.empty()) {
            throw Error(fmt::format("{} has {}", words, costs ? "costs" : "no costs"),
                        "either all tasks have \"costs\" or none", task.where());
        }
        double flops = 0;
        if (costs) {
            std::vector<double> row;
            for (const JsonValue cost : *costs)
                row.push_back(cost.weight("a cost of " + words) * options.flops_per_time_unit.value_or(1));
            if (row.empty() || (count > 0 && row.size() != result.costs.front().size())) {
                throw Error(fmt::format("{} has {} costs", words, row.size()), "one for each processor",
                            task.where());
            }
            flops = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
            result.costs.push_back(std::move(row));
        }
        if (!costs || task.find("flops"))
            flops = task.at("flops", words).weight("\"flops\" of " + words) *
                    options.flops_per_time_unit.value_or(1);
        builder.add_task(flops, std::string(name), task.where());
        if (const auto kernel = task.find("kernel")) {
            const auto [found, is_new] = kernel_index.emplace(
                kernel->text("the kernel of " + words), static_cast<std::uint16_t>(result.kernels.size()));
            if (is_new) result.kernels.emplace_back(found->first);
            if (result.kernels.size() > 65535) throw Error("more than 65535 kernels", {}, kernel->where());
            if (result.kernel_of.size() != count)
                throw Error(words + " has a kernel, others have none", {}, kernel->where());
            result.kernel_of.push_back(found->second);
        } else if (!result.kernel_of.empty()) {
            throw Error(words + " has no kernel, others have one", {}, task.where());
        }
        if (const auto writes = task.find("writes")) {
            if (result.writes.size() != count)
                throw Error(words + " writes a datum, others write none", {}, writes->where());
            result.writes.push_back(
                index_in(*writes, "the datum that " + words + " writes", std::size_t{1} << 32));
            result.data = std::max(result.data, result.writes.back() + 1);
        } else if (!result.writes.empty()) {
            throw Error(words + " writes no datum, others write one", {}, task.where());
        }
        ++count;
    }
    const JsonValue edges = root.at("edges", "the file");
    edges.expect(Kind::list, "\"edges\"");
    for (const JsonValue edge : edges) {
        edge.expect(Kind::list, "an edge");
        JsonValue::Iterator part = edge.begin();
        if (std::distance(part, edge.end()) != 3)
            throw Error("an edge has not three parts", "expected [from, to, bytes]", edge.where());
        TaskIndex ends[2];
        for (TaskIndex& end : ends) {
            const JsonValue value = *part;
            if (value.kind() == Kind::text) {
                const auto found = index.find(value.text("a task"));
                if (found == index.end()) {
                    throw Error(
                        fmt::format("an edge names task {}, which does not exist", value.text("a task")), {},
                        value.where());
                }
                end = found->second;
            } else {
                end = index_in(value, "a task of an edge", count);
            }
            ++part;
        }
        const double bytes =
            (*part).weight(fmt::format("the weight of the edge from {} to {}", ends[0], ends[1]));
        builder.add_edge(ends[0], ends[1], bytes * options.bytes_per_weight_unit, edge.where());
    }
    if (const auto seconds = root.find("in_seconds")) {
        seconds->expect(Kind::boolean, "\"in_seconds\"");
        if (seconds->boolean()) result.unit = WorkUnit::seconds;
    }
    result.graph = builder.build();
    return result;
}

void write_graph(const GraphFile& file, const std::string& path) {
    std::string out;
    const auto put = std::back_inserter(out);
    const TaskGraph& graph = file.graph;
    fmt::format_to(put, "{{\"heddle_graph\": 1, \"in_seconds\": {},\n\"tasks\": [",
                   file.unit == WorkUnit::seconds);
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        fmt::format_to(put, "{}{{\"flops\": {}", task == 0 ? "\n" : ",\n", graph.flops(task));
        if (const std::string name = graph.name(task); name != fmt::format("task {}", task))
            fmt::format_to(put, ", \"name\": {}", quoted(name));
        if (!file.kernel_of.empty())
            fmt::format_to(put, ", \"kernel\": {}", quoted(file.kernels[file.kernel_of[task]]));
        if (!file.writes.empty()) fmt::format_to(put, ", \"writes\": {}", file.writes[task]);
        if (!file.costs.empty()) fmt::format_to(put, ", \"costs\": [{}]", fmt::join(file.costs[task], ", "));
        out += '}';
    }
    out += "\n],\n\"edges\": [";
    bool first = true;
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        for (const TaskGraph::Link& link : graph.successors(task)) {
            fmt::format_to(put, "{}[{}, {}, {}]", first ? "\n" : ",\n", task, link.task, link.bytes);
            first = false;
        }
    }
    out += "\n]}\n";
    write_file(path, out);
}

}  // namespace heddle::graphs
