// The makers of the policies, one a file. Seen by the factory only.
#pragma once

#include "runtime/stealing/policy.hpp"

namespace heddle::runtime {

std::unique_ptr<VictimPolicy> make_none(const ThiefView& view);
std::unique_ptr<VictimPolicy> make_random(const ThiefView& view);
std::unique_ptr<VictimPolicy> make_local_first(const ThiefView& view);
std::unique_ptr<VictimPolicy> make_hierarchical(const ThiefView& view);
std::unique_ptr<VictimPolicy> make_lifeline(const ThiefView& view);

/// The other workers of the thief's node, from a random one on: the part that several policies begin with.
class LocalRound {
public:
    explicit LocalRound(const ThiefView& view) : cores_(view.topology->cores) {}

    void restart(Random& random) {
        left_ = cores_ > 1;
        if (left_) begin_ = static_cast<CoreId>(random.below(cores_));
    }
    bool empty() const { return !left_; }
    Victim next() {
        left_ = false;
        return {Victim::Kind::colleagues, begin_};
    }

private:
    CoreId cores_;
    CoreId begin_ = 0;
    bool left_ = false;
};

/// After a round in vain: who has only its own node to look at is woken when there is something.
inline Victim round_over(NodeId nodes) {
    return {nodes == 1 ? Victim::Kind::sleep : Victim::Kind::rest, 0};
}

/// A node other than `self`, each equally likely. There must be one.
inline Victim other_node(Random& random, NodeId self, NodeId nodes) {
    const auto pick = static_cast<NodeId>(random.below(nodes - 1));
    return {Victim::Kind::node, pick < self ? pick : pick + 1};
}

}  // namespace heddle::runtime
