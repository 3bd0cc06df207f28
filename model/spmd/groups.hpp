// Which ranks are near each other: of one socket, one node, one switch or machine. Algorithms with levels
// send within groups, and few of their messages from one group to another.
#pragma once

#include <memory>
#include <vector>

#include "model/spmd/steps.hpp"
#include "runtime/backend.hpp"

namespace heddle::spmd {

/// The ranks in groups of consecutive ones. So groups are in the order of their ranks, and the blocks of a
/// group are one range.
class Groups {
public:
    /// `firsts`: the first rank of each group, ascending from 0 on. `above`: groups of these groups.
    Groups(RankId ranks, std::vector<RankId> firsts, std::shared_ptr<const Groups> above = nullptr);

    RankId ranks() const { return ranks_; }
    RankId count() const { return count_; }
    /// The group of a rank.
    RankId of(RankId rank) const;
    /// Its first rank; of `count()` as well: the number of ranks.
    RankId first(RankId group) const;
    RankId size(RankId group) const { return first(group + 1) - first(group); }
    /// The size of the smallest one.
    RankId least() const { return least_; }
    /// Groups of these groups; null: there are none.
    const Groups* above() const { return above_.get(); }
    /// A number that differs for other groups, most probably.
    std::uint64_t fingerprint() const;

private:
    RankId ranks_;
    RankId count_;
    RankId size_;  ///< of each group but the last one, if there are no `firsts_`
    RankId least_;
    std::vector<RankId> firsts_;  ///< of groups whose sizes differ
    std::shared_ptr<const Groups> above_;
};

/// The groups that algorithms of two and of three levels take. None has one group only, or a group for each
/// rank.
struct Levels {
    std::shared_ptr<const Groups> two;      ///< of a node, else as the topology says; null: there are none
    std::shared_ptr<const Groups> three;    ///< with groups above, if there are any; else as `two`
    std::shared_ptr<const Groups> network;  ///< of nodes near each other: Topology::distances
    /// Of a message between two nodes of one group of `network`, and of two: the mean, in seconds. Zero:
    /// unknown.
    double near_latency = 0;
    double far_latency = 0;
    runtime::Crossing crossing{};  ///< between groups of `network`

    /// From the finest: cores of a socket and cores of a node, if `ranks_per_node` is more than one; then the
    /// topology's groups of nodes. Three levels take the last two of these. Where members of a group are not
    /// consecutive ranks, each run of consecutive ones is a group. `stated`: so many ranks in a row are a
    /// group, whatever the topology says; 0: nothing is stated.
    static Levels of(const runtime::Topology& topology, RankId ranks_per_node, RankId stated = 0);

    std::uint64_t fingerprint() const;
};

}  // namespace heddle::spmd
