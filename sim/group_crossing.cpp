// Lays a message from each node of a group on the links of its route, and adds up what they get.
#include "sim/group_crossing.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace heddle::sim {

namespace {

/// So many groups are looked at, and so many nodes of each. A call of SimGrid's process takes some 10 us.
constexpr std::uint32_t groups_looked_at = 2;
constexpr std::size_t nodes_looked_at = 32;

using Pair = std::pair<NodeId, NodeId>;

/// What all of these messages get together, if each has an equal share of each link. Infinity if no two share
/// one.
double together(SimgridProcess& simgrid, const Cards& cards, const std::vector<Pair>& pairs) {
    std::vector<std::vector<LinkFacts>> ways;
    std::map<std::uint32_t, double> on_link;
    for (const auto& [from, to] : pairs) {
        ways.push_back(simgrid.links(cards.card(from), cards.card(to)));
        for (const LinkFacts& link : ways.back()) ++on_link[link.number];
    }
    if (std::ranges::all_of(on_link, [](const auto& link) { return link.second < 2; }))
        return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (const auto& way : ways) {
        double share = std::numeric_limits<double>::infinity();
        for (const LinkFacts& link : way) share = std::min(share, link.bandwidth / on_link[link.number]);
        sum += share;
    }
    return sum;
}

/// Each node of a group, with a node of other groups: in turn of `others`, from the next group on.
std::vector<Pair> pairs_from(const NodeDistances& distances, std::uint32_t group, std::uint32_t others) {
    std::vector<Pair> pairs;
    const auto members = distances.members(group);
    for (std::size_t k = 0; k < std::min(members.size(), nodes_looked_at); ++k) {
        const auto steps = 1 + static_cast<std::uint32_t>(k % others);
        const auto there = distances.members((group + steps) % distances.groups());
        pairs.emplace_back(members[k], there[k % there.size()]);
    }
    return pairs;
}

/// A mean of speeds, over what each byte takes.
class Mean {
public:
    void add(double speed) {
        seconds_per_byte_ += 1 / speed;
        ++count_;
    }
    /// 0: no limit.
    double speed() const { return seconds_per_byte_ > 0 ? count_ / seconds_per_byte_ : 0; }

private:
    double seconds_per_byte_ = 0;
    double count_ = 0;
};

}  // namespace

runtime::Crossing crossing(SimgridProcess& simgrid, const Cards& cards, const NodeDistances& distances) {
    const std::uint32_t groups = distances.groups();
    if (groups < 2 || groups >= distances.nodes() || groups > NodeDistances::groups_max) return {};
    const auto alone = [&](NodeId from, NodeId to) {
        return simgrid.routes(cards.card(from), cards.card(to), 1).front().bandwidth;
    };
    Mean within, message, to_one, to_all, there_and_back;
    const std::uint32_t step = std::max(1U, groups / groups_looked_at);
    for (std::uint32_t group = 0; group < groups; group += step) {
        const auto members = distances.members(group);
        if (members.size() > 1 && cards.card(members[0]) != cards.card(members[1]))
            within.add(alone(members[0], members[1]));
        std::vector<Pair> pairs = pairs_from(distances, group, 1);
        message.add(alone(pairs.front().first, pairs.front().second));
        to_one.add(together(simgrid, cards, pairs));
        to_all.add(together(simgrid, cards, pairs_from(distances, group, groups - 1)));
        for (std::size_t k = 0, there = pairs.size(); k < there; ++k)
            pairs.emplace_back(pairs[k].second, pairs[k].first);
        there_and_back.add(together(simgrid, cards, pairs));
    }
    return {.within = within.speed(),
            .message = message.speed(),
            .to_one = to_one.speed(),
            .to_all = to_all.speed(),
            .duplex = there_and_back.speed() == 0 || there_and_back.speed() > 1.5 * to_one.speed()};
}

}  // namespace heddle::sim
