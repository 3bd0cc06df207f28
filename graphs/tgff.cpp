// Reads one task graph and its table of costs from a TGFF file. As in published instances, the type of an arc
// is its weight. Deadlines, periods and lines such as `@HYPERPERIOD 300` are ignored.
#include <fmt/format.h>

#include <numeric>
#include <unordered_map>

#include "graphs/readers.hpp"

namespace heddle::graphs {

namespace {

/// Requires the next word to be `keyword`.
void expect(Words& words, std::string_view keyword) {
    const std::string_view found = words.word(keyword);
    if (found != keyword) {
        throw Error(fmt::format("expected {}, found `{}`", keyword, found), {}, words.where());
    }
}

/// What the sections of a file say. An arc may name a task that is declared after it.
class TgffReader {
public:
    TgffReader(const SourceText& source, const ReadOptions& options)
        : source_(source), options_(options), lines_(source) {}

    GraphFile read() && {
        while (lines_.next_filled('#')) read_line();
        if (section_ != Section::none) {
            source_.refuse(opened_, "the section that begins here has no end",
                           "the file seems to be cut short");
        }
        if (graphs_ == 0) source_.refuse(0, "the file has no @TASK_GRAPH");
        return built();
    }

private:
    enum class Section : std::uint8_t { none, graph, costs, other };

    struct Task {
        std::string name;
        std::uint64_t type = 0;
        int line = 0;
    };
    struct Arc {
        std::string from, to;
        double weight = 0;
        int line = 0;
    };

    void read_line() {
        Words words = lines_.words();
        const std::string first(words.word("a word"));
        if (first.front() == '@') {
            if (opens_section()) begin_section(first);
        } else if (first == "}") {
            section_ = Section::none;
        } else if (section_ == Section::graph && first == "TASK") {
            read_task(words);
        } else if (section_ == Section::graph && first == "ARC") {
            read_arc(words);
        } else if (section_ == Section::costs) {
            read_costs(first, words);
        } else if (section_ == Section::none) {
            source_.refuse(lines_.line(), fmt::format("`{}` outside any section", first),
                           "a section begins with a line like `@TASK_GRAPH 0 {`");
        }
    }

    /// A line that begins with @ states a single value if it does not end in a brace.
    bool opens_section() const {
        const std::string_view line = lines_.text();
        return trimmed(line.substr(0, line.find('#'))).ends_with('{');
    }

    void begin_section(const std::string& name) {
        if (section_ != Section::none)
            source_.refuse(lines_.line(), fmt::format("{} within another section", name));
        section_ = name == "@TASK_GRAPH"         ? Section::graph
                   : name == "@computation_cost" ? Section::costs
                                                 : Section::other;
        opened_ = lines_.line();
        if (section_ == Section::graph && ++graphs_ > 1)
            source_.refuse(opened_, "a second task graph", "one graph a file");
    }

    void read_task(Words& words) {
        Task task;
        task.line = lines_.line();
        task.name = words.word("the name of the task");
        if (!index_.emplace(task.name, static_cast<TaskIndex>(tasks_.size())).second) {
            source_.refuse(task.line, fmt::format("task {} is declared twice", task.name));
        }
        expect(words, "TYPE");
        task.type = words.count("the type of the task");
        tasks_.push_back(std::move(task));
    }

    void read_arc(Words& words) {
        words.word("the name of the arc");
        Arc arc;
        arc.line = lines_.line();
        expect(words, "FROM");
        arc.from = words.word("a task");
        expect(words, "TO");
        arc.to = words.word("a task");
        expect(words, "TYPE");
        arc.weight = words.weight(fmt::format("the type of the arc from {} to {}", arc.from, arc.to));
        arcs_.push_back(std::move(arc));
    }

    void read_costs(const std::string& first, Words& words) {
        const std::uint64_t type = count_in(first, "the type", source_.at(lines_.line()));
        words.weight("the version");
        std::vector<double> row;
        while (!words.at_end()) {
            row.push_back(words.weight(fmt::format("a cost of type {}", type)) *
                          options_.flops_per_time_unit.value_or(1));
        }
        if (row.empty() || (!cost_of_type_.empty() && row.size() != cost_of_type_.begin()->second.size())) {
            source_.refuse(lines_.line(), fmt::format("type {} has {} costs", type, row.size()),
                           "one for each processor");
        }
        if (!cost_of_type_.emplace(type, std::move(row)).second)
            source_.refuse(lines_.line(), fmt::format("type {} has costs twice", type));
    }

    GraphFile built() const {
        GraphFile result;
        TaskGraphBuilder builder;
        for (const Task& task : tasks_) {
            const auto costs = cost_of_type_.find(task.type);
            if (costs == cost_of_type_.end()) {
                source_.refuse(task.line,
                               fmt::format("task {} is of type {}, which has no costs", task.name, task.type),
                               "they stand in the section @computation_cost");
            }
            const std::vector<double>& row = costs->second;
            builder.add_task(std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size()),
                             task.name, source_.at(task.line));
            result.costs.push_back(row);
        }
        for (const Arc& arc : arcs_) {
            builder.add_edge(end_of(arc, arc.from), end_of(arc, arc.to),
                             arc.weight * options_.bytes_per_weight_unit, source_.at(arc.line));
        }
        result.graph = builder.build();
        result.unit = WorkUnit::abstract;
        return result;
    }

    TaskIndex end_of(const Arc& arc, const std::string& end) const {
        const auto found = index_.find(end);
        if (found != index_.end()) return found->second;
        source_.refuse(arc.line, fmt::format("the arc from {} to {} names a task that does not exist: {}",
                                             arc.from, arc.to, end));
    }

    const SourceText& source_;
    const ReadOptions& options_;
    Lines lines_;
    Section section_ = Section::none;
    int graphs_ = 0;
    int opened_ = 0;  ///< the line on which the section begins
    std::unordered_map<std::string, TaskIndex> index_;
    std::vector<Task> tasks_;
    std::vector<Arc> arcs_;
    std::unordered_map<std::uint64_t, std::vector<double>> cost_of_type_;
};

}  // namespace

GraphFile read_tgff(const SourceText& source, const ReadOptions& options) {
    return TgffReader(source, options).read();
}

}  // namespace heddle::graphs
