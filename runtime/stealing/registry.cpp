// The list of registered policies. It names none of them: each registers itself before `main`.
#include <algorithm>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "runtime/stealing/policy.hpp"

namespace heddle::runtime {

namespace {

std::vector<VictimPolicyKind>& registered() {
    static std::vector<VictimPolicyKind> kinds;
    return kinds;
}

/// Whether `settings` are those that the policy declares.
bool are_of(const VictimPolicyKind& kind, const Settings& settings) {
    return std::ranges::equal(kind.settings, settings.declared(), {}, &Setting::name, &Setting::name);
}

}  // namespace

VictimPolicyRegistration::VictimPolicyRegistration(VictimPolicyKind kind) {
    auto& kinds = registered();
    const auto place = std::ranges::lower_bound(kinds, kind.name, {}, &VictimPolicyKind::name);
    HEDDLE_ASSERT(place == kinds.end() || place->name != kind.name);  // two policies of one name
    kinds.insert(place, std::move(kind));
}

// A policy whose name begins with a dot is a program's own: users find it in no list.
const std::vector<VictimPolicyKind>& victim_policy_kinds() {
    static const std::vector<VictimPolicyKind> listed = [] {
        std::vector<VictimPolicyKind> kinds = registered();
        std::erase_if(kinds, [](const VictimPolicyKind& kind) { return kind.name.starts_with('.'); });
        return kinds;
    }();
    return listed;
}

std::vector<std::string> victim_policies() {
    std::vector<std::string> names;
    for (const auto& kind : victim_policy_kinds()) names.push_back(kind.name);
    return names;
}

const VictimPolicyKind& find_victim_policy(const std::string& name) {
    const auto found = std::ranges::find(registered(), name, &VictimPolicyKind::name);
    if (found != registered().end()) return *found;
    throw Error("unknown stealing policy \"" + name + "\"", nearest_advice(name, victim_policies()));
}

std::unique_ptr<VictimPolicy> make_victim_policy(ThiefView view) {
    const VictimPolicyKind& kind = find_victim_policy(view.stealing->victim);
    if (are_of(kind, view.stealing->own)) {
        view.own = &view.stealing->own;
        return kind.make(view);
    }
    // The caller chose the policy after it read the settings, or read none: the defaults hold.
    const Settings defaults(kind.settings);
    view.own = &defaults;
    return kind.make(view);
}

}  // namespace heddle::runtime
