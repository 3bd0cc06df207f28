// For tests of promised makespans: the published graphs that they use.
#pragma once

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include "tests/sim_promises.hpp"

namespace heddle::testing_promises {

/// Paths of all precedence graphs among the published data, in order; empty where the data are absent.
inline std::vector<std::string> published_graphs() {
    const std::filesystem::path data = std::filesystem::path(HEDDLE_SOURCE_DIR) / ".." / "shared" / "data";
    std::vector<std::string> found;
    if (!std::filesystem::exists(data)) return found;
    const std::set<std::string> endings = {".stg", ".dot", ".xml",  ".dax", ".json",
                                           ".dag", ".txt", ".tgff", ".csv"};
    for (const char* folder : {"stg", "sinnen", "hetero", "misc_dags", "dax", "dag", "wfcommons"}) {
        if (!std::filesystem::exists(data / folder)) continue;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(data / folder)) {
            if (entry.is_regular_file() && endings.contains(entry.path().extension().string()))
                found.push_back(entry.path().string());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// The graph, or nothing for tables beside graphs and files that are broken on purpose.
inline std::optional<graphs::GraphFile> graph_at(const std::string& path) {
    try {
        return graphs::load_graph(path);
    } catch (const Error&) {
        return std::nullopt;
    }
}

/// Whether a scheduler takes much longer than a second for the graph. `searched`: the most tasks of a graph
/// that the portfolio searches.
inline bool is_too_slow(const std::string& scheduler, const graphs::GraphFile& graph, TaskIndex searched) {
    if (scheduler == "portfolio") return graph.graph.tasks() > searched;
    return scheduler == "dcp" && graph.graph.tasks() > 1000;
}

/// Tasks of a few published graphs take longer than virtual time lasts: those graphs must be refused.
inline void expect_kept_or_refused(const std::string& source, const graphs::GraphFile& graph,
                                   const NamedPlatform& machine, const std::string& scheduler) {
    constexpr double last_second = 9.22e6;
    if (!has_room(machine, graph)) return;
    const bool endless = longest_seconds(graph, machine) >= last_second;
    (endless ? expect_refused : expect_kept)(source, graph, machine, scheduler);
}

}  // namespace heddle::testing_promises
