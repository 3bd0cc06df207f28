// Lets the receiver thread and a resting worker take turns at the connections.
#include "runtime/native/reception.hpp"

#include <algorithm>
#include <utility>

namespace heddle::native {

namespace {

/// A look at memory takes much less than one that asks the system.
std::uint32_t looks_between_yields(const Arrivals::Seen& seen) {
    return std::max(16U, seen.looks_between_calls);
}

}  // namespace

Reception::Reception(Receive how, std::chrono::nanoseconds looks_for, std::function<bool()> core_is_free,
                     Tasks tasks)
    : how_(how),
      looks_for_(looks_for),
      core_is_free_(std::move(core_is_free)),
      tasks_(std::move(tasks)),
      polling_(how, looks_for, [] { return true; }) {}  // the worker's own core

void Reception::add(Link& link) {
    arrivals_.add(link);
    if (!link.stream().tells_of_each_arrival()) wakes_two_.store(true, std::memory_order_relaxed);
}

// --- the receiver thread

void Reception::receive(const std::atomic<bool>& stopping) {
    Polling polling(how_, looks_for_, core_is_free_);
    Arrivals::Seen seen;
    bool found = true;
    while (!stopping.load(std::memory_order_acquire)) {
        const bool attended = occupied_.load(std::memory_order_relaxed);
        if (attended) polling.pause();
        const bool looks_on =
            found || (!attended && seen.worth_looking && polling.again(looks_between_yields(seen)));
        found = looks_on ? look(seen) : sleep(seen, Deadline::max(), nullptr);
        if (found) polling.found();
    }
}

// --- a worker

void Reception::rest(Parker& parker, Deadline until, std::chrono::nanoseconds spin) {
    if (parker.take()) return;
    if (wakes_two_.load(std::memory_order_relaxed) || occupied_.exchange(true, std::memory_order_acquire))
        return parker.park(until, spin);
    rest_attending(parker, until, spin);
    occupied_.store(false, std::memory_order_release);
}

void Reception::rest_attending(Parker& parker, Deadline until, std::chrono::nanoseconds spin) {
    Deadline now = Clock::now();
    const Deadline spins_until = now + spin;
    Deadline looks_until;
    {
        const std::lock_guard lock(receiving_);
        worker_looks_ = true;
        arrivals_.ask_no_more();
        looks_until = last_arrival_ + looks_for_;
    }
    polling_.pause();
    for (bool found = false; !parker.take() && now < until; now = Clock::now()) {
        const bool looks_on =
            found || now < spins_until ||
            ((how_ == Receive::poll || now < looks_until) && polling_.again(looks_between_yields(seen_)));
        found = looks_on ? look(seen_) : sleep(seen_, until, &parker);
        if (!found) continue;
        polling_.found();
        looks_until = now + looks_for_;
    }
    const std::lock_guard lock(receiving_);
    worker_looks_ = false;
    if (arrivals_.any_kept() || !arrivals_.ask_for_bytes()) arrivals_.wake();
}

// --- both

/// Looks without waiting. True: something has come.
bool Reception::look(Arrivals::Seen& seen) {
    const std::lock_guard lock(receiving_);
    if (!arrivals_.look_at_single(seen) && ++seen.looks % seen.looks_between_calls == 0)
        arrivals_.ask_system(seen, Deadline::min());
    return handle(seen);
}

/// Sleeps until something comes, until `until`, or until the worker has a permit. True: something has come.
bool Reception::sleep(Arrivals::Seen& seen, Deadline until, Parker* worker) {
    if (may_sleep(worker)) {
        if (!worker) {
            arrivals_.ask_system(seen, until);
        } else {
            arrivals_.asleep.store(true, std::memory_order_seq_cst);
            if (worker->go_elsewhere()) {
                arrivals_.ask_system(seen, until);
                worker->come_back();
            }
            arrivals_.asleep.store(false, std::memory_order_seq_cst);
        }
    }
    const std::lock_guard lock(receiving_);
    if (worker) worker_looks_ = true;
    return handle(seen);
}

/// If so, this thread has left nothing that the system would not tell.
bool Reception::may_sleep(bool is_worker) {
    const std::lock_guard lock(receiving_);
    if (!is_worker && worker_looks_) return true;
    if (arrivals_.any_kept() || !arrivals_.ask_for_bytes()) return false;
    if (is_worker) worker_looks_ = false;
    return true;
}

/// Handles what `seen` has. Under the mutex.
bool Reception::handle(Arrivals::Seen& seen) {
    tasks_.between();
    arrivals_.sort(seen);
    bool found = false;
    for (Arrivals::Source* source : seen.ready) {
        Link& link = *source->link;
        const std::uint64_t before = link.received();
        const bool goes_on = tasks_.attend(link);
        const bool moved = link.received() != before;
        found = found || moved || !goes_on;
        if (!goes_on) {
            arrivals_.remove(*source);
            tasks_.over(link);
        } else if (link.has_unread() || (source->hung_up && moved)) {
            arrivals_.keep(*source);
        }
    }
    seen.ready.clear();
    if (found) last_arrival_ = Clock::now();
    return found;
}

}  // namespace heddle::native
