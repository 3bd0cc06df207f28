// Makes memory views: ranges of pages whose accesses can be permitted page by page. All views map parts of
// one memory file, each part twice. The program's mapping permits what the view says; the second one permits
// everything, so that the runtime can fill pages.
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
