// A stealing policy of one's own, in one file. A thief looks at its own node first. Then it draws a few
// random nodes and asks the nearest of them. Then it backs off.
#include <cstdint>

#include "runtime/stealing/rounds.hpp"

namespace {

using namespace heddle;
using namespace heddle::runtime;

class Nearest final : public VictimPolicy {
public:
    /// `view.own` has the settings that are declared below, `view.topology` the distances between nodes.
    explicit Nearest(const ThiefView& view)
        : self_(view.self.node),
          topology_(*view.topology),
          draws_(view.own->integer<std::uint32_t>("draws")),
          random_(view.random),
          local_(view) {
        found();
    }

    Victim next() override {
        if (!local_.empty()) return local_.next();
        if (asked_ || topology_.nodes == 1) {
            found();
            return round_over(topology_.nodes);
        }
        asked_ = true;
        Victim best = other_node(random_, self_, topology_.nodes);
        for (std::uint32_t i = 1; i < draws_; ++i) {
            const Victim other = other_node(random_, self_, topology_.nodes);
            if (latency(other) < latency(best)) best = other;
        }
        return best;
    }

    void found() override {
        local_.restart(random_);
        asked_ = false;
    }

private:
    Time latency(const Victim& victim) const { return topology_.distances.latency(self_, victim.index); }

    NodeId self_;
    const Topology& topology_;
    std::uint32_t draws_;
    Random random_;
    LocalRound local_;
    bool asked_ = false;
};

const auto registration = victim_policy<Nearest>(
    "nearest", "the thief's node, then the nearest of a few random nodes",
    {{"draws", SettingKind::integer, "2", "random nodes of which it asks the nearest", {}, 1, 1000}});

}  // namespace
