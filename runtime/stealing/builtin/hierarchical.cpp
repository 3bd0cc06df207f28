// Steals from near to far: from the thief's own node, from a few nodes of its group, from nodes anywhere.
// Then it backs off. Groups are those of the network: leaf switches of a fat tree, groups of a dragonfly,
// rows of a torus, clusters of a platform file.
#include <algorithm>

#include "runtime/stealing/rounds.hpp"

namespace heddle::runtime {

namespace {

class Hierarchical final : public VictimPolicy {
public:
    explicit Hierarchical(const ThiefView& view)
        : self_(view.self.node),
          nodes_(view.topology->nodes),
          random_(view.random),
          local_(view),
          near_(*view.topology, view.self.node) {
        near_tries_ = std::min(view.own->integer<std::uint32_t>("near"), near_.count());
        far_tries_ = near_.count() + 1 < nodes_ ? view.own->integer<std::uint32_t>("far") : 0;
        found();
    }

    Victim next() override {
        if (!local_.empty()) return local_.next();
        if (near_left_ > 0) {
            --near_left_;
            return {Victim::Kind::node, near_.pick(random_)};
        }
        if (far_left_ > 0) {
            --far_left_;
            return other_node(random_, self_, nodes_);
        }
        found();
        return round_over(nodes_);
    }
    void found() override {
        local_.restart(random_);
        near_left_ = near_tries_;
        far_left_ = far_tries_;
    }

private:
    NodeId self_;
    NodeId nodes_;
    Random random_;
    LocalRound local_;
    GroupNeighbours near_;
    std::uint32_t near_tries_ = 0;
    std::uint32_t far_tries_ = 0;
    std::uint32_t near_left_ = 0;
    std::uint32_t far_left_ = 0;
};

const auto registration = victim_policy<Hierarchical>(
    "hierarchical", "the thief's node, then nodes of its switch or group, then any node",
    {{"near", SettingKind::integer, "2", "nodes of the thief's group that it asks in a round", {}, 0, 1e6},
     {"far", SettingKind::integer, "1", "nodes of any group that it asks after those", {}, 0, 1e6}});

}  // namespace
}  // namespace heddle::runtime
