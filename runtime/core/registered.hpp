// A list of all functions that a message may name by number: task types and message handlers.
#pragma once

#include <string>

namespace heddle::runtime {

/// All of them, a line each, sorted by name: `handler steal.request`, `task fib (8 bytes in, 8 bytes out)`.
/// Numbers follow from this order. So two processes whose texts are equal mean the same function by the same
/// number, and processes whose texts differ must not work together.
std::string registered_functions();

}  // namespace heddle::runtime
