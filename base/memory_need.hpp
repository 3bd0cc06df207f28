// Refuses what does not fit into memory before it is begun. What is large says how much it needs; how much
// there is, the program's composition root says once. Measures nothing.
#pragma once

#include <string>

#include "base/error.hpp"

namespace heddle {

/// How many bytes this process may still take. Until it is called there is no limit. Call it before threads
/// start.
void set_available_memory(double bytes);

/// Throws Error if `bytes` are more than there are. `what` names what needs them ("100000000 tasks"),
/// `reduce` says what to lower. `bytes` is an estimate, and better too small than too large: what would fit
/// must pass.
void need_memory(double bytes, const std::string& what, const std::string& reduce,
                 const Location& where = {});

}  // namespace heddle
