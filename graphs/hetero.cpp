// Reads scheduling problems on unequal processors from files with the sections #tasks and #edges. It ignores
// #critical, because no scheduler here needs it.
#include <fmt/format.h>

#include <numeric>

#include "graphs/readers.hpp"

namespace heddle::graphs {

GraphFile read_hetero(const SourceText& source, const ReadOptions& options) {
    enum class Section : std::uint8_t { none, critical, tasks, edges, end };
    Section section = Section::none;
    GraphFile result;
    TaskGraphBuilder builder;
    Location where{source.path, 0};
    std::uint64_t tasks = 0, edges = 0;
    Lines lines(source);
    while (lines.next()) {
        const std::string_view text = trimmed(lines.text());
        where.line = lines.line();
        if (text.empty()) continue;
        if (text.front() == '#') {
            const std::string_view name = text.substr(0, text.find(' '));
            if (name == "#critical" && section == Section::none) {
                section = Section::critical;
            } else if (name == "#tasks" && section < Section::tasks) {
                section = Section::tasks;
            } else if (name == "#edges" && section == Section::tasks) {
                section = Section::edges;
            } else if ((name == "#end" || name == "#end#") && section == Section::edges) {
                section = Section::end;
            } else {
                source.refuse(where.line, fmt::format("`{}` out of place", text),
                              "the sections are #critical, #tasks, #edges, #end, in this order");
            }
            continue;
        }
        Words words(source, lines.text(), lines.line(), ":,");
        if (section == Section::critical) {
            words.weight("the critical path");
        } else if (section == Section::tasks) {
            if (words.count("the number of the task") != tasks) {
                source.refuse(where.line, fmt::format("expected task {} here", tasks),
                              "tasks come in their order");
            }
            std::vector<double> costs;
            while (!words.at_end()) {
                costs.push_back(
                    words.weight(fmt::format("the cost of task {} on processor {}", tasks, costs.size())) *
                    options.flops_per_time_unit.value_or(1));
            }
            if (costs.empty() || (tasks > 0 && costs.size() != result.costs.front().size())) {
                source.refuse(where.line, fmt::format("task {} has {} costs", tasks, costs.size()),
                              tasks == 0 ? "one for each processor"
                                         : fmt::format("task 0 has {}", result.costs.front().size()));
            }
            builder.add_task(
                std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(costs.size()), {},
                where);
            result.costs.push_back(std::move(costs));
            ++tasks;
        } else if (section == Section::edges) {
            if (words.count("the number of the edge") != edges) {
                source.refuse(where.line, fmt::format("expected edge {} here", edges),
                              "edges come in their order");
            }
            TaskIndex ends[2];
            for (TaskIndex& end : ends) {
                const std::uint64_t task = words.count(fmt::format("a task of edge {}", edges));
                if (task >= tasks) {
                    source.refuse(where.line,
                                  fmt::format("edge {} names task {}, which does not exist", edges, task),
                                  fmt::format("the graph has {} tasks, counted from 0", tasks));
                }
                end = static_cast<TaskIndex>(task);
            }
            const double weight = words.weight(
                fmt::format("the weight of edge {} from task {} to task {}", edges, ends[0], ends[1]));
            words.expect_end(fmt::format("the weight of edge {}", edges));
            builder.add_edge(ends[0], ends[1], weight * options.bytes_per_weight_unit, where);
            ++edges;
        } else {
            source.refuse(where.line, fmt::format("`{}` outside any section", text),
                          "the file begins with #critical or #tasks");
        }
    }
    if (section != Section::end)
        source.refuse(lines.line(), "the file ends before #end", "it seems to be cut short");
    result.graph = builder.build();
    result.unit = WorkUnit::abstract;
    return result;
}

}  // namespace heddle::graphs
