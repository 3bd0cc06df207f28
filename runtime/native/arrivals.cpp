// Waits for the connections of a node by epoll, and polls those through shared memory.
//
// The system tells of an arrival once (EPOLLET), so that it wakes one thread only. A thread that has been
// told must therefore read all, or keep the connection for the next look.
#include "runtime/native/arrivals.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/assert.hpp"

namespace heddle::native {

namespace {

/// How long a thread that was woken in place of another lets that one go first.
constexpr std::chrono::microseconds wake_up{50};

/// epoll_wait with a time in nanoseconds, which systems before Linux 5.11 do not have.
int wait_for(int set, std::array<epoll_event, 64>& events, Deadline until) {
    const int count = static_cast<int>(events.size());
    if (until == Deadline::min()) return epoll_wait(set, events.data(), count, 0);
    if (until == Deadline::max()) return epoll_wait(set, events.data(), count, -1);
    const auto left = std::max(until - Clock::now(), Clock::duration::zero());
    const timespec most{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    const int told = epoll_pwait2(set, events.data(), count, &most, nullptr);
    if (told >= 0 || errno != ENOSYS) return told;
    pollfd entry{set, POLLIN, 0};
    return ppoll(&entry, 1, &most, nullptr) > 0 ? epoll_wait(set, events.data(), count, 0) : 0;
}

}  // namespace

Arrivals::Arrivals() {
    watch(wake_.get(), EPOLLIN, &wake_);
    watch(rouse_.get(), EPOLLIN | EPOLLET, &rouse_);
}

void Arrivals::watch(int descriptor, std::uint32_t events, void* mark) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = mark;
    HEDDLE_ASSERT(epoll_ctl(set_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0);
}

void Arrivals::add(Link& link) {
    Source& source = sources_.emplace_back(Source{&link});
    ++open_;
    if (link.stream().in_memory()) in_memory_.push_back(&source);
    const bool once = link.stream().tells_of_each_arrival();
    watch(link.descriptor(), once ? EPOLLIN | EPOLLRDHUP | EPOLLET : EPOLLIN, &source);
}

void Arrivals::remove(Source& source) {
    epoll_ctl(set_.get(), EPOLL_CTL_DEL, source.link->descriptor(), nullptr);
    std::erase(in_memory_, &source);
    std::erase(kept_, &source);
    source.open = false;
    --open_;
}

void Arrivals::ask_system(Seen& seen, Deadline until) {
    ask(seen, until, false);
}

void Arrivals::ask_as_worker(Seen& seen, Deadline until) {
    ask(seen, until, true);
}

void Arrivals::ask(Seen& seen, Deadline until, bool is_worker) {
    seen.count = wait_for(set_.get(), seen.events, until);
    for (int i = 0; i < seen.count; ++i) {
        const void* const mark = seen.events[static_cast<std::size_t>(i)].data.ptr;
        if (mark == &wake_) host::clear_event(wake_);
        if (mark == &rouse_ && !is_worker) pass_on_rouse();
    }
}

/// If the worker sleeps, this thread was woken in its place. It signals again while it does not sleep itself.
void Arrivals::pass_on_rouse() {
    if (!worker_sleeps_.load(std::memory_order_seq_cst)) return;
    rouse();
    std::this_thread::sleep_for(wake_up);
}

Arrivals::Source* Arrivals::find_in_memory() const {
    for (Source* const source : in_memory_)
        if (source->link->stream().has_come()) return source;
    return nullptr;
}

bool Arrivals::look_at_single(Seen& seen) {
    if (open_ != 1 || !in_memory_.empty()) return false;
    seen.ready.push_back(&*std::ranges::find_if(sources_, &Source::open));
    return true;
}

void Arrivals::sort(Seen& seen) {
    const auto add = [&seen](Source* source) {
        if (std::ranges::find(seen.ready, source) == seen.ready.end()) seen.ready.push_back(source);
    };
    for (int i = 0; i < seen.count; ++i) {
        const epoll_event& event = seen.events[static_cast<std::size_t>(i)];
        if (event.data.ptr == &wake_ || event.data.ptr == &rouse_) continue;
        Source* const source = static_cast<Source*>(event.data.ptr);
        if (!source->open) continue;  // another thread has removed it meanwhile
        if ((event.events & ~std::uint32_t{EPOLLIN}) != 0) source->hung_up = true;
        add(source);
    }
    seen.count = 0;
    // The system tells of all that does not come through memory: of the end of a process at least.
    seen.looks_between_calls = in_memory_.empty() ? 1 : in_memory_.size() < open_ ? 256 : 4096;
    seen.worth_looking = open_ > 0;
    for (Source* source : in_memory_)
        if (source->link->stream().has_come()) add(source);
    for (Source* source : kept_) {
        source->unread = false;
        add(source);
    }
    kept_.clear();
}

void Arrivals::keep(Source& source) {
    if (!std::exchange(source.unread, true)) kept_.push_back(&source);
}

bool Arrivals::ask_for_bytes() {
    return std::ranges::all_of(in_memory_,
                               [](Source* source) { return source->link->stream().ask_for_bytes(); });
}

void Arrivals::ask_no_more() {
    for (Source* source : in_memory_) source->link->stream().ask_no_more();
}

}  // namespace heddle::native
