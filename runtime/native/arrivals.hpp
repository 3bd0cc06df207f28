// One epoll set for the connections of a node. Two threads may sleep in it at once: the receiver thread, and
// a worker that rests (Mesh::rest). For each arrival the system wakes one of them, and prefers the one that
// came last. That is fast, but nothing depends on it.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <deque>
#include <vector>

#include "runtime/native/link.hpp"

namespace heddle::native {

class Arrivals {
public:
    /// A connection in the set. Its address stays, even after `remove`.
    struct Source {
        Link* link;
        bool open = true;      ///< not removed
        bool hung_up = false;  ///< the peer has ended, or will write no more: to be read to the end
        bool unread = false;   ///< in the list of `keep`
    };

    /// What one thread has been told, or has found.
    struct Seen {
        std::array<epoll_event, 64> events{};
        int count = 0;
        std::vector<Source*> ready{};
        std::uint32_t looks = 0;
        /// How often to look at memory before asking the system, a power of two.
        std::uint32_t looks_between_calls = 1;
        bool worth_looking = true;  ///< there are connections
    };

    Arrivals();

    // --- any thread
    /// Adds to `seen` what the system tells: at once, or what comes until `until`.
    void ask_system(Seen& seen, Deadline until);

    /// The same for the worker, between the two calls below: returns early after `rouse`.
    void ask_as_worker(Seen& seen, Deadline until);

    /// The worker says so before it can be unparked here: if another thread is woken in its place, that one
    /// rouses it again.
    void worker_begins_to_sleep() { worker_sleeps_.store(true, std::memory_order_seq_cst); }
    void worker_has_slept() { worker_sleeps_.store(false, std::memory_order_seq_cst); }
    bool worker_sleeps() const { return worker_sleeps_.load(std::memory_order_seq_cst); }

    /// Wakes a thread that sleeps here, for something that is no connection's.
    void wake() { host::signal_event(wake_); }

    /// Wakes the worker that sleeps here.
    void rouse() { host::signal_event(rouse_); }

    // --- one thread at a time: the caller's mutex is held
    void add(Link& link);
    void remove(Source& source);
    /// Moves the connections of `seen.events` to `seen.ready`, with those in memory that have bytes, and
    /// those that were kept.
    void sort(Seen& seen);

    /// The source has bytes of which the system will not tell again.
    void keep(Source& source);
    bool any_kept() const { return !kept_.empty(); }

    /// A look at memory sees all that comes.
    bool all_in_memory() const { return in_memory_.size() == open_; }

    /// There are connections in memory, and none was kept: `find_in_memory` says whether one has bytes.
    bool looks_at_memory() const { return kept_.empty() && !in_memory_.empty(); }
    /// Null: none.
    Source* find_in_memory() const;

    /// If there is one connection, and that is not in memory, it becomes ready: to read costs no more than to
    /// ask. False: no.
    bool look_at_single(Seen& seen);

    /// From now on the system tells of all that comes. False: something has come already.
    bool ask_for_bytes();
    /// A thread looks at memory itself: the peers need not make system calls.
    void ask_no_more();

private:
    void ask(Seen& seen, Deadline until, bool is_worker);
    void watch(int descriptor, std::uint32_t events, void* mark);
    void pass_on_rouse();

    Descriptor set_{epoll_create1(EPOLL_CLOEXEC)};
    Descriptor wake_ = host::make_event();
    Descriptor rouse_ = host::make_event();
    std::deque<Source> sources_;
    std::vector<Source*> in_memory_;
    std::vector<Source*> kept_;
    std::size_t open_ = 0;
    std::atomic<bool> worker_sleeps_{false};
};

}  // namespace heddle::native
