// Moves bytes through two rings, and rings a bell for a peer that has asked for it.
#include "runtime/native/shared_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/relax.hpp"

namespace heddle::native {

namespace {

/// The other side gets bytes and room in steps of this size, so that it can copy a large frame meanwhile.
constexpr std::size_t step_bytes = 64 << 10;

/// How long a writer looks for room before it asks for it: a little more than the reader takes for a step.
constexpr std::chrono::microseconds room_patience{20};
constexpr int looks_between_clock_reads = 64;

/// As many bells that tell of room may lie in the socket, which holds 278 of them.
constexpr std::uint32_t unheard_most = 64;

}  // namespace

SharedStream::SharedStream(SharedMemory memory, Descriptor bell, Side side)
    : memory_(std::move(memory)),
      bell_(std::move(bell)),
      out_(memory_.control(side == Side::maker ? 0 : 1), memory_.ring(side == Side::maker ? 0 : 1)),
      in_(memory_.control(side == Side::maker ? 1 : 0), memory_.ring(side == Side::maker ? 1 : 0)) {
    memory_.close_file();
}

// --- writing

std::ptrdiff_t SharedStream::write(std::span<const iovec> parts) {
    std::ptrdiff_t moved = 0;
    bool room = true;
    for (const iovec& part : parts) {
        std::span<const std::byte> left(static_cast<const std::byte*>(part.iov_base), part.iov_len);
        while (room && !left.empty()) {
            const std::size_t before = left.size();
            room = put_some(left) || room_comes_soon();
            moved += static_cast<std::ptrdiff_t>(before - left.size());
        }
    }
    if (out_.unpublished() > 0) publish();
    return out_.is_corrupt() || (moved == 0 && peer_has_ended()) ? ended : moved;
}

/// A peer that has ended makes no room.
bool SharedStream::peer_has_ended() const {
    pollfd entry{bell_.get(), POLLRDHUP, 0};
    return poll(&entry, 1, 0) > 0;
}

bool SharedStream::ask_for_room() {
    if (out_.ask_for_room()) return true;
    rooms_asked_.fetch_add(1, std::memory_order_relaxed);
    return false;
}

/// False if there is no room.
bool SharedStream::put_some(std::span<const std::byte>& bytes) {
    const std::size_t count = out_.put(bytes.first(std::min(bytes.size(), step_bytes)));
    bytes = bytes.subspan(count);
    if (out_.unpublished() >= step_bytes) publish();
    return count > 0;
}

void SharedStream::publish() {
    if (out_.publish()) ring_bell();
}

/// If the reader is at work, it makes room sooner than this thread could fall asleep and wake.
bool SharedStream::room_comes_soon() {
    if (out_.unpublished() > 0) publish();
    const Deadline end = Clock::now() + room_patience;
    for (int look = 1; out_.reader_is_awake() && !out_.is_corrupt(); ++look) {
        if (out_.has_room()) return true;
        if (look % looks_between_clock_reads == 0 && Clock::now() >= end) return false;
        relax();
    }
    return false;
}

void SharedStream::ring_bell() {
    const char byte = 0;
    // If the socket is full, the peer has enough to hear. If it has ended, the reader finds that out.
    while (send(bell_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EINTR) continue;
}

// --- reading

std::ptrdiff_t SharedStream::read(std::span<const iovec> parts) {
    // A reader that always finds bytes hears no bell, and a full socket could not ring for the next bytes.
    bool heard = rooms_asked_.load(std::memory_order_relaxed) >= unheard_most;
    if (heard) hear_bell();
    for (;;) {
        // The bell may still ring once. The reader then wakes and finds nothing.
        if (std::exchange(announced_, false)) {
            in_.ask_no_more();
            (void)in_.was_answered();
            hear_bell();
            heard = true;
        }
        if (const std::size_t count = take_some(parts); count > 0) return static_cast<std::ptrdiff_t>(count);
        if (in_.is_corrupt() || out_.is_corrupt()) {
            failure_ = "its shared memory is corrupt";
            return ended;
        }
        if (!std::exchange(heard, true)) hear_bell();
        // The peer may have written between the look above and its end.
        if (in_.has_come()) continue;
        if (!peer_is_gone_) return nothing;
        failure_ = "connection closed";
        return ended;
    }
}

std::size_t SharedStream::take_some(std::span<const iovec> parts) {
    std::size_t taken = 0;
    for (const iovec& part : parts) {
        std::span<std::byte> room(static_cast<std::byte*>(part.iov_base), part.iov_len);
        while (!room.empty()) {
            const std::size_t count = in_.take(room.first(std::min(room.size(), step_bytes)));
            if (count == 0) return taken;
            taken += count;
            room = room.subspan(count);
            if (in_.publish()) ring_bell();
        }
    }
    return taken;
}

bool SharedStream::ask_for_bytes() {
    if (announced_) return true;
    announced_ = in_.ask_for_bytes();
    hear_answer();
    return announced_;
}

void SharedStream::ask_no_more() {
    if (!std::exchange(announced_, false)) return;
    in_.ask_no_more();
    hear_answer();
}

/// A bell that no thread hears stays in the socket, and a full one cannot ring again. Of each answer the bell
/// may still come, once: the reader then wakes and finds nothing.
void SharedStream::hear_answer() {
    if (in_.was_answered()) hear_bell();
}

/// Takes from the socket what has rung, and sees whether the peer has ended.
void SharedStream::hear_bell() {
    rooms_asked_.store(0, std::memory_order_relaxed);
    char bytes[64];
    for (;;) {
        const auto count = recv(bell_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        if (count == static_cast<ssize_t>(sizeof bytes) || (count < 0 && errno == EINTR)) continue;
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) peer_is_gone_ = true;
        return;
    }
}

void SharedStream::shut_down() {
    shutdown(bell_.get(), SHUT_RDWR);
}

}  // namespace heddle::native
