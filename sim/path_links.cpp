// Composes routes of trees, and asks SimGrid for their parts. A question takes longer than its answer, so it
// is for many routes together.
#include "sim/path_links.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace heddle::sim {

namespace {

constexpr CardId together = 64;

std::uint64_t key(CardId one, CardId two) {
    return std::uint64_t{one} << 32 | two;
}

}  // namespace

// A route of a tree goes up from its sender to a switch and down to its receiver. A sender or receiver has
// one link to its switch, of the lowest level. SimGrid chooses among parallel links on the way up by the
// receiver, and on the way down by the sender. So what lies between the first and the last link is, in its
// first half, the same for all senders below one switch, and in its second half for all receivers below one
// switch.
std::vector<LinkFacts> PathLinks::between(CardId from, CardId to) {
    const PlatformFacts& facts = simgrid_.facts();
    if (facts.tree.empty()) return simgrid_.links(from, to);
    std::vector<LinkFacts> links{facts.hosts[from].out};
    if (const CardId below = facts.tree.front(); from / below != to / below) {
        for (const Links* const part : {&up(from / below, to), &down(from, to / below)})
            links.insert(links.end(), part->begin(), part->end());
    }
    links.push_back(facts.hosts[to].in);
    return links;
}

/// The way from a switch to that where it turns to the receiver.
const PathLinks::Links& PathLinks::up(CardId below, CardId to) {
    if (const auto known = ups_.find(key(below, to)); known != ups_.end()) return known->second;
    const CardId hosts_below = simgrid_.facts().tree.front();
    const auto hosts = static_cast<CardId>(simgrid_.facts().hosts.size());
    std::vector<NodePair> pairs;
    const CardId first = to / together * together;
    for (CardId receiver = first; receiver < std::min(first + together, hosts); ++receiver)
        if (receiver / hosts_below != below) pairs.push_back({below * hosts_below, receiver});
    const std::vector<Links> between = ask(pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto middle = between[i].begin() + static_cast<std::ptrdiff_t>(between[i].size() / 2);
        ups_.try_emplace(key(below, pairs[i].to), between[i].begin(), middle);
    }
    return ups_.find(key(below, to))->second;
}

/// The way from where it turns to the receivers below a switch, to that switch.
const PathLinks::Links& PathLinks::down(CardId from, CardId below) {
    if (const auto known = downs_.find(key(from, below)); known != downs_.end()) return known->second;
    const CardId hosts_below = simgrid_.facts().tree.front();
    const auto hosts = static_cast<CardId>(simgrid_.facts().hosts.size());
    std::vector<NodePair> pairs;
    const CardId first = below / together * together;
    for (CardId other = first; other < first + together && other * hosts_below < hosts; ++other)
        if (other != from / hosts_below) pairs.push_back({from, other * hosts_below});
    const std::vector<Links> between = ask(pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto middle = between[i].begin() + static_cast<std::ptrdiff_t>(between[i].size() / 2);
        downs_.try_emplace(key(from, pairs[i].to / hosts_below), middle, between[i].end());
    }
    return downs_.find(key(from, below))->second;
}

/// The links of routes between the first and the last.
std::vector<PathLinks::Links> PathLinks::ask(const std::vector<NodePair>& pairs) {
    const PlatformFacts& facts = simgrid_.facts();
    std::vector<Links> routes = simgrid_.links(pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        Links& links = routes[i];
        const auto [from, to] = pairs[i];
        HEDDLE_ASSERT(links.size() == 2 * (1 + facts.meeting_level(from, to)));
        HEDDLE_ASSERT(links.front().number == facts.hosts[from].out.number);
        HEDDLE_ASSERT(links.back().number == facts.hosts[to].in.number);
        links.pop_back();
        links.erase(links.begin());
    }
    return routes;
}

}  // namespace heddle::sim
