// The exchanges of thread_pairs.hpp without threads: handlers answer where messages arrive, and no thread is
// woken. Their time is that of the bare network, to compare threads with.
#pragma once

#include "model/messaging/thread.hpp"

namespace heddle::workloads::pairs {

/// What both sides of an exchange must know. Plain bytes: it travels.
struct Exchange {
    std::uint64_t bytes;     ///< of a message
    std::uint64_t messages;  ///< of the first side
    std::uint64_t window;    ///< messages that are under way, if they are not answered
    bool dma;                ///< blocks that are not copied
    bool bare;               ///< between handlers, not threads
};

/// A message has no fewer: a handler reads from it which one it is, and how to answer.
inline constexpr std::uint64_t bare_bytes_min = 24;

struct BareOutcome {
    std::uint64_t messages = 0;
    std::uint64_t wrong = 0;
};

/// The calling thread, in process 0, waits until all messages have gone to the last process and back. There
/// must be another process.
BareOutcome exchange_bare(messaging::Thread& self, const Exchange& exchange);

/// Until they have gone to the last process, which acknowledges each.
BareOutcome stream_bare(messaging::Thread& self, const Exchange& exchange);

}  // namespace heddle::workloads::pairs
