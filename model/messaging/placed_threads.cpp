// Counts what it has chosen, so that requests for single threads load the processes evenly.
#include "model/messaging/placed_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "model/messaging/threads.hpp"

namespace heddle::messaging {

std::vector<ProcessId> PlacedThreads::choose(const Talk& talk) {
    std::vector<ProcessId> places =
        place_together(talk, Threads::processes(node_), links_of(node_.topology()));
    const runtime::SpinLock::Guard guard(lock_);
    for (const ProcessId process : places) ++chosen_[process];
    return places;
}

ProcessId PlacedThreads::choose(const Near& near) {
    Threads::expect_process(node_, near.thread.process);
    if (!is_amount(near.messages) || !is_amount(near.bytes))
        throw Error(
            fmt::format("a thread near thread {} of process {} exchanges {} messages of {} bytes with it",
                        near.thread.thread, near.thread.process, near.messages, near.bytes),
            fmt::format("state amounts from 0 to {:g}", amount_max));
    const LinkBetween link = links_of(node_.topology());
    const std::vector<ProcessId> processes = Threads::processes(node_);
    std::vector<double> seconds;
    for (const ProcessId process : processes) {
        const auto [a, b] = std::minmax(process, near.thread.process);
        seconds.push_back(a == b ? -1 : seconds_over(link(a, b), near.messages, near.bytes));
    }
    const runtime::SpinLock::Guard guard(lock_);
    std::pair best(std::numeric_limits<std::uint64_t>::max(), 0.0);
    ProcessId chosen = node_.id();
    for (std::size_t i = 0; i < processes.size(); ++i) {
        const std::pair candidate(chosen_[processes[i]], seconds[i]);
        if (candidate >= best) continue;
        best = candidate;
        chosen = processes[i];
    }
    ++chosen_[chosen];
    return chosen;
}

}  // namespace heddle::messaging
