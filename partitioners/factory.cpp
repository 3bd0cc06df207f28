// Lists the simple partitioners by name, and makes the one that a caller names.
#include "base/settings.hpp"
#include "partitioners/members.hpp"

namespace heddle::partitioners {

const std::vector<Kind>& all() {
    static const std::vector<Kind> kinds = {
        {"none", "a task starts where it was created; what exists from the start is on the first worker",
         make_none},
        {"block", "neighbouring tasks together: equal runs of tasks, one run for each worker", make_block},
        {"cyclic", "task after task to worker after worker, like dealt cards", make_cyclic},
    };
    return kinds;
}

std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const Kind& kind : all()) names.push_back(kind.name);
    return names;
}

std::unique_ptr<Partitioner> make(const std::string& name) {
    for (const Kind& kind : all()) {
        if (kind.name == name) return kind.make();
    }
    throw Error("unknown placement \"" + name + "\"", nearest_advice(name, names()));
}

}  // namespace heddle::partitioners
