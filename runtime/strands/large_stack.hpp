// Runs code on a large stack, for strands (user-level threads) that call a library: their own stacks are
// small.
#pragma once

#include <functional>

namespace heddle::runtime {

/// Calls `function` on a stack of 64 MiB that is made for the call, committed as it is touched. It may throw;
/// it may not wait, fork or charge.
void on_large_stack(const std::function<void()>& function);

}  // namespace heddle::runtime
