// Delays an exception where it would destroy what other workers use: a job on the stack, the arrays of a
// call, bytes that a message lends. The exception ends the run, but only when it has left the stack.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/relax.hpp"
#include "base/time.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

/// Returns when `done()`, or after five seconds: the other workers may wait for messages that never come. If
/// there are more threads than cores, what they do in a moment takes long. In simulation no other worker runs
/// meanwhile, and no time passes: then it returns at once. A destructor calls this, so it cannot wait as
/// strands do.
template <class Done>
void outlast(Worker& worker, const Done& done) noexcept {
#if defined(__SANITIZE_THREAD__)
    constexpr Time longest = std::chrono::seconds(60);  // everything takes ten times as long
#else
    constexpr Time longest = std::chrono::seconds(5);
#endif
    constexpr std::uint32_t looks_between = 64;
    const Node& node = worker.node();
    if (node.one_thread() || node.stopping()) return;
    const Time begin = worker.backend->now(worker);
    std::uint32_t looks = 0;
    for (Patience patience; !done(); patience.wait()) {
        if (++looks % looks_between != 0) continue;
        const Time waited = worker.backend->now(worker) - begin;
        if (waited == Time{} || waited > longest) return;
        if (node.topology().polled) worker.backend->poll(worker);
    }
}

}  // namespace heddle::runtime
