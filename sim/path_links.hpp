// The links of the routes between hosts. In a tree they are composed of what a few routes have shown. It
// remembers no route between two hosts.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/cards.hpp"
#include "sim/simgrid_process.hpp"

namespace heddle::sim {

class PathLinks {
public:
    explicit PathLinks(SimgridProcess& simgrid) : simgrid_(simgrid) {}

    /// SimgridPlatform::links.
    std::vector<LinkFacts> between(CardId from, CardId to);

private:
    using Links = std::vector<LinkFacts>;
    using Parts = std::unordered_map<std::uint64_t, Links>;  // never iterated over

    const Links& up(CardId below, CardId to);
    const Links& down(CardId from, CardId below);
    std::vector<Links> ask(const std::vector<NodePair>& pairs);

    SimgridProcess& simgrid_;
    Parts ups_;    ///< by the sender's switch and the receiver
    Parts downs_;  ///< by the sender and the receiver's switch
};

}  // namespace heddle::sim
