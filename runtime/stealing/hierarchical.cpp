// From near to far: the thief's own node, then a few nodes of its group (a leaf switch of a fat tree, a group
// of a dragonfly, a row of a torus, a cluster of a platform file), then one node anywhere, then a back-off.
#include <algorithm>

#include "runtime/stealing/policies.hpp"

namespace heddle::runtime {

namespace {

class Hierarchical final : public VictimPolicy {
public:
    explicit Hierarchical(const ThiefView& view)
        : self_(view.self.node), nodes_(view.topology->nodes), random_(view.random), local_(view) {
        const auto& group = view.topology->group;
        for (NodeId node = 0; node < nodes_ && node < group.size(); ++node) {
            if (node != self_ && group[node] == group[self_]) near_.push_back(node);
        }
        near_tries_ = std::min<std::uint32_t>(2, static_cast<std::uint32_t>(near_.size()));
        far_tries_ = near_.size() + 1 < nodes_ ? 1 : 0;
        found();
    }

    Victim next() override {
        if (!local_.empty()) return local_.next();
        if (near_left_ > 0) {
            --near_left_;
            return {Victim::Kind::node, near_[random_.below(near_.size())]};
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
    std::vector<NodeId> near_;
    std::uint32_t near_tries_ = 0;
    std::uint32_t far_tries_ = 0;
    std::uint32_t near_left_ = 0;
    std::uint32_t far_left_ = 0;
};

}  // namespace

std::unique_ptr<VictimPolicy> make_hierarchical(const ThiefView& view) {
    return std::make_unique<Hierarchical>(view);
}

}  // namespace heddle::runtime
