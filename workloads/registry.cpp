// The list of registered workloads. Each workload adds itself before `main`; none is named here.
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

std::vector<Kind>& registered() {
    static std::vector<Kind> kinds;
    return kinds;
}

}  // namespace

const std::vector<Kind>& all() {
    return registered();
}

const Kind& find(const std::string& name) {
    std::vector<std::string> known;
    for (const Kind& kind : registered()) {
        if (kind.name == name) return kind;
        known.push_back(kind.name);
    }
    throw Error("unknown workload \"" + name + "\"", nearest_advice(name, known));
}

Registration::Registration(Kind kind) {
    auto& kinds = registered();
    const auto place =
        std::lower_bound(kinds.begin(), kinds.end(), kind.name,
                         [](const Kind& one, const std::string& name) { return one.name < name; });
    HEDDLE_ASSERT(place == kinds.end() || place->name != kind.name);  // two workloads of one name
    kinds.insert(place, std::move(kind));
}

}  // namespace heddle::workloads
