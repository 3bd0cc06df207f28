// Lets the receiver thread of a node and a worker that rests take turns at receiving. A message for a strand
// then wakes one thread instead of two, the worker that runs the strand. If a resting worker gets work, it
// leaves at once; the receiver thread sleeps in the same epoll set, so the system wakes that next. The
// caller's functions handle what is received, one thread at a time.
//
// A worker that exchanges messages leaves and comes back every few microseconds. While it does, the receiver
// thread naps, and neither thread asks the system to tell of messages: both cost more than the messages.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

#include "base/receiver_naps.hpp"
#include "runtime/native/arrivals.hpp"
#include "runtime/native/parker.hpp"
#include "runtime/native/polling.hpp"

namespace heddle::native {

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): there is one, and its members go by their users
class Reception {
public:
    /// What the user does, on whatever thread receives, one at a time.
    struct Tasks {
        std::function<bool(Link& link)>
            attend;                            ///< reads and handles what has come. False: nothing more comes
        std::function<void(Link& link)> over;  ///< after that: no thread here looks at the link again
        std::function<void()> between;         ///< often, and soon after each `wake`
    };

    /// `has_core`: the receiver thread need not take a worker's.
    Reception(Receive how, std::chrono::nanoseconds looks_for, std::function<bool()> core_is_free,
              bool has_core, Tasks tasks);

    /// Before `receive` and `rest`, or in a task.
    void add(Link& link);

    /// The receiver thread: until `stopping`, which the caller sets before a `wake`. `looks`: for a while
    /// after something has come, if a core is free. Not for a thread that would keep a worker from that core.
    void receive(const std::atomic<bool>& stopping, bool looks);

    /// A worker parks (Parker::park), and receives meanwhile, unless another worker does. `from`: the present
    /// time, or a little earlier. Returns the time at which it left.
    Deadline rest(Parker& parker, Deadline from, Deadline until, std::chrono::nanoseconds spin);

    /// The same for a wait that probably ends soon: until `done()`, and never asleep. Returns early where
    /// `rest` would sleep, or another worker receives.
    Deadline receive_until(Parker& parker, Deadline from, Deadline until, std::chrono::nanoseconds spin,
                           const std::function<bool()>& done);

    /// A worker at work takes what has come through memory, unless another thread receives. It counts as a
    /// worker that has rested: while such looks find messages, and soon follow each other, the receiver
    /// thread naps. True: something has come.
    bool look_in_passing(Deadline now);

    /// A thread writes large data to a connection. If it is a worker, that is no work for which the receiver
    /// thread should take its place: what comes meanwhile is read by one thread, after the other. If the peer
    /// writes large data too, and had to wake the receiver thread for each piece, both would do little but
    /// switch threads: so it need not, until all is written.
    class Writing {
    public:
        Writing(Reception& reception, std::uint64_t bytes);
        ~Writing();
        Writing(const Writing&) = delete;
        Writing& operator=(const Writing&) = delete;

    private:
        Reception& reception_;
        Deadline begin_;
        bool is_not_told_ = false;  ///< the peers in memory do not tell of what they write
    };

    /// The worker of that parker sleeps in `rest`, and has a permit.
    void rouse() { arrivals_.rouse(); }

    void wake() { arrivals_.wake(); }

private:
    bool worker_takes_care();
    void let_worker_come();
    void nap(std::chrono::microseconds length);
    bool something_has_come() const;
    bool begin_to_attend();
    template <class Done>
    Deadline attend(Parker& parker, Deadline from, Deadline until, std::chrono::nanoseconds spin,
                    const Done& done, bool sleeps);
    void worker_comes(Deadline now);
    void worker_leaves();
    std::unique_lock<std::mutex> lock_before_worker();
    void sleep(Parker& parker, Deadline until, std::unique_lock<std::mutex>& lock);
    bool leaves_nothing();
    void see_to_untold();
    bool look(Arrivals::Seen& seen, Polling& polling);
    bool handle(Arrivals::Seen& seen);
    bool read(Arrivals::Source& source);

    const Receive how_;
    const std::chrono::nanoseconds looks_for_;
    const std::function<bool()> core_is_free_;
    const receiver_naps::Lengths lengths_;
    const Tasks tasks_;

    // Invariant: if bytes are there to be read, then a thread is on its way to read them, or the system will
    // wake one. So a thread leaves nothing kept when it gives the mutex back, and has asked the peers in
    // memory to tell: reading from a connection takes that back. Or it has seen the receiver thread nap,
    // which looks afterwards. Or it writes large data, and restores this then; if the mutex is taken then,
    // the thread that has it does. A worker keeps the mutex while it rests and is awake, except that it lets
    // the receiver thread have it.
    std::mutex receiving_;  ///< over reading and handling
    Arrivals arrivals_;
    std::atomic<bool> worker_looks_{false};  ///< a worker rests, and is awake
    std::atomic<bool> thread_waits_{false};  ///< the receiver thread, for the mutex
    bool has_come_ = false;                  ///< something, since a worker rested
    bool is_untold_ = false;                 ///< a thread writes, and the peers in memory do not tell

    std::atomic<bool> occupied_{false};   ///< a worker attends, or is about to
    std::atomic<bool> wakes_two_{false};  ///< a connection that the system would tell both threads of

    // How long workers stay away. Written under the mutex.
    Deadline left_{};                        ///< when one rested last
    std::uint8_t soon_ = 0;                  ///< so often one came back soon; halved where one did not
    std::atomic<bool> returns_soon_{false};  ///< and will do so again, probably
    std::atomic<std::uint32_t> rests_{0};
    std::atomic<std::uint32_t> reads_{0};  ///< so often something has come
    std::atomic<std::uint32_t> writers_{0};
    std::atomic<Clock::rep> busy_{
        0};  ///< time for that, and for what the thread received, since a worker rested

    // Of the receiver thread.
    enum class Naps : std::uint8_t { none, briefly, at_length };
    std::atomic<Naps> naps_{Naps::none};
    Parker napping_;                   ///< it naps here
    std::chrono::microseconds nap_{};  ///< the next one's length
    std::uint32_t rests_seen_ = 0;
    std::uint32_t reads_seen_ = 0;  ///< before its latest long nap
    std::uint32_t taken_ = 0;       ///< so often it has received while all workers were at work
    Deadline taken_since_{};

    // Of the worker that attends.
    Arrivals::Seen seen_;
    Polling polling_;
    Deadline looks_until_{};  ///< with Receive::automatic: it sleeps after that, unless something has come
};

}  // namespace heddle::native
