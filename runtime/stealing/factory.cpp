// The one place where policies are named.
#include "base/error.hpp"
#include "base/settings.hpp"
#include "runtime/stealing/policies.hpp"

namespace heddle::runtime {

const std::vector<VictimPolicyKind>& victim_policy_kinds() {
    static const std::vector<VictimPolicyKind> kinds = {
        {"none", "nobody steals: a task runs on the worker that made it, or where it was placed", make_none},
        {"random", "any worker of the whole run, each equally likely", make_random},
        {"local_first", "all workers of the thief's node, then one random node", make_local_first},
        {"hierarchical", "the thief's node, then nodes of its switch or group, then any node",
         make_hierarchical},
        {"lifeline", "the thief's node, then a few random nodes, then wait on the edges of a hypercube",
         make_lifeline},
    };
    return kinds;
}

std::vector<std::string> victim_policies() {
    std::vector<std::string> names;
    for (const auto& kind : victim_policy_kinds()) names.push_back(kind.name);
    return names;
}

std::unique_ptr<VictimPolicy> make_victim_policy(const ThiefView& view) {
    for (const auto& kind : victim_policy_kinds()) {
        if (kind.name == view.settings.victim) return kind.make(view);
    }
    throw Error("unknown stealing policy \"" + view.settings.victim + "\"",
                nearest_advice(view.settings.victim, victim_policies()));
}

}  // namespace heddle::runtime
