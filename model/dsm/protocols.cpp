// Lists the protocols of shared memory by name, and makes the one that the schedule names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "model/dsm/protocol.hpp"

namespace heddle::dsm {

std::span<const ProtocolKind> protocols() {
    static const ProtocolKind all[] = {
        {"home_lazy_release", "several writers of a page, whose changes meet at its home at barriers",
         make_home_lazy_release},
        {"implicit_invalidate", "one writer; copies to read are dropped at barriers, without messages",
         make_implicit_invalidate},
        {"migratory", "one copy of each page, which moves with every fault", make_migratory},
        {"write_invalidate", "one writer, or many readers: copies are given up before a page is written",
         make_write_invalidate},
    };
    return all;
}

std::unique_ptr<Protocol> make_protocol(const std::string& name, Pages& pages) {
    std::vector<std::string> names;
    for (const ProtocolKind& kind : protocols()) {
        if (name == kind.name) return kind.make(pages);
        names.emplace_back(kind.name);
    }
    throw Error(fmt::format("there is no protocol of shared memory named {}", name),
                fmt::format("name one of: {}", fmt::join(names, ", ")));
}

}  // namespace heddle::dsm
