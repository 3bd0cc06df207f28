// Moves datagrams between a socket and the state machine that makes a stream of them (udp_connection.hpp),
// and wakes the reader in time.
#include "runtime/native/udp_stream.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"

namespace heddle::native {

namespace {

/// A busy peer must not keep a caller for ever.
constexpr int receives_a_turn = 16;

/// Of a call that makes a descriptor. Throws Error if it has failed.
Descriptor checked_descriptor(int descriptor) {
    if (descriptor < 0) throw Error(fmt::format("cannot connect by UDP: {}", host::error_text(errno)));
    return Descriptor(descriptor);
}

void watch(int set, int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    if (epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) != 0)
        throw Error(fmt::format("cannot connect by UDP: {}", host::error_text(errno)));
}

}  // namespace

UdpStream::UdpStream(std::unique_ptr<DatagramSocket> datagrams, Descriptor control, const Session& session,
                     std::size_t datagram_bytes)
    : datagrams_(std::move(datagrams)),
      control_(std::move(control)),
      timer_(checked_descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK))),
      events_(checked_descriptor(epoll_create1(EPOLL_CLOEXEC))),
      connection_(session.send_key, session.receive_key, datagram_bytes) {
    watch(events_.get(), datagrams_->descriptor());
    watch(events_.get(), control_.get());
    watch(events_.get(), timer_.get());
}

// --- writing

std::ptrdiff_t UdpStream::write(std::span<const iovec> parts) {
    const std::lock_guard lock(mutex_);
    if (peer_ended_) return ended;
    std::size_t taken = 0;
    for (const iovec& part : parts) {
        const std::size_t count =
            connection_.write({static_cast<const std::byte*>(part.iov_base), part.iov_len});
        taken += count;
        if (count < part.iov_len) break;
    }
    send_what_is_due();
    return static_cast<std::ptrdiff_t>(taken);
}

bool UdpStream::ask_for_room() {
    const std::lock_guard lock(mutex_);
    // So the writer finds out that there is no peer.
    return peer_ended_ || connection_.has_room();
}

// --- reading

std::ptrdiff_t UdpStream::read(std::span<const iovec> parts) {
    const std::lock_guard lock(mutex_);
    take_what_came();
    std::size_t count = 0;
    for (const iovec& part : parts)
        count += connection_.read({static_cast<std::byte*>(part.iov_base), part.iov_len});
    send_what_is_due();
    if (count > 0) return static_cast<std::ptrdiff_t>(count);
    if (!peer_ended_) return nothing;
    failure_ = "connection closed";
    return ended;
}

/// Under the mutex.
void UdpStream::take_what_came() {
    epoll_event event{};
    if (epoll_wait(events_.get(), &event, 1, 0) <= 0) return;
    // Asked first, so that what the peer has sent before its end is taken.
    if (!peer_ended_) peer_ended_ = peer_has_ended();
    take_all();
}

void UdpStream::take_all() {
    const Deadline now = Clock::now();
    for (int turn = 0; turn < receives_a_turn; ++turn)
        if (datagrams_->receive([&](std::span<std::byte> datagram) { connection_.take(now, datagram); }))
            return;
}

/// Under the mutex.
void UdpStream::send_what_is_due() {
    const Deadline now = Clock::now();
    outgoing_.clear();
    connection_.emit(now, [this](std::span<const std::byte> datagram) { outgoing_.push_back(datagram); });
    if (!outgoing_.empty()) datagrams_->send(outgoing_);
    room_.store(peer_ended_ || connection_.has_room(), std::memory_order_release);
    set_timer(now);
}

/// The timer may wake the reader too early, but not too late: so it need not be set for each datagram. One
/// that has rung stays readable until it is set again, and so tells of bytes that are not read yet.
void UdpStream::set_timer(Deadline now) {
    const bool unread = connection_.has_bytes();
    const Deadline alarm = unread ? now : connection_.alarm();
    const bool has_rung = timer_set_ <= now;
    if (timer_set_ <= alarm && has_rung == unread) return;
    itimerspec when{};
    if (alarm != Deadline::max()) {
        const auto time =
            std::chrono::duration_cast<std::chrono::nanoseconds>(alarm.time_since_epoch()).count();
        when.it_value = {time / 1'000'000'000, time % 1'000'000'000};
    }
    timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
    timer_set_ = alarm;
}

/// The control connection carries nothing, so it is readable at its end only.
bool UdpStream::peer_has_ended() {
    std::byte byte;
    for (;;) {
        const auto count = recv(control_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
    }
}

// --- the end

bool UdpStream::settle() {
    const std::lock_guard lock(mutex_);
    take_what_came();
    send_what_is_due();
    return peer_ended_ || connection_.all_acknowledged();
}

bool UdpStream::serve_peer() {
    const std::lock_guard lock(mutex_);
    take_what_came();
    send_what_is_due();
    // Bytes that no thread reads would keep the descriptor readable for ever.
    return !peer_ended_ && !connection_.has_bytes();
}

void UdpStream::shut_down() {
    shutdown(control_.get(), SHUT_RDWR);
}

// --- meeting

void UdpStream::probe(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    connection_.probe(bytes);
    send_what_is_due();
}

std::size_t UdpStream::largest_probe() {
    const std::lock_guard lock(mutex_);
    take_all();
    send_what_is_due();
    return connection_.largest_probe();
}

}  // namespace heddle::native
