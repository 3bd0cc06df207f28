// Cluster-aware random stealing (van Nieuwpoort, Kielmann, Bal: "Efficient load balancing for wide-area
// divide-and-conquer applications", PPoPP 2001). A node without work asks a node of another cluster, and does
// not wait for the answer. Meanwhile its workers steal within their own cluster. A node has at most one
// request to other clusters under way. The clusters are the groups of the network. Two things differ from the
// paper (runtime/stealing/steal_service.cpp). The answer brings half of what the victim's node shares. A node
// that has nothing to share keeps the request until it has, or until it has no work any more.
#include <utility>

#include "runtime/stealing/rounds.hpp"

namespace heddle::runtime {

namespace {

class Satin final : public VictimPolicy {
public:
    explicit Satin(const ThiefView& view)
        : distances_(view.topology->distances),
          cluster_(distances_.group(view.self.node)),
          random_(view.random),
          local_(view),
          near_(*view.topology, view.self.node),
          near_tries_(near_.count() == 0 ? 0 : view.own->integer<std::uint32_t>("near")) {
        found();
    }

    Victim next() override {
        if (!local_.empty()) return local_.next();
        if (distances_.groups() > 1 && !std::exchange(went_far_, true)) return far_node();
        if (near_left_ > 0) {
            --near_left_;
            return {Victim::Kind::node, near_.pick(random_)};
        }
        found();
        return round_over(distances_.nodes());
    }
    void found() override {
        local_.restart(random_);
        went_far_ = false;
        near_left_ = near_tries_;
    }

private:
    /// A random node of a random other cluster.
    Victim far_node() {
        auto cluster = static_cast<std::uint32_t>(random_.below(distances_.groups() - 1));
        if (cluster >= cluster_) ++cluster;
        const auto nodes = distances_.members(cluster);
        return {Victim::Kind::far_node, nodes[random_.below(nodes.size())]};
    }

    const NodeDistances& distances_;
    std::uint32_t cluster_;
    Random random_;
    LocalRound local_;
    GroupNeighbours near_;
    std::uint32_t near_tries_;
    std::uint32_t near_left_ = 0;
    bool went_far_ = false;
};

const auto registration = victim_policy<Satin>(
    "satin", "the thief's node and cluster, while one request of the node to another cluster is under way",
    {{"near",
      SettingKind::integer,
      "1",
      "nodes of the thief's cluster that it asks in a round",
      {},
      1,
      1e6}});

}  // namespace
}  // namespace heddle::runtime
