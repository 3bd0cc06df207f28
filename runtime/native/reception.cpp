// Lets the receiver thread and a resting worker take turns at the connections.
#include "runtime/native/reception.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace heddle::native {

namespace naps = receiver_naps;

namespace {

/// How long the receiver thread naps at most. A worker that goes to work ends a nap of more than
/// `short_most`; a message that comes then waits for the end of a shorter one.
constexpr std::chrono::microseconds longest{1000};

/// Each look asks the system.
bool looks_are_calls(const Arrivals::Seen& seen) {
    return seen.looks_between_calls == 1;
}

/// A look at memory takes much less than one that asks the system.
std::uint32_t looks_between_yields(const Arrivals::Seen& seen) {
    return looks_are_calls(seen) ? 128 : 256;
}

/// To read the clock takes much less time than a look that asks the system, and a few times that of one at
/// memory.
std::uint32_t looks_between_clock_reads(const Arrivals::Seen& seen) {
    return looks_are_calls(seen) ? 4 : 32;
}

/// Of looks at memory that find nothing. They divide those between two calls of the system.
constexpr std::uint32_t looks_between_tasks = 64;

/// What comes all the time must not keep a worker from its work.
constexpr int looks_in_passing = 8;

/// Writing as much takes longer than a peer takes for two pieces.
constexpr std::uint64_t long_write_bytes = 128 << 10;

/// Whose mutex the calling thread holds, because it handles what has come.
thread_local const Reception* handles_for = nullptr;

}  // namespace

Reception::Reception(Receive how, std::chrono::nanoseconds looks_for, std::function<bool()> core_is_free,
                     bool has_core, Tasks tasks)
    : how_(how),
      looks_for_(looks_for),
      core_is_free_(std::move(core_is_free)),
      lengths_(has_core ? naps::with_core : naps::without_core),
      tasks_(std::move(tasks)),
      polling_(how, looks_for, [] { return true; }) {}  // the worker's own core

void Reception::add(Link& link) {
    arrivals_.add(link);
    if (!link.stream().tells_of_each_arrival()) wakes_two_.store(true, std::memory_order_relaxed);
}

// --- the receiver thread

void Reception::receive(const std::atomic<bool>& stopping, bool looks) {
    Polling polling(how_, looks_for_, looks ? core_is_free_ : std::function<bool()>{});
    Arrivals::Seen seen;
    bool found = true;
    nap_ = lengths_.shortest;
    while (!stopping.load(std::memory_order_acquire)) {
        if (worker_takes_care()) {
            nap(nap_);
            nap_ = std::min(2 * nap_, longest);
            found = false;
            if (arrivals_.worker_sleeps()) continue;  // the system tells the worker
            // A worker that looks in passing sees neither a bell for room nor the end of a peer.
            arrivals_.ask_system(seen, Deadline::min());
            if (seen.count <= 0) continue;
            const std::unique_lock lock = lock_before_worker();
            found = handle(seen);
            continue;
        }
        nap_ = lengths_.shortest;
        const bool attended = occupied_.load(std::memory_order_relaxed);
        if (attended) polling.pause();
        const bool looks_on =
            found || (!attended && seen.worth_looking && polling.again(looks_between_yields(seen)));
        std::unique_lock lock = lock_before_worker();
        if (looks_on) {
            found = look(seen, polling);
        } else {
            if (leaves_nothing()) {
                lock.unlock();
                arrivals_.ask_system(seen, Deadline::max());
                lock = lock_before_worker();
            }
            const Deadline begin = Clock::now();
            found = handle(seen);
            if (found) busy_.fetch_add((Clock::now() - begin).count(), std::memory_order_relaxed);
        }
        if (!found) continue;
        polling.found();
        lock.unlock();
        if (how_ != Receive::poll) let_worker_come();
    }
}

void Reception::let_worker_come() {
    if (core_is_free_ && core_is_free_()) {
        taken_ = 0;
        return;
    }
    const Deadline now = Clock::now();
    if (taken_ == 0) taken_since_ = now;
    if (++taken_ < naps::taken_times) return;
    taken_ = 0;
    if (now - taken_since_ > naps::taken_within) return;
    naps_ = Naps::briefly;
    napping_.park(now + lengths_.shortest, {});
    naps_ = Naps::none;
}

/// The worker sees what comes: it looks, or will soon. If this thread slept where the system wakes it, each
/// message would wake it too.
bool Reception::worker_takes_care() {
    const std::uint32_t rests = rests_.load(std::memory_order_relaxed);
    const bool has_rested = std::exchange(rests_seen_, rests) != rests;
    if (worker_looks_) return true;
    // The system is to wake the worker, not this thread.
    if (returns_soon_ && nap_ < longest && arrivals_.worker_sleeps()) return true;
    if (!has_rested || !returns_soon_) return false;
    // It comes by for nothing.
    const std::uint32_t reads = reads_.load(std::memory_order_relaxed);
    if (nap_ == longest && std::exchange(reads_seen_, reads) == reads) return false;
    nap(lengths_.shortest);  // or has it gone for long?
    return worker_looks_ || rests_.load(std::memory_order_relaxed) != rests ||
           writers_.load(std::memory_order_relaxed) != 0;
}

/// It ends before its time if the worker goes to work. The order matters: this thread says that it naps, then
/// looks for the worker once more; the worker says that it leaves, then looks whether this thread naps.
void Reception::nap(std::chrono::microseconds length) {
    naps_ = length > naps::short_most ? Naps::at_length : Naps::briefly;
    if (worker_looks_ || returns_soon_) napping_.park(Clock::now() + length, {});
    naps_ = Naps::none;
}

/// A worker that looks gives way. Else what this thread has been told of would wait until the worker rests no
/// more.
std::unique_lock<std::mutex> Reception::lock_before_worker() {
    thread_waits_.store(true, std::memory_order_relaxed);
    std::unique_lock lock(receiving_);
    thread_waits_.store(false, std::memory_order_relaxed);
    return lock;
}

// --- a worker

Deadline Reception::rest(Parker& parker, Deadline from, Deadline until, std::chrono::nanoseconds spin) {
    if (parker.take()) return Clock::now();
    if (!begin_to_attend()) {
        parker.park(until, spin);
        return Clock::now();
    }
    return attend(
        parker, from, until, spin, [] { return false; }, true);
}

Deadline Reception::receive_until(Parker& parker, Deadline from, Deadline until,
                                  std::chrono::nanoseconds spin, const std::function<bool()>& done) {
    if (how_ == Receive::block && spin.count() == 0) return from;
    if (parker.take()) return Clock::now();
    return begin_to_attend() ? attend(parker, from, until, spin, done, false) : from;
}

bool Reception::look_in_passing(Deadline now) {
    if (!begin_to_attend()) return false;
    bool found = false;
    {
        const std::unique_lock lock(receiving_, std::try_to_lock);
        if (!lock || thread_waits_.load(std::memory_order_relaxed)) {
            // Another thread looks.
        } else if (!arrivals_.all_in_memory()) {
            see_to_untold();
        } else {
            worker_comes(now);
            for (int looks = 0; looks != looks_in_passing && something_has_come(); ++looks)
                found = handle(seen_) || found;
            left_ = found ? Clock::now() : now;
            worker_leaves();
        }
    }
    occupied_.store(false, std::memory_order_release);
    return found;
}

/// Without asking the system.
bool Reception::something_has_come() const {
    return arrivals_.any_kept() || arrivals_.find_in_memory() != nullptr;
}

/// False if another worker attends, or none may.
bool Reception::begin_to_attend() {
    return !wakes_two_.load(std::memory_order_relaxed) &&
           !occupied_.exchange(true, std::memory_order_acquire);
}

/// Holds the mutex except where it sleeps: the receiver thread has nothing to do meanwhile.
template <class Done>
Deadline Reception::attend(Parker& parker, Deadline from, Deadline until, std::chrono::nanoseconds spin,
                           const Done& done, bool sleeps) {
    Deadline now = from;
    const Deadline spins_until = now + spin;
    std::unique_lock lock(receiving_);
    if (std::exchange(has_come_, false)) looks_until_ = now + looks_for_;
    if (!sleeps && how_ != Receive::poll && now >= std::max(spins_until, looks_until_)) {
        see_to_untold();
        lock.unlock();
        occupied_.store(false, std::memory_order_release);
        return now;
    }
    worker_comes(now);
    arrivals_.ask_no_more();
    polling_.pause();
    bool found = false;
    bool came = false;  // since the clock was read: handling that may have taken longer than it may look
    for (std::uint32_t looks = 1; !parker.take() && !done(); ++looks) {
        if (thread_waits_.load(std::memory_order_relaxed)) {
            lock.unlock();
            while (thread_waits_.load(std::memory_order_relaxed)) std::this_thread::yield();
            lock.lock();
        }
        if ((looks & (looks_between_clock_reads(seen_) - 1)) == 0) {
            now = Clock::now();
            if (std::exchange(came, false)) looks_until_ = now + looks_for_;
        }
        if (now >= until) break;
        if (found || now < spins_until ||
            ((how_ == Receive::poll || came || now < looks_until_) &&
             polling_.again(looks_between_yields(seen_)))) {
            found = look(seen_, polling_);
        } else {
            if (!sleeps) break;
            polling_.pause();
            if (leaves_nothing()) sleep(parker, until, lock);
            found = handle(seen_);
            now = Clock::now();
        }
        if (!found) continue;
        polling_.found();
        came = true;
    }
    // To read the clock delays what has come. The latest reading is a few looks old.
    left_ = sleeps || looks_are_calls(seen_) ? Clock::now() : now;
    worker_leaves();
    const Deadline left = left_;
    lock.unlock();
    occupied_.store(false, std::memory_order_release);
    return left;
}

void Reception::worker_comes(Deadline now) {
    // What is done just then may count for the next time.
    const Clock::duration busy(
        busy_.load(std::memory_order_relaxed) == 0 ? 0 : busy_.exchange(0, std::memory_order_relaxed));
    soon_ = naps::counted(soon_, now < left_ + lengths_.soon + busy);
    returns_soon_.store(soon_ >= naps::soon_times, std::memory_order_relaxed);
    rests_.store(rests_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // A receiver thread that sees it late asks for the mutex, and gets it.
    worker_looks_.store(true, std::memory_order_release);
}

void Reception::worker_leaves() {
    worker_looks_ = false;
    const Naps naps = naps_.load();
    if (naps != Naps::none && returns_soon_.load(std::memory_order_relaxed)) return;
    if (!leaves_nothing()) arrivals_.wake();
    if (naps == Naps::at_length) napping_.unpark();
}

/// Without the mutex meanwhile.
void Reception::sleep(Parker& parker, Deadline until, std::unique_lock<std::mutex>& lock) {
    worker_looks_ = false;
    // Before it gives the mutex back: a thread that takes that to write large data must know whether it may
    // let the peers not tell.
    arrivals_.worker_begins_to_sleep();
    lock.unlock();
    if (parker.go_elsewhere()) {
        arrivals_.ask_as_worker(seen_, until);
        parker.come_back();
    }
    arrivals_.worker_has_slept();
    lock.lock();
    worker_looks_ = true;
}

// --- a thread that writes

Reception::Writing::Writing(Reception& reception, std::uint64_t bytes)
    : reception_(reception), begin_(Clock::now()) {
    reception_.writers_.fetch_add(1, std::memory_order_relaxed);
    if (bytes < long_write_bytes || handles_for == &reception_) return;
    // If another thread has the mutex, that one attends to what comes.
    const std::unique_lock lock(reception_.receiving_, std::try_to_lock);
    if (!lock || reception_.arrivals_.any_kept() || reception_.arrivals_.worker_sleeps()) return;
    reception_.arrivals_.ask_no_more();
    reception_.is_untold_ = is_not_told_ = true;
}

Reception::Writing::~Writing() {
    reception_.busy_.fetch_add((Clock::now() - begin_).count(), std::memory_order_relaxed);
    reception_.writers_.fetch_sub(1, std::memory_order_relaxed);
    if (!is_not_told_) return;
    // Invariant: a thread that has the mutex looks again, or sees to what is untold before it gives it back.
    std::unique_lock lock(reception_.receiving_, std::try_to_lock);
    if (!lock) return;
    reception_.is_untold_ = false;
    if (reception_.leaves_nothing()) return;
    lock.unlock();  // the thread that wakes wants it
    reception_.arrivals_.wake();
}

// --- both, under the mutex

/// If so, the system will tell of all that comes.
bool Reception::leaves_nothing() {
    return !arrivals_.any_kept() && arrivals_.ask_for_bytes();
}

/// The thread that writes large data may have ended meanwhile, and have found the mutex taken.
void Reception::see_to_untold() {
    if (std::exchange(is_untold_, false) && !leaves_nothing()) arrivals_.wake();
}

/// Looks without waiting. True: something has come.
bool Reception::look(Arrivals::Seen& seen, Polling& polling) {
    ++seen.looks;
    if ((seen.looks & (looks_between_tasks - 1)) != 0 && arrivals_.looks_at_memory()) {
        Arrivals::Source* const source = arrivals_.find_in_memory();
        if (!source) return false;
        polling.look();
        return read(*source);
    }
    polling.look();
    if (!arrivals_.look_at_single(seen) && (seen.looks & (seen.looks_between_calls - 1)) == 0)
        arrivals_.ask_system(seen, Deadline::min());
    return handle(seen);
}

bool Reception::handle(Arrivals::Seen& seen) {
    tasks_.between();
    arrivals_.sort(seen);
    bool found = false;
    for (Arrivals::Source* const source : seen.ready) found = read(*source) || found;
    seen.ready.clear();
    return found;
}

/// True: something has come, or nothing more will.
bool Reception::read(Arrivals::Source& source) {
    Link& link = *source.link;
    const std::uint64_t before = link.received();
    const Reception* const before_that = std::exchange(handles_for, this);
    const bool goes_on = tasks_.attend(link);
    handles_for = before_that;
    const bool moved = link.received() != before;
    if (!goes_on) {
        arrivals_.remove(source);
        tasks_.over(link);
    } else if (link.has_unread() || (source.hung_up && moved)) {
        arrivals_.keep(source);
    }
    const bool found = moved || !goes_on;
    has_come_ = has_come_ || found;
    if (found) reads_.store(reads_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return found;
}

}  // namespace heddle::native
