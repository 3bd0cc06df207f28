// Waits for the time, the signal and the requests that change a run's members.
#include "runtime/native/member_changes.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/error.hpp"

namespace heddle::native {

namespace {

/// What the handler writes to; -1: nothing. An event's number grows by what is written.
std::atomic<int> signal_event{-1};
static_assert(std::atomic<int>::is_always_lock_free);

/// The process's event of the signal. It is never closed: a handler that runs on another thread may have read
/// its number and not have written yet, and a closed number may soon be that of another file.
const host::Descriptor& event_of_process() {
    static const auto* const event = new host::Descriptor(host::make_event());
    return *event;
}

extern "C" void note_leave_signal(int /*signal*/) {
    const int before = errno;
    const std::uint64_t one = 1;
    if (const int event = signal_event.load(std::memory_order_relaxed); event >= 0)
        (void)!write(event, &one, sizeof one);
    errno = before;
}

}  // namespace

LeaveSignal::LeaveSignal() {
    const host::Descriptor& event = event_of_process();
    int none = -1;
    listens_ = signal_event.compare_exchange_strong(none, event.get());
    if (!listens_) {
        unheard_ = host::make_event();
        return;
    }
    event_ = &event;
    host::clear_event(event);  // signals before were for an earlier run
    struct sigaction action {};
    action.sa_handler = note_leave_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
}

// The handler stays: a signal that comes late must not end the process.
LeaveSignal::~LeaveSignal() {
    if (listens_) signal_event.store(-1, std::memory_order_relaxed);
}

MemberChanges::MemberChanges(std::function<void()> leave, std::function<void(const StartRequest&)> start)
    : leave_(std::move(leave)), start_(std::move(start)), wake_(host::make_event()) {}

void MemberChanges::begin(Plan plan) {
    plan_ = std::move(plan);
    std::ranges::sort(plan_.starts, {}, &TimedStart::at);
    thread_ = std::thread([this] { run(); });
}

void MemberChanges::stop() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    host::signal_event(wake_);
    thread_.join();
}

void MemberChanges::start(const StartRequest& request) {
    {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
    }
    host::signal_event(wake_);
}

Deadline MemberChanges::next() const {
    Deadline next = plan_.leave_at.value_or(Deadline::max());
    if (!plan_.starts.empty()) next = std::min(next, plan_.starts.front().at);
    return next;
}

void MemberChanges::run() {
    bool left = false;
    for (;;) {
        std::vector<StartRequest> now;
        {
            const std::lock_guard lock(mutex_);
            if (stopping_) return;
            now.swap(requests_);
        }
        for (; !plan_.starts.empty() && plan_.starts.front().at <= Clock::now();
             plan_.starts.erase(plan_.starts.begin()))
            now.push_back(plan_.starts.front().request);
        for (const StartRequest& request : now) start_(request);
        if (plan_.leave_at && *plan_.leave_at <= Clock::now()) {
            plan_.leave_at.reset();
            if (!std::exchange(left, true)) leave_();
        }
        pollfd entries[] = {{wake_.get(), POLLIN, 0}, {signal_.event().get(), POLLIN, 0}};
        timespec most{};
        if (next() != Deadline::max()) {
            const auto nanoseconds =
                std::max<std::int64_t>(std::chrono::nanoseconds(next() - Clock::now()).count(), 0);
            most = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
        }
        if (ppoll(entries, 2, next() == Deadline::max() ? nullptr : &most, nullptr) <= 0) continue;
        if (entries[0].revents) host::clear_event(wake_);
        if (!entries[1].revents) continue;
        host::clear_event(signal_.event());
        if (!std::exchange(left, true)) leave_();
    }
}

}  // namespace heddle::native
