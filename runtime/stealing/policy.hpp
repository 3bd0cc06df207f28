// Where an idle worker looks for work: one interface, a registry, and each policy in one file (the shipped
// ones in builtin/). A policy only names victims; taking the task, waiting and messages are the worker's and
// the node's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "base/settings.hpp"
#include "runtime/backend.hpp"
#include "runtime/run/schedule.hpp"

namespace heddle::runtime {

/// The next place to look.
struct Victim {
    enum class Kind : std::uint8_t {
        core,        ///< worker `index` of the thief's own node
        colleagues,  ///< all workers of the thief's own node, from `index` on
        node,        ///< any worker of node `index`; the thief waits for the answer
        far_node,    ///< the same, but the thief goes on at once. Skipped while such a request of its node is
                     ///< under way: a node has one at most
        lifeline,    ///< node `index`, which remembers the request until it has something to give
        rest,        ///< the round is over: back off, then begin another
        sleep        ///< nothing more to look at: wait until a context of this node brings work
    };
    Kind kind = Kind::rest;
    std::uint32_t index = 0;
};

/// What a policy knows of its worker. The pointers hold while the policy is made; the topology, as long as
/// the policy lives.
struct ThiefView {
    WorkerId self;
    /// Nodes, cores, and the distances between nodes.
    const Topology* topology = nullptr;
    /// The settings that all policies share.
    const Stealing* stealing = nullptr;
    Random random{0};
    /// The settings that this policy declares, with their values. make_victim_policy sets it.
    const Settings* own = nullptr;
};

/// The policy of one worker. Called by that worker only.
class VictimPolicy {
public:
    virtual ~VictimPolicy() = default;

    /// The next victim, after the last one gave nothing. Must return `rest` or `sleep` after finitely many
    /// others.
    virtual Victim next() = 0;

    /// The worker found a task: the next round starts from its beginning.
    virtual void found() = 0;

    /// False if workers of the same node do not steal from each other; the same whichever nodes there are.
    virtual bool steals_within_node() const { return true; }
};

/// A named policy.
struct VictimPolicyKind {
    std::string name;
    std::string help;
    /// Keys of `schedule.stealing` beside those of all policies; their names must differ from those.
    std::vector<Setting> settings;
    std::unique_ptr<VictimPolicy> (*make)(const ThiefView& view);
};

/// Registers a policy before `main`. The names of policies must differ.
struct VictimPolicyRegistration {
    explicit VictimPolicyRegistration(VictimPolicyKind kind);
};

/// Registers class `Policy`, which has a constructor from `const ThiefView&`. The object must be a global of
/// its file: `const auto registration = victim_policy<Mine>("mine", "what it does", {...});`
template <class Policy>
VictimPolicyRegistration victim_policy(std::string name, std::string help,
                                       std::vector<Setting> settings = {}) {
    return VictimPolicyRegistration({std::move(name), std::move(help), std::move(settings),
                                     [](const ThiefView& view) -> std::unique_ptr<VictimPolicy> {
                                         return std::make_unique<Policy>(view);
                                     }});
}

/// All policies that the program links, sorted by name.
const std::vector<VictimPolicyKind>& victim_policy_kinds();

/// Their names.
std::vector<std::string> victim_policies();

/// The policy of that name. Throws Error with the nearest known name.
const VictimPolicyKind& find_victim_policy(const std::string& name);

/// The policy that `view.stealing` names, with its settings from there (Stealing::own). Throws Error for an
/// unknown name.
std::unique_ptr<VictimPolicy> make_victim_policy(ThiefView view);

}  // namespace heddle::runtime
