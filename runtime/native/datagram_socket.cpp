// Sends and receives UDP datagrams with as few system calls as possible. It asks the system not to fragment
// them.
#include "runtime/native/datagram_socket.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

namespace {

/// Datagrams of one system call.
constexpr std::size_t batch = 32;

/// For what comes while the reader does something else. The system gives what it allows.
constexpr int buffer_bytes = 4 << 20;

/// A larger datagram than this saves little, and of fewer ones a socket's buffer holds too few.
constexpr std::size_t datagram_bytes_max = 32 << 10;

const sockaddr* as_sockaddr(const sockaddr_storage& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

/// As large as the system allows: beyond its limit, if this process may.
void enlarge(int socket, int forced, int option) {
    if (setsockopt(socket, SOL_SOCKET, forced, &buffer_bytes, sizeof buffer_bytes))
        (void)setsockopt(socket, SOL_SOCKET, option, &buffer_bytes, sizeof buffer_bytes);
}

void set_fragments(int socket, int family, bool allowed) {
    // If the system refuses, larger datagrams than the path takes travel in fragments.
    const int four = allowed ? IP_PMTUDISC_DONT : IP_PMTUDISC_DO;
    const int six = allowed ? IPV6_PMTUDISC_DONT : IPV6_PMTUDISC_DO;
    if (family == AF_INET6) {
        (void)setsockopt(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &six, sizeof six);
    } else {
        (void)setsockopt(socket, IPPROTO_IP, IP_MTU_DISCOVER, &four, sizeof four);
    }
}

}  // namespace

UdpSocket::UdpSocket(const sockaddr_storage& local, const PortRange& ports)
    : socket_(socket(local.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      family_(local.ss_family) {
    int error = socket_ ? EADDRINUSE : errno;
    for (unsigned port = ports.first; port <= ports.last && error == EADDRINUSE; ++port) {
        const sockaddr_storage at = with_port(local, static_cast<std::uint16_t>(port));
        error = bind(socket_.get(), as_sockaddr(at), size_of(at)) == 0 ? 0 : errno;
    }
    if (error == EADDRINUSE && !ports.is_any())
        throw Error(fmt::format("no port of {} is free for UDP", ports.text()),
                    "state more ports: by UDP each process takes one for each other process");
    if (error) throw Error(fmt::format("cannot make a socket for UDP: {}", host::error_text(error)));
    enlarge(socket_.get(), SO_RCVBUFFORCE, SO_RCVBUF);
    enlarge(socket_.get(), SO_SNDBUFFORCE, SO_SNDBUF);
    set_fragments(socket_.get(), family_, false);
}

std::uint16_t UdpSocket::port() const {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size)) return 0;
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

void UdpSocket::connect_to(const sockaddr_storage& peer) {
    if (connect(socket_.get(), as_sockaddr(peer), size_of(peer)))
        throw Error(fmt::format("cannot send by UDP: {}", host::error_text(errno)));
}

std::size_t UdpSocket::largest_towards(const sockaddr_storage& peer) {
    connect_to(peer);
    constexpr std::size_t udp_header = 8;
    const bool six = family_ == AF_INET6;
    const std::size_t headers = (six ? 40 : 20) + udp_header;
    int packet = 0;
    socklen_t size = sizeof packet;
    const int failed = six ? getsockopt(socket_.get(), IPPROTO_IPV6, IPV6_MTU, &packet, &size)
                           : getsockopt(socket_.get(), IPPROTO_IP, IP_MTU, &packet, &size);
    constexpr int packet_everywhere = 1280;  // of IPv6
    if (failed || packet < packet_everywhere) packet = packet_everywhere;
    return std::min(static_cast<std::size_t>(packet) - headers, datagram_bytes_max);
}

void UdpSocket::expect(std::size_t largest) {
    room_each_ = largest;
    room_.resize(batch * room_each_);
}

void UdpSocket::send(std::span<const std::span<const std::byte>> datagrams) {
    std::array<mmsghdr, batch> headers;
    std::array<iovec, batch> parts;
    while (!datagrams.empty()) {
        const std::size_t count = std::min(batch, datagrams.size());
        for (std::size_t i = 0; i < count; ++i) {
            // The system's interface does not say so, but it does not change what it sends.
            parts[i] = {const_cast<std::byte*>(datagrams[i].data()), datagrams[i].size()};
            headers[i] = {};
            headers[i].msg_hdr.msg_iov = &parts[i];
            headers[i].msg_hdr.msg_iovlen = 1;
        }
        const int sent = sendmmsg(socket_.get(), headers.data(), static_cast<unsigned>(count), MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EMSGSIZE) {
            allow_fragments();
            datagrams = datagrams.subspan(1);
        } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)) {
            return;
        } else {
            // What another error is about, such as a peer's port that is closed, the control connection will
            // say.
            datagrams = datagrams.subspan(sent < 0 ? 1 : static_cast<std::size_t>(sent));
        }
    }
}

/// The path has become narrower than it was at first.
void UdpSocket::allow_fragments() {
    spdlog::warn(
        "the network takes no UDP datagrams of {} bytes any more: they travel in fragments, slowly; "
        "state a smaller transport.udp.segment",
        room_each_);
    set_fragments(socket_.get(), family_, true);
}

bool UdpSocket::receive(const Take& take) {
    std::array<mmsghdr, batch> headers;
    std::array<iovec, batch> parts;
    for (std::size_t i = 0; i < batch; ++i) {
        parts[i] = {room_.data() + i * room_each_, room_each_};
        headers[i] = {};
        headers[i].msg_hdr.msg_iov = &parts[i];
        headers[i].msg_hdr.msg_iovlen = 1;
    }
    const int came = recvmmsg(socket_.get(), headers.data(), batch, MSG_DONTWAIT, nullptr);
    if (came < 0) {
        // An error of an earlier datagram is reported once, and ended with that.
        return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(came); ++i)
        take({room_.data() + i * room_each_, headers[i].msg_len});
    return static_cast<std::size_t>(came) < batch;
}

}  // namespace heddle::native
