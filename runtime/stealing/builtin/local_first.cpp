// Steals from the workers of the thief's own node first, then from one random node, and then backs off (the
// fork/join section of Lowenthal, Subramanian, "HyFi": a node looks at itself before it asks another).
#include <utility>

#include "runtime/stealing/rounds.hpp"

namespace heddle::runtime {

namespace {

class LocalFirst final : public VictimPolicy {
public:
    explicit LocalFirst(const ThiefView& view)
        : self_(view.self.node), nodes_(view.topology->nodes), random_(view.random), local_(view) {
        found();
    }

    Victim next() override {
        if (!local_.empty()) return local_.next();
        if (nodes_ > 1 && !std::exchange(went_out_, true)) return other_node(random_, self_, nodes_);
        found();
        return round_over(nodes_);
    }
    void found() override {
        local_.restart(random_);
        went_out_ = false;
    }

private:
    NodeId self_;
    NodeId nodes_;
    Random random_;
    LocalRound local_;
    bool went_out_ = false;
};

const auto registration =
    victim_policy<LocalFirst>("local_first", "all workers of the thief's node, then one random node");

}  // namespace
}  // namespace heddle::runtime
