// Lists the names of the shared memory's protocols.
#include "workloads/memory_protocols.hpp"

#include "model/dsm/protocol.hpp"

namespace heddle::workloads {

std::vector<std::string> memory_protocols() {
    std::vector<std::string> names;
    for (const dsm::ProtocolKind& kind : dsm::protocols()) names.emplace_back(kind.name);
    return names;
}

}  // namespace heddle::workloads
