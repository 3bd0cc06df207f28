// Makes the team that the rounds of a run are rounds of.
#include "model/filaments/rounds.hpp"

#include "runtime/core/node.hpp"

namespace heddle::filaments {

namespace {

/// Beyond what programs choose for teams of their own.
constexpr std::uint64_t team_number = 0xf11a0000;

}  // namespace

Rounds::Rounds(runtime::Node& node, const void* owner, Refuse refuse)
    : id_(node.id()),
      owner_(owner),
      refuse_(refuse),
      team_(node, team_number, 1, node.topology().nodes, runtime::Team::Shape::tournament) {}

}  // namespace heddle::filaments
