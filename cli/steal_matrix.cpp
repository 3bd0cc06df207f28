// Adds up steals by thief and victim; with many nodes, by groups of them.
#include "cli/steal_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "cli/text_table.hpp"

namespace heddle::cli {

namespace {

constexpr NodeId rows_max = 12;

/// Sets of nodes that share a row and a column.
struct Sets {
    std::string kind;               ///< what their numbers mean, for the heading
    std::vector<std::uint32_t> of;  ///< each node's
    std::vector<std::string> names;
};

Sets sets_of(const runtime::Topology& topology) {
    Sets sets;
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (const std::uint32_t group : topology.group)
        numbers.try_emplace(group, static_cast<std::uint32_t>(numbers.size()));
    const bool groups =
        topology.group.size() == topology.nodes && numbers.size() > 1 && numbers.size() <= rows_max;
    const NodeId each = (topology.nodes + rows_max - 1) / rows_max;
    for (NodeId node = 0; node < topology.nodes; ++node) {
        if (topology.nodes <= rows_max) {
            sets.of.push_back(node);
        } else {
            sets.of.push_back(groups ? numbers.at(topology.group[node]) : node / each);
        }
    }
    const std::uint32_t count = 1 + *std::max_element(sets.of.begin(), sets.of.end());
    for (std::uint32_t set = 0; set < count; ++set) sets.names.push_back(std::to_string(set));
    if (topology.nodes > rows_max)
        sets.kind = groups ? ", by group of nodes" : fmt::format(", by {} consecutive nodes", each);
    return sets;
}

}  // namespace

std::string steal_matrix(const results::Record& record) {
    if (record.topology.nodes < 2) return {};
    const Sets sets = sets_of(record.topology);
    const bool nodes = sets.kind.empty();
    std::vector<std::vector<std::uint64_t>> tasks(sets.names.size(),
                                                  std::vector<std::uint64_t>(sets.names.size()));
    for (const auto& [pair, count] : record.result.steals)
        tasks[sets.of[pair.first]][sets.of[pair.second]] += count;

    std::vector<std::vector<std::string>> rows(1, {"  thief \\ victim" + sets.kind});
    for (const std::string& name : sets.names) rows[0].push_back(name);
    for (std::size_t thief = 0; thief < tasks.size(); ++thief) {
        rows.push_back({"  " + sets.names[thief]});
        for (std::size_t victim = 0; victim < tasks.size(); ++victim)
            rows.back().push_back(nodes && thief == victim ? "." : grouped(tasks[thief][victim]));
    }
    return columns(rows, 1);
}

}  // namespace heddle::cli
