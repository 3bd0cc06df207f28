// Lifelines: after `retries` random nodes without success, a thief ties itself to its neighbours in a
// hypercube and sleeps. They send work when they have some (Saraswat, Kambadur, Kodali, Grove,
// Krishnamoorthy: "Lifeline-based global load balancing", PPoPP 2011).
#include "runtime/stealing/rounds.hpp"

namespace heddle::runtime {

namespace {

class Lifeline final : public VictimPolicy {
public:
    explicit Lifeline(const ThiefView& view)
        : self_(view.self.node),
          nodes_(view.topology->nodes),
          tries_(view.stealing->retries),
          random_(view.random),
          local_(view) {
        for (NodeId bit = 1; bit < nodes_; bit <<= 1) {
            // With a node count that is no power of two, an edge that leads nowhere ends at the neighbour's
            // parent.
            NodeId neighbour = self_ ^ bit;
            if (neighbour >= nodes_) neighbour = self_ & ~bit;
            if (neighbour != self_ && neighbour < nodes_) neighbours_.push_back(neighbour);
        }
        found();
    }

    Victim next() override {
        if (!local_.empty()) return local_.next();
        if (nodes_ > 1 && tried_ < tries_) {
            ++tried_;
            // Between two nodes asked, look at home again.
            local_.restart(random_);
            return other_node(random_, self_, nodes_);
        }
        if (tied_ < neighbours_.size()) return {Victim::Kind::lifeline, neighbours_[tied_++]};
        // If this worker is woken without work, it ties the lifelines again: another worker of the node may
        // have taken what came along some of them.
        tied_ = 0;
        local_.restart(random_);
        return {Victim::Kind::sleep, 0};
    }
    void found() override {
        local_.restart(random_);
        tried_ = 0;
        tied_ = 0;
    }

private:
    NodeId self_;
    NodeId nodes_;
    std::uint32_t tries_;
    Random random_;
    LocalRound local_;
    std::vector<NodeId> neighbours_;
    std::uint32_t tried_ = 0;
    std::size_t tied_ = 0;
};

const auto registration = victim_policy<Lifeline>(
    "lifeline", "the thief's node, then a few random nodes, then wait on the edges of a hypercube");

}  // namespace
}  // namespace heddle::runtime
