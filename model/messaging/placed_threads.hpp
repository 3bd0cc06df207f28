// Chooses processes for threads that are created on request where links are good (docs/models/messaging.md).
#pragma once

#include <map>
#include <vector>

#include "model/messaging/talk.hpp"
#include "model/messaging/thread_id.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"

namespace heddle::messaging {

/// Where a thread is wanted that will talk to `thread`, which may be on any process.
struct Near {
    ThreadId thread;
    double messages = 1;  ///< that the two exchange
    double bytes = 0;     ///< of all of them together
};

/// What a process has chosen so far: `node.state<PlacedThreads>()`. Threads that other processes create, and
/// those that are created without a request, are not known here and count for nothing.
class PlacedThreads final : public runtime::State<runtime::Node> {
public:
    explicit PlacedThreads(runtime::Node& node) : node_(node) {}

    /// A process for each place, of those that there are now (place_together).
    std::vector<ProcessId> choose(const Talk& talk);
    /// Of the processes for which this one has chosen least often, the one with the best link; of equals the
    /// first. A link to itself is the best. Throws Error for an amount below 0 or above 1e18.
    ProcessId choose(const Near& near);

private:
    runtime::Node& node_;
    runtime::SpinLock lock_;
    std::map<ProcessId, std::uint64_t> chosen_;  ///< how often; under `lock_`
};

}  // namespace heddle::messaging
