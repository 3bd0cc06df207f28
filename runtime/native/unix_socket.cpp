// Connects processes of one machine by Unix sockets, and passes file descriptors between them, such as that
// of the memory which they share.
#include "runtime/native/unix_socket.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::native {

namespace {

/// How long to wait for room among the connections that a listener has not accepted yet.
constexpr std::chrono::milliseconds room_pause{2};

std::pair<sockaddr_un, socklen_t> address_of(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    HEDDLE_ASSERT(name.size() + 1 <= sizeof address.sun_path);
    // A zero in front makes the name abstract.
    std::ranges::copy(name, address.sun_path + 1);
    return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

Descriptor make_socket() {
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) throw Error(fmt::format("cannot make a Unix socket: {}", error_text(errno)));
    return socket;
}

/// Room for one descriptor beside the bytes of a message.
union Control {
    cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

Descriptor listen_at_name(const std::string& name) {
    Descriptor socket = make_socket();
    const auto [address, size] = address_of(name);
    if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) ||
        listen(socket.get(), SOMAXCONN))
        throw Error(fmt::format("cannot listen at the Unix socket @{}: {}", name, error_text(errno)));
    return socket;
}

Descriptor connect_to_name(const std::string& name, Deadline deadline) {
    const auto [address, size] = address_of(name);
    Descriptor socket = make_socket();
    while (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size)) {
        const bool crowded = errno == EAGAIN && Clock::now() < deadline;
        if (!crowded && errno != EINTR) return {};
        if (crowded) std::this_thread::sleep_for(room_pause);
    }
    return is_of_this_user(socket.get()) ? std::move(socket) : Descriptor();
}

bool is_of_this_user(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

bool is_unix_socket(int socket) {
    int domain = 0;
    socklen_t size = sizeof domain;
    return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

std::string send_descriptor(int socket, const Descriptor& descriptor) {
    char byte = 0;
    iovec part{&byte, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    Control control{};
    if (descriptor) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        const int number = descriptor.get();
        std::memcpy(CMSG_DATA(header), &number, sizeof number);
    }
    while (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        if (errno != EINTR) return error_text(errno);
    return {};
}

std::string receive_descriptor(int socket, Descriptor& descriptor, Deadline deadline) {
    char byte = 0;
    iovec part{&byte, 1};
    Control control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    if (!wait_until_readable(socket, deadline)) return "no answer in time";
    const auto count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count == 0) return "connection closed";
    if (count < 0) return error_text(errno);
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof(int))) {
        int number = -1;
        std::memcpy(&number, CMSG_DATA(header), sizeof number);
        descriptor.reset(number);
    }
    return {};
}

}  // namespace heddle::native
