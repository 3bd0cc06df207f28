// Reports what each array of a shared memory did in a run: as a table for people, and as values for files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/run/counters.hpp"
#include "runtime/run/sharing.hpp"

namespace heddle::results {

/// The counts of all nodes, a line for each array and node that did something, and the pages that several
/// nodes used between two barriers.
nlohmann::ordered_json memory_json(const runtime::Counters& total, const runtime::Sharing& sharing);

/// The same as text: a line for each array, with what its nodes did together, and for each run of such pages.
std::string sharing_text(const runtime::Sharing& sharing);

}  // namespace heddle::results
