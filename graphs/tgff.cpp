// Reads one task graph and its table of costs from a TGFF file. As in published instances, the type of an arc
// is its weight. Deadlines and periods are ignored.
#include <fmt/format.h>

#include <numeric>
#include <unordered_map>

#include "graphs/readers.hpp"

namespace heddle::graphs {

namespace {

struct Arc {
    std::string from, to;
    double weight = 0;
    int line = 0;
};

/// Requires the next word to be `keyword`.
void expect(Words& words, std::string_view keyword) {
    const std::string_view found = words.word(keyword);
    if (found != keyword) {
        throw Error(fmt::format("expected {}, found `{}`", keyword, found), {}, words.where());
    }
}

}  // namespace

GraphFile read_tgff(const SourceText& source, const ReadOptions& options) {
    enum class Section : std::uint8_t { none, graph, costs, other };
    Section section = Section::none;
    std::unordered_map<std::string, TaskIndex> index;
    std::vector<std::string> names;
    std::vector<std::uint64_t> types;
    std::vector<int> task_lines;
    std::vector<Arc> arcs;
    std::unordered_map<std::uint64_t, std::vector<double>> cost_of_type;
    int graphs = 0, opened = 0;

    Lines lines(source);
    while (lines.next_filled('#')) {
        Words words = lines.words();
        const std::string first(words.word("a word"));
        if (first.front() == '@') {
            if (section != Section::none)
                source.refuse(lines.line(), fmt::format("{} within another section", first));
            section = first == "@TASK_GRAPH"         ? Section::graph
                      : first == "@computation_cost" ? Section::costs
                                                     : Section::other;
            opened = lines.line();
            if (section == Section::graph && ++graphs > 1)
                source.refuse(opened, "a second task graph", "one graph a file");
        } else if (first == "}") {
            section = Section::none;
        } else if (section == Section::graph && first == "TASK") {
            const std::string name(words.word("the name of the task"));
            if (!index.emplace(name, static_cast<TaskIndex>(names.size())).second) {
                source.refuse(lines.line(), fmt::format("task {} is declared twice", name));
            }
            expect(words, "TYPE");
            types.push_back(words.count("the type of the task"));
            names.push_back(name);
            task_lines.push_back(lines.line());
        } else if (section == Section::graph && first == "ARC") {
            words.word("the name of the arc");
            Arc arc;
            arc.line = lines.line();
            expect(words, "FROM");
            arc.from = words.word("a task");
            expect(words, "TO");
            arc.to = words.word("a task");
            expect(words, "TYPE");
            arc.weight = words.weight(fmt::format("the type of the arc from {} to {}", arc.from, arc.to));
            arcs.push_back(arc);
        } else if (section == Section::costs) {
            const std::uint64_t type = count_in(first, "the type", source.at(lines.line()));
            words.weight("the version");
            std::vector<double> row;
            while (!words.at_end())
                row.push_back(words.weight(fmt::format("a cost of type {}", type)) *
                              options.flops_per_time_unit.value_or(1));
            if (row.empty() || (!cost_of_type.empty() && row.size() != cost_of_type.begin()->second.size())) {
                source.refuse(lines.line(), fmt::format("type {} has {} costs", type, row.size()),
                              "one for each processor");
            }
            cost_of_type[type] = std::move(row);
        } else if (section == Section::none) {
            source.refuse(lines.line(), fmt::format("`{}` outside any section", first),
                          "sections begin with @");
        }
    }
    if (section != Section::none)
        source.refuse(opened, "the section that begins here has no end", "the file seems to be cut short");
    if (graphs == 0) source.refuse(0, "the file has no @TASK_GRAPH");

    GraphFile result;
    TaskGraphBuilder builder;
    for (std::size_t task = 0; task < names.size(); ++task) {
        const auto costs = cost_of_type.find(types[task]);
        if (costs == cost_of_type.end()) {
            source.refuse(task_lines[task],
                          fmt::format("task {} is of type {}, which has no costs", names[task], types[task]),
                          "they stand in the section @computation_cost");
        }
        const std::vector<double>& row = costs->second;
        builder.add_task(std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size()),
                         names[task], source.at(task_lines[task]));
        result.costs.push_back(row);
    }
    for (const Arc& arc : arcs) {
        for (const std::string& end : {arc.from, arc.to}) {
            if (!index.contains(end)) {
                source.refuse(arc.line,
                              fmt::format("the arc from {} to {} names a task that does not exist: {}",
                                          arc.from, arc.to, end));
            }
        }
        builder.add_edge(index.at(arc.from), index.at(arc.to), arc.weight * options.bytes_per_weight_unit,
                         source.at(arc.line));
    }
    result.graph = builder.build();
    result.unit = WorkUnit::abstract;
    return result;
}

}  // namespace heddle::graphs
