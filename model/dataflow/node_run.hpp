// Describes what one node does in one run of a group (the KAAPI paper, section 3.5): where its stored values
// go, and which threads run.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/dataflow/group_values.hpp"
#include "model/dataflow/site_program.hpp"

namespace heddle::dataflow {

/// A value at rest goes to the threads that begin with it.
struct GroupMove {
    ValueName value;
    std::uint32_t object = 0;   ///< as the group that runs numbers it
    std::uint32_t number = 0;   ///< of the object's first version
    bool written = false;       ///< the group writes the object; else the value stays
    std::uint32_t readers = 0;  ///< threads of the node
    std::vector<Target> to{};   ///< on other nodes
    bool moved = false;         ///< it has gone
};

struct NodeRun {
    GroupName group;
    std::uint32_t run = 0;         ///< of the group, from 0
    std::uint32_t placing = 0;     ///< of the group, from 0
    std::uint32_t iteration = 0;   ///< the first; they are numbered through all runs
    std::uint32_t iterations = 0;  ///< none: no thread runs here
    bool strict = false;
    bool measured = false;     ///< the first iteration's tasks are
    std::uint32_t digest = 0;  ///< GroupValue
    std::vector<GroupMove> moves{};
    /// The threads' programs, if the node does not have them.
    std::vector<std::pair<CoreId, SiteProgram>> programs{};

    void write(runtime::Writer& writer) const;
    /// Throws MalformedMessage.
    static NodeRun read(runtime::Reader& reader);
};

void put_name(runtime::Writer& writer, const GroupName& name);
void put_name(runtime::Writer& writer, const ValueName& name);
/// Throw MalformedMessage.
GroupName group_in(runtime::Reader& reader);
ValueName value_in(runtime::Reader& reader);

}  // namespace heddle::dataflow
