// Memory views as the system offers them, for every world: one file of memory, of which each view maps a part
// twice. The program's mapping permits what the view says, the other one everything. It finds the worker that
// faults by what the backend tells it, and knows no world.
#pragma once

#include <functional>
#include <memory>

#include "base/ids.hpp"
#include "runtime/memory_view.hpp"

namespace heddle::memory {

/// The worker of a view's node that the calling thread runs; null if it runs none. Called in a signal
/// handler.
using Running = std::function<runtime::Context*()>;

/// Throws Error with advice if sizes are wrong, or the system refuses the memory or the trigger.
std::unique_ptr<runtime::MemoryView> make_view(const runtime::ViewOptions& options,
                                               runtime::FaultHandler& handler, Running running);

}  // namespace heddle::memory
