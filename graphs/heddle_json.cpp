// Reads and writes Heddle's own graph format: JSON with a task or an edge on each line.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/output_file.hpp"
#include "base/printable.hpp"
#include "base/settings.hpp"
#include "graphs/json_document.hpp"
#include "graphs/readers.hpp"

namespace heddle::graphs {

namespace {

using JsonKind = JsonValue::Kind;

constexpr double version_now = 1;
const std::vector<std::string> keys_of_task{"flops", "name", "kernel", "writes", "costs"};

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

/// Each key is one of these, and there once: a mistyped one would be left out in silence.
void expect_keys(const JsonValue& object, const std::vector<std::string>& known, const std::string& words) {
    std::vector<std::string_view> seen;
    for (const JsonValue value : object) {
        if (std::ranges::find(known, value.key()) == known.end())
            throw Error(fmt::format("unknown key \"{}\" in {}", excerpt(value.key()), words),
                        nearest_advice(value.key(), known), value.where());
        if (std::ranges::find(seen, value.key()) != seen.end())
            throw Error(fmt::format("\"{}\" is twice in {}", value.key(), words), {}, value.where());
        seen.push_back(value.key());
    }
}

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class HeddleReader {
public:
    HeddleReader(const SourceText& source, const ReadOptions& options)
        : options_(options), document_(source) {}

    GraphFile read() && {
        const JsonValue root = document_.root();
        root.expect(JsonKind::object, "the file");
        const JsonValue version = root.at("heddle_graph", "the file");
        if (version.number("\"heddle_graph\"") != version_now) {
            throw Error(fmt::format("version {} of the format", version.number("the version")),
                        "this program reads version 1", version.where());
        }
        expect_keys(root, {"heddle_graph", "in_seconds", "in_units", "tasks", "edges"}, "the file");
        const JsonValue tasks = root.at("tasks", "the file");
        tasks.expect(JsonKind::list, "\"tasks\"");
        for (const JsonValue task : tasks) {
            read_task(task);
            ++count_;
        }
        const JsonValue edges = root.at("edges", "the file");
        edges.expect(JsonKind::list, "\"edges\"");
        for (const JsonValue edge : edges) read_edge(edge);
        read_unit(root);
        result_.graph = builder_.build();
        return std::move(result_);
    }

private:
    void read_unit(const JsonValue& root) {
        const auto states = [&](const char* key) {
            const auto value = root.find(key);
            if (value) value->expect(JsonKind::boolean, fmt::format("\"{}\"", key));
            return value && value->boolean();
        };
        const bool seconds = states("in_seconds");
        const bool units = states("in_units");
        if (seconds && units)
            throw Error("the file is in seconds and in units", "one of the two is true at most",
                        root.where());
        if (seconds) result_.unit = WorkUnit::seconds;
        if (units) result_.unit = WorkUnit::abstract;
    }

    void read_task(const JsonValue& task) {
        task.expect(JsonKind::object, fmt::format("task {}", count_));
        const auto named = task.find("name");
        const std::string_view name =
            named ? named->text(fmt::format("the name of task {}", count_)) : std::string_view();
        const std::string words = in_words(name, count_);
        expect_keys(task, keys_of_task, words);
        if (named && !index_.emplace(name, static_cast<TaskIndex>(count_)).second) {
            throw Error(fmt::format("two tasks are called {}", name), {}, task.where());
        }
        builder_.add_task(flops_of(task, words), std::string(name), task.where());
        read_kernel(task, words);
        read_datum(task, words);
    }

    /// As stated, or else the mean of the task's costs.
    double flops_of(const JsonValue& task, const std::string& words) {
        const double unit = options_.flops_per_time_unit.value_or(1);
        const auto costs = task.find("costs");
        if (count_ > 0 && costs.has_value() == result_.costs.empty()) {
            throw Error(fmt::format("{} has {}", words, costs ? "costs" : "no costs"),
                        "either all tasks have \"costs\" or none", task.where());
        }
        double flops = 0;
        if (costs) {
            std::vector<double> row;
            for (const JsonValue cost : *costs) row.push_back(cost.weight("a cost of " + words) * unit);
            if (row.empty() || (count_ > 0 && row.size() != result_.costs.front().size())) {
                throw Error(fmt::format("{} has {} costs", words, row.size()), "one for each processor",
                            task.where());
            }
            flops = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
            result_.costs.push_back(std::move(row));
        }
        if (!costs || task.find("flops"))
            flops = task.at("flops", words).weight("\"flops\" of " + words) * unit;
        return flops;
    }

    void read_kernel(const JsonValue& task, const std::string& words) {
        const auto kernel = task.find("kernel");
        if (!kernel) {
            if (result_.kernel_of.empty()) return;
            throw Error(words + " has no kernel, others have one", {}, task.where());
        }
        const auto [found, is_new] = kernel_index_.emplace(
            kernel->text("the kernel of " + words), static_cast<std::uint16_t>(result_.kernels.size()));
        if (is_new) result_.kernels.emplace_back(found->first);
        if (result_.kernels.size() > 65535) throw Error("more than 65535 kernels", {}, kernel->where());
        if (result_.kernel_of.size() != count_)
            throw Error(words + " has a kernel, others have none", {}, kernel->where());
        result_.kernel_of.push_back(found->second);
    }

    void read_datum(const JsonValue& task, const std::string& words) {
        const auto writes = task.find("writes");
        if (!writes) {
            if (result_.writes.empty()) return;
            throw Error(words + " writes no datum, others write one", {}, task.where());
        }
        if (result_.writes.size() != count_)
            throw Error(words + " writes a datum, others write none", {}, writes->where());
        // There is one datum more than the largest number says, and that is counted in 32 bits, too.
        result_.writes.push_back(
            index_in(*writes, "the datum that " + words + " writes", std::numeric_limits<DatumIndex>::max()));
        result_.data = std::max(result_.data, result_.writes.back() + 1);
    }

    void read_edge(const JsonValue& edge) {
        edge.expect(JsonKind::list, "an edge");
        JsonValue::Iterator part = edge.begin();
        if (std::distance(part, edge.end()) != 3)
            throw Error("an edge has not three parts", "expected [from, to, bytes]", edge.where());
        const TaskIndex from = end_of(*part);
        ++part;
        const TaskIndex to = end_of(*part);
        ++part;
        const double bytes = (*part).weight(fmt::format("the weight of the edge from {} to {}", from, to));
        builder_.add_edge(from, to, bytes * options_.bytes_per_weight_unit, edge.where());
    }

    /// The task that an edge names, or whose number it says.
    TaskIndex end_of(const JsonValue& value) const {
        if (value.kind() != JsonKind::text) return index_in(value, "a task of an edge", count_);
        const auto found = index_.find(value.text("a task"));
        if (found != index_.end()) return found->second;
        throw Error(fmt::format("an edge names task {}, which does not exist", value.text("a task")), {},
                    value.where());
    }

    const ReadOptions& options_;
    const JsonDocument document_;
    GraphFile result_;
    TaskGraphBuilder builder_;
    std::unordered_map<std::string_view, TaskIndex> index_;
    std::unordered_map<std::string_view, std::uint16_t> kernel_index_;
    std::size_t count_ = 0;  ///< tasks read
};

}  // namespace

GraphFile read_heddle(const SourceText& source, const ReadOptions& options) {
    return HeddleReader(source, options).read();
}

void write_graph(const GraphFile& file, const std::string& path) {
    std::string out;
    const TaskGraph& graph = file.graph;
    out += fmt::format("{{\"heddle_graph\": 1, \"in_seconds\": {},{}\n\"tasks\": [",
                       file.unit == WorkUnit::seconds,
                       file.unit == WorkUnit::abstract ? " \"in_units\": true," : "");
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        out += fmt::format("{}{{\"flops\": {}", task == 0 ? "\n" : ",\n", graph.flops(task));
        if (const std::string name = graph.name(task); name != fmt::format("task {}", task))
            out += fmt::format(", \"name\": {}", quoted(name));
        if (!file.kernel_of.empty())
            out += fmt::format(", \"kernel\": {}", quoted(file.kernels[file.kernel_of[task]]));
        if (!file.writes.empty()) out += fmt::format(", \"writes\": {}", file.writes[task]);
        if (!file.costs.empty()) {
            out += ", \"costs\": [";
            const char* separator = "";
            for (const double cost : file.costs[task])
                out += fmt::format("{}{}", std::exchange(separator, ", "), cost);
            out += ']';
        }
        out += '}';
    }
    out += "\n],\n\"edges\": [";
    bool first = true;
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        for (const TaskGraph::Link& link : graph.successors(task)) {
            out += fmt::format("{}[{}, {}, {}]", first ? "\n" : ",\n", task, link.task, link.bytes);
            first = false;
        }
    }
    out += "\n]}\n";
    write_file(path, out);
}

}  // namespace heddle::graphs
