// Reads scheduling problems on unequal processors from files with the sections #tasks and #edges. It ignores
// #critical, because no scheduler here needs it.
#include <fmt/format.h>

#include <numeric>

#include "graphs/readers.hpp"

namespace heddle::graphs {

namespace {

class HeteroReader {
public:
    HeteroReader(const SourceText& source, const ReadOptions& options)
        : source_(source), options_(options), where_{source.path, 0} {}

    GraphFile read() && {
        Lines lines(source_);
        while (lines.next()) {
            const std::string_view text = trimmed(lines.text());
            where_.line = lines.line();
            if (text.empty()) continue;
            if (text.front() == '#') {
                begin_section(text);
                continue;
            }
            Words words(source_, lines.text(), lines.line(), ":,");
            if (section_ == Section::critical) {
                words.weight("the critical path");
            } else if (section_ == Section::tasks) {
                read_task(words);
            } else if (section_ == Section::edges) {
                read_edge(words);
            } else {
                source_.refuse(where_.line, fmt::format("`{}` outside any section", text),
                               "the file begins with #critical or #tasks");
            }
        }
        if (section_ != Section::end)
            source_.refuse(lines.line(), "the file ends before #end", "it seems to be cut short");
        result_.graph = builder_.build();
        result_.unit = WorkUnit::abstract;
        return std::move(result_);
    }

private:
    enum class Section : std::uint8_t { none, critical, tasks, edges, end };

    void begin_section(std::string_view text) {
        const std::string_view name = text.substr(0, text.find(' '));
        if (name == "#critical" && section_ == Section::none) {
            section_ = Section::critical;
        } else if (name == "#tasks" && section_ < Section::tasks) {
            section_ = Section::tasks;
        } else if (name == "#edges" && section_ == Section::tasks) {
            section_ = Section::edges;
        } else if ((name == "#end" || name == "#end#") && section_ == Section::edges) {
            section_ = Section::end;
        } else {
            source_.refuse(where_.line, fmt::format("`{}` out of place", text),
                           "the sections are #critical, #tasks, #edges, #end, in this order");
        }
    }

    void read_task(Words& words) {
        if (words.count("the number of the task") != tasks_) {
            source_.refuse(where_.line, fmt::format("expected task {} here", tasks_),
                           "tasks come in their order");
        }
        std::vector<double> costs;
        while (!words.at_end()) {
            costs.push_back(
                words.weight(fmt::format("the cost of task {} on processor {}", tasks_, costs.size())) *
                options_.flops_per_time_unit.value_or(1));
        }
        if (costs.empty() || (tasks_ > 0 && costs.size() != result_.costs.front().size())) {
            source_.refuse(where_.line, fmt::format("task {} has {} costs", tasks_, costs.size()),
                           tasks_ == 0 ? "one for each processor"
                                       : fmt::format("task 0 has {}", result_.costs.front().size()));
        }
        builder_.add_task(
            std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(costs.size()), {}, where_);
        result_.costs.push_back(std::move(costs));
        ++tasks_;
    }

    void read_edge(Words& words) {
        if (words.count("the number of the edge") != edges_) {
            source_.refuse(where_.line, fmt::format("expected edge {} here", edges_),
                           "edges come in their order");
        }
        TaskIndex ends[2];
        for (TaskIndex& end : ends) {
            const std::uint64_t task = words.count(fmt::format("a task of edge {}", edges_));
            if (task >= tasks_) {
                source_.refuse(where_.line,
                               fmt::format("edge {} names task {}, which does not exist", edges_, task),
                               fmt::format("the graph has {} tasks, counted from 0", tasks_));
            }
            end = static_cast<TaskIndex>(task);
        }
        const double weight = words.weight(
            fmt::format("the weight of edge {} from task {} to task {}", edges_, ends[0], ends[1]));
        words.expect_end(fmt::format("the weight of edge {}", edges_));
        builder_.add_edge(ends[0], ends[1], weight * options_.bytes_per_weight_unit, where_);
        ++edges_;
    }

    const SourceText& source_;
    const ReadOptions& options_;
    Location where_;  ///< of the line that is read
    Section section_ = Section::none;
    GraphFile result_;
    TaskGraphBuilder builder_;
    std::uint64_t tasks_ = 0;
    std::uint64_t edges_ = 0;
};

}  // namespace

GraphFile read_hetero(const SourceText& source, const ReadOptions& options) {
    return HeteroReader(source, options).read();
}

}  // namespace heddle::graphs
