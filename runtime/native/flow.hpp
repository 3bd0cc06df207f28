// Flow control of the messages to one node: it counts the bytes that the node has not handled yet. The
// sender puts numbered marks between its messages; the receiver answers a mark when it has handled all
// before it. A worker waits if too much is under way. A handler counts but never waits, so receiving cannot
// stop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "runtime/native/transport.hpp"

namespace heddle::native {

class Flow {
public:
    /// `window`: bytes that may be under way. A larger message goes alone. `post_mark` sends a mark with its
    /// number; called on the threads that send.
    Flow(std::uint64_t window, std::function<void(std::uint64_t number)> post_mark);

    /// Before a message of `bytes` is sent: counts it, and lets a worker wait for its turn. Several workers
    /// may exceed the window by the message of each.
    void before(std::uint64_t bytes, Sender sender);

    /// The same, but does not wait: false if there is no room. The next `handled` may then have made some.
    bool try_before(std::uint64_t bytes, Sender sender);

    /// After it: sends a mark now and then.
    void after();

    /// The other side has handled all up to mark `number`. The receiver's thread.
    void handled(std::uint64_t number);

    /// The other side is gone: no worker waits any more.
    void open();

private:
    bool add(std::uint64_t bytes, Sender sender);
    bool add_or_mark(std::unique_lock<std::mutex>& lock, std::uint64_t bytes, Sender sender);
    bool mark_is_due() const { return sent_ - marked_ > window_ / 4; }
    void mark(std::unique_lock<std::mutex>& lock);

    const std::uint64_t window_;
    const std::function<void(std::uint64_t)> post_mark_;
    std::mutex mutex_;
    std::condition_variable changed_;
    // Bytes since the beginning; a mark's number is how many went before it. All but `sent_` change only
    // under the lock.
    std::atomic<std::uint64_t> sent_{0};
    std::atomic<std::uint64_t> marked_{0};
    std::atomic<std::uint64_t> handled_{0};
    std::atomic<bool> open_{false};
};

}  // namespace heddle::native
