// Refuses a piece of work whose memory would not fit, before it begins. A caller estimates what the work
// needs. The program says once, at its start, how much memory there is; nothing is measured here.
#pragma once

#include <string>

#include "base/error.hpp"

namespace heddle {

/// How many bytes this process may still take. Until it is called there is no limit. Call it before threads
/// start.
void set_available_memory(double bytes);

/// Throws Error, a refusal, if `bytes` are more than there are. `what` names what needs them ("100000000
/// tasks"), `reduce` says what to lower. `bytes` is an estimate, and better too small than too large: what
/// would fit must pass.
void need_memory(double bytes, const std::string& what, const std::string& reduce,
                 const Location& where = {});

}  // namespace heddle
