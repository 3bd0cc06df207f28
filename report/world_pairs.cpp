// Pairs combinations by the columns of the configuration, the ids of the code and the digests of the files.
#include "report/world_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace heddle::report {

namespace {

using Digests = std::map<std::string, std::string>;

/// Whether a world that has no use for the key leaves the column empty. Nodes and cores are always known.
bool describes_world(const std::string& column) {
    if (column == "platform_nodes" || column == "platform_cores") return false;
    return column.starts_with("platform_") || column.starts_with("transport_");
}

/// The values of all other columns but the backend.
std::vector<std::string> work_of(const Run& run, const Runs& runs) {
    std::vector<std::string> values;
    for (const std::string& column : runs.configuration)
        if (column != "backend" && !describes_world(column)) values.push_back(run.value(column));
    return values;
}

bool same_platform(const Run& a, const Run& b, const Runs& runs) {
    return std::all_of(runs.configuration.begin(), runs.configuration.end(), [&](const std::string& column) {
        if (!describes_world(column)) return true;
        const std::string &one = a.value(column), &other = b.value(column);
        return one.empty() || other.empty() || one == other;
    });
}

bool equal_but_for(const std::string& name, Digests a, Digests b) {
    a.erase(name);
    b.erase(name);
    return a == b;
}

/// If a run's JSON is lost, its code and files are known to be the others' only where all are equal.
bool same_code_and_files(const Run& a, const Run& b, const Design& design) {
    if (a.program.empty() || b.program.empty()) {
        const std::size_t none = design.factors.size();
        return design.find("program_id") == none && design.find("files_id") == none;
    }
    return equal_but_for("simgrid", a.program, b.program) && equal_but_for("platform.file", a.files, b.files);
}

}  // namespace

WorldPairs world_pairs(const Runs& runs, const Design& design) {
    const auto run_of = [&](std::size_t combination) -> const Run& {
        return runs.all[design.combinations[combination].runs.front()];
    };
    std::map<std::vector<std::string>, std::vector<std::size_t>> native;
    for (std::size_t i = 0; i < design.combinations.size(); ++i)
        if (run_of(i).value("backend") == "native") native[work_of(run_of(i), runs)].push_back(i);

    std::vector<WorldPair> all;
    std::vector<bool> paired(design.combinations.size()), at_home = paired, apart = paired;
    for (std::size_t i = 0; i < design.combinations.size(); ++i) {
        if (run_of(i).value("backend") != "sim") continue;
        const auto same_work = native.find(work_of(run_of(i), runs));
        if (same_work == native.end()) continue;
        for (const std::size_t other : same_work->second) {
            if (!same_platform(run_of(i), run_of(other), runs)) continue;
            if (!same_code_and_files(run_of(i), run_of(other), design)) {
                apart[other] = true;
                continue;
            }
            all.push_back({i, other});
            paired[other] = true;
            if (run_of(i).directory == run_of(other).directory) at_home[i] = at_home[other] = true;
        }
    }
    WorldPairs found;
    for (const WorldPair& pair : all) {
        const bool elsewhere = run_of(pair.simulated).directory != run_of(pair.native).directory;
        if (!elsewhere || !at_home[pair.simulated] || !at_home[pair.native]) found.pairs.push_back(pair);
    }
    for (std::size_t i = 0; i < paired.size(); ++i) found.apart += apart[i] && !paired[i] ? 1 : 0;
    return found;
}

std::string name_of(const WorldPair& pair, const Design& design) {
    std::string name;
    for (std::size_t i = 0; i < design.factors.size(); ++i) {
        const Factor& factor = design.factors[i];
        if (factor.column == "backend") continue;
        const std::string& simulated = design.combinations[pair.simulated].values[i];
        const std::string& native = design.combinations[pair.native].values[i];
        const bool both = !simulated.empty() && !native.empty() && simulated != native;
        name += fmt::format("{}{} {}", name.empty() ? "" : ", ", factor.key,
                            both ? fmt::format("{} / {}", factor.shown(simulated), factor.shown(native))
                                 : factor.shown(simulated.empty() ? native : simulated));
    }
    return name;
}

}  // namespace heddle::report
