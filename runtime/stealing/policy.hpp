// Where an idle worker looks for work: one interface, one factory, each policy in its own file beside this
// one. A policy only names victims; taking the task, waiting and messages are the worker's and the node's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "runtime/backend.hpp"
#include "runtime/schedule.hpp"

namespace heddle::runtime {

/// The next place to look.
struct Victim {
    enum class Kind : std::uint8_t {
        core,        ///< worker `index` of the thief's own node
        colleagues,  ///< all workers of the thief's own node, from `index` on
        node,        ///< any worker of node `index`
        lifeline,    ///< node `index`, which remembers the request until it has something to give
        rest,        ///< the round is over: back off, then begin another
        sleep        ///< nothing more to look at: wait until somebody brings work
    };
    Kind kind = Kind::rest;
    std::uint32_t index = 0;
};

/// What a policy knows of its worker.
struct ThiefView {
    WorkerId self;
    const Topology* topology = nullptr;
    Stealing settings;
    Random random{0};
};

/// The policy of one worker. Called by that worker only.
class VictimPolicy {
public:
    virtual ~VictimPolicy() = default;

    /// The next victim since the last one was looked at in vain. Must return `rest` or `sleep` after finitely
    /// many others.
    virtual Victim next() = 0;

    /// A task was found: the next round starts afresh.
    virtual void found() = 0;

    /// False where workers of the same node leave each other alone.
    virtual bool steals_within_node() const { return true; }
};

/// A named policy.
struct VictimPolicyKind {
    std::string name;
    std::string help;
    std::unique_ptr<VictimPolicy> (*make)(const ThiefView& view);
};

/// All policies, in the order in which they are documented.
const std::vector<VictimPolicyKind>& victim_policy_kinds();

/// Their names.
std::vector<std::string> victim_policies();

/// Throws Error with the nearest known name.
std::unique_ptr<VictimPolicy> make_victim_policy(const ThiefView& view);

}  // namespace heddle::runtime
