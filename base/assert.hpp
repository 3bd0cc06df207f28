// Assertions for our own mistakes. They stay on in release builds: each is one predictable branch.
#pragma once

namespace heddle {

/// Writes `file:line: broken assumption: condition` and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace heddle

#define HEDDLE_ASSERT(condition) \
    (static_cast<bool>(condition) ? void() : ::heddle::assertion_failed(#condition, __FILE__, __LINE__))
