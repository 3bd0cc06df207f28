// Lists all schedulers by name, and makes the one that a caller names.
#include <algorithm>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "partitioners/schedulers/members.hpp"

namespace heddle::schedulers {

const std::vector<Kind>& all() {
    static const std::vector<Kind> kinds = {
        {"serial", "everything on the processor that is fastest for the whole graph", make_serial},
        {"random", "processors and order drawn at random", make_random},
        {"heft", "by upward rank, each task where it ends first, with insertion", make_heft},
        {"cpop", "the critical path on one processor, the others where they end first", make_cpop},
        {"mcp", "by latest start time, each task where it ends first, with insertion", make_mcp},
        {"etf", "the ready task and processor that can start first", make_etf},
        {"dls", "the ready task and processor of highest dynamic level", make_dls},
        {"fcp", "the ready task on the longest path, on one of two processors", make_fcp},
        {"flb", "the ready task that starts first, found among two candidates", make_flb},
        {"dps", "the decisive path and what it waits for first", make_dps},
        {"dcp", "the task with the least slack, looking one task ahead", make_dcp},
        {"dsc", "clusters along the dominant sequence, then mapped to the processors", make_dsc},
        {"portfolio", "the best of the others, improved as long as there is time; exact for small graphs",
         make_portfolio, true},
    };
    return kinds;
}

std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const Kind& kind : all()) names.push_back(kind.name);
    return names;
}

bool improves(const std::string& name) {
    return std::any_of(all().begin(), all().end(),
                       [&name](const Kind& kind) { return kind.name == name && kind.improves; });
}

std::unique_ptr<Scheduler> make(const std::string& name) {
    for (const Kind& kind : all()) {
        if (kind.name == name) return kind.make();
    }
    throw Error("unknown scheduler \"" + name + "\"", nearest_advice(name, names()));
}

}  // namespace heddle::schedulers
