// Finds groups of ranks from a topology.
#include "model/spmd/groups.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.hpp"
#include "base/time.hpp"

namespace heddle::spmd {

namespace {

using Firsts = std::vector<RankId>;

Firsts every(RankId ranks, RankId size) {
    Firsts firsts;
    for (RankId first = 0; first < ranks; first += size) firsts.push_back(first);
    return firsts;
}

/// Runs of nodes of one group.
Firsts runs(const runtime::Topology& topology, RankId ranks_per_node) {
    Firsts firsts{0};
    for (NodeId node = 1; node < topology.nodes; ++node)
        if (topology.distances.group(node) != topology.distances.group(node - 1))
            firsts.push_back(node * ranks_per_node);
    return firsts;
}

/// The groups of groups: which of the finer ones each begins with.
std::shared_ptr<const Groups> nested(RankId ranks, const Firsts& fine, const Firsts& coarse) {
    Firsts begins;
    for (const RankId first : coarse)
        begins.push_back(static_cast<RankId>(std::ranges::lower_bound(fine, first) - fine.begin()));
    const auto above = std::make_shared<Groups>(static_cast<RankId>(fine.size()), std::move(begins));
    return std::make_shared<Groups>(ranks, fine, above);
}

/// Of few pairs, which represent all: the first two nodes of a group, and the first ones of two groups.
void measure(const NodeDistances& distances, Levels& levels) {
    const std::uint32_t groups = std::min(distances.groups(), NodeDistances::groups_max);
    Time near{};
    Time far{};
    std::int64_t nears = 0;
    for (std::uint32_t a = 0; a < groups; ++a) {
        const auto members = distances.members(a);
        if (members.size() > 1) {
            near += distances.latency(members[0], members[1]);
            ++nears;
        }
        for (std::uint32_t b = 0; b < groups; ++b)
            far += distances.latency(members.front(), distances.members(b).front());
    }
    levels.far_latency = to_seconds(far) / (static_cast<double>(groups) * (groups - 1));
    levels.near_latency = nears == 0 ? levels.far_latency : to_seconds(near) / static_cast<double>(nears);
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    return (hash ^ value) * 0x9e37'79b9'7f4a'7c15U + (hash >> 29U);
}

}  // namespace

Groups::Groups(RankId ranks, std::vector<RankId> firsts, std::shared_ptr<const Groups> above)
    : ranks_(ranks),
      count_(static_cast<RankId>(firsts.size())),
      size_(count_ > 1 ? firsts[1] : ranks),
      least_(ranks),
      firsts_(std::move(firsts)),
      above_(std::move(above)) {
    HEDDLE_ASSERT(count_ > 0 && firsts_.front() == 0);
    bool alike = true;
    for (RankId group = 0; group < count_; ++group) {
        const RankId end = group + 1 < count_ ? firsts_[group + 1] : ranks_;
        HEDDLE_ASSERT(end > firsts_[group]);
        const RankId members = end - firsts_[group];
        least_ = std::min(least_, members);
        alike = alike && (members == size_ || (group + 1 == count_ && members < size_));
    }
    if (alike) firsts_ = {};  // each node of a large cluster has its groups
}

RankId Groups::of(RankId rank) const {
    if (firsts_.empty()) return rank / size_;
    return static_cast<RankId>(std::ranges::upper_bound(firsts_, rank) - firsts_.begin()) - 1;
}

RankId Groups::first(RankId group) const {
    if (group >= count_) return ranks_;
    return firsts_.empty() ? group * size_ : firsts_[group];
}

std::uint64_t Groups::fingerprint() const {
    std::uint64_t hash = mixed(mixed(ranks_, count_), size_);
    for (const RankId first : firsts_) hash = mixed(hash, first);
    return above_ ? mixed(hash, above_->fingerprint()) : hash;
}

Levels Levels::of(const runtime::Topology& topology, RankId ranks_per_node, RankId stated) {
    const RankId ranks = topology.nodes * ranks_per_node;
    std::vector<Firsts> found;
    const auto add = [&](Firsts firsts) {
        if (firsts.size() > 1 && firsts.size() < (found.empty() ? ranks : found.back().size()))
            found.push_back(std::move(firsts));
    };
    Levels levels;
    if (topology.distances.groups() > 1 && topology.distances.groups() < topology.nodes) {
        Firsts firsts = runs(topology, ranks_per_node);
        levels.network = std::make_shared<Groups>(ranks, std::move(firsts));
        measure(topology.distances, levels);
        levels.crossing = topology.crossing;
    }
    if (stated > 0) {
        add(every(ranks, stated));
    } else {
        if (ranks_per_node > 1 && topology.near_cores > 0 && ranks_per_node % topology.near_cores == 0)
            add(every(ranks, topology.near_cores));
        if (ranks_per_node > 1) add(every(ranks, ranks_per_node));
        if (levels.network) add(runs(topology, ranks_per_node));
    }
    if (found.empty()) return levels;
    // Of nodes, if their ranks are several. Finer ones are of sockets.
    const bool is_finer = found.front().size() > topology.nodes && stated == 0;
    const Firsts& node = found[is_finer && found.size() > 1 ? 1 : 0];
    levels.two = std::make_shared<Groups>(ranks, node);
    levels.three = levels.two;
    if (found.size() > 1) levels.three = nested(ranks, found[found.size() - 2], found.back());
    return levels;
}

std::uint64_t Levels::fingerprint() const {
    std::uint64_t hash = 0;
    for (const auto* groups : {&two, &three, &network})
        hash = mixed(hash, *groups ? (*groups)->fingerprint() : 1);
    for (const double figure : {near_latency, far_latency, crossing.within, crossing.message, crossing.to_one,
                                crossing.to_all, crossing.duplex ? 1.0 : 0.0})
        hash = mixed(hash, std::bit_cast<std::uint64_t>(figure));
    return hash;
}

}  // namespace heddle::spmd
