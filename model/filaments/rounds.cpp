// Makes the team of all nodes whose members meet at the end of each phase of filaments.
#include "model/filaments/rounds.hpp"

#include "runtime/core/node.hpp"

namespace heddle::filaments {

namespace {

/// Beyond what programs choose for teams of their own.
constexpr std::uint64_t team_number = 0xf11a0000;

}  // namespace

Rounds::Rounds(dsm::SharedMemory& memory, const void* owner, Refuse refuse)
    : memory_(memory),
      id_(memory.node().id()),
      owner_(owner),
      refuse_(refuse),
      team_(memory.node(), team_number, 1, memory.node().topology().nodes, runtime::Team::Shape::tournament) {
}

}  // namespace heddle::filaments
