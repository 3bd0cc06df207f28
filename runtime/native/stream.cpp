// Moves bytes through a socket with one system call each.
#include "runtime/native/stream.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "runtime/native/unix_socket.hpp"

namespace heddle::native {

namespace {

msghdr header_of(std::span<const iovec> parts) {
    msghdr header{};
    // The system's interface does not say so, but it does not change the list.
    header.msg_iov = const_cast<iovec*>(parts.data());
    header.msg_iovlen = parts.size();
    return header;
}

}  // namespace

SocketStream::SocketStream(Descriptor socket)
    : socket_(std::move(socket)), in_machine_(is_unix_socket(socket_.get())) {}

std::ptrdiff_t SocketStream::write(std::span<const iovec> parts) {
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
    const msghdr header = header_of(parts);
    for (;;) {
        const auto count = parts.size() == 1 ? send(socket_.get(), parts[0].iov_base, parts[0].iov_len, flags)
                                             : sendmsg(socket_.get(), &header, flags);
        if (count >= 0) return count;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return nothing;
        if (errno == EINTR) continue;
        // If the peer has ended, the reader knows how.
        if (errno != EPIPE && errno != ECONNRESET) write_error_.store(errno, std::memory_order_release);
        return ended;
    }
}

std::ptrdiff_t SocketStream::read(std::span<const iovec> parts) {
    msghdr header = header_of(parts);
    for (;;) {
        const auto count = parts.size() == 1
                               ? recv(socket_.get(), parts[0].iov_base, parts[0].iov_len, MSG_DONTWAIT)
                               : recvmsg(socket_.get(), &header, MSG_DONTWAIT);
        if (count > 0) return count;
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return nothing;
        const int error = count < 0 ? errno : write_error_.load(std::memory_order_acquire);
        failure_ = error == 0 ? "connection closed" : error_text(error);
        return ended;
    }
}

void SocketStream::shut_down() {
    shutdown(socket_.get(), SHUT_RDWR);
}

}  // namespace heddle::native
