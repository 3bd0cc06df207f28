// Connects, listens, reads and writes with deadlines, by poll and sockets without blocking.
#include "runtime/native/socket.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace heddle::native {

namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList resolve(const std::string& host, const std::string& port, bool passive) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = passive ? AI_PASSIVE : 0;
    addrinfo* found = nullptr;
    const int failed = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    if (failed) throw Error(fmt::format("cannot resolve {}:{}: {}", host, port, gai_strerror(failed)));
    return {found, freeaddrinfo};
}

std::string text_of(const sockaddr_storage& address, socklen_t size) {
    if (address.ss_family == AF_UNIX) return "this machine";
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        return "?";
    return address.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host, port)
                                         : fmt::format("{}:{}", host, port);
}

void set_option(int socket, int level, int option, int value) {
    // An option that this system does not know makes a connection slower or its end later noticed, not wrong.
    (void)setsockopt(socket, level, option, &value, sizeof value);
}

int milliseconds_until(Deadline deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

const sockaddr* as_sockaddr(const sockaddr_storage& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

/// The socket will connect from the address `from`, a number. Returns 0 or an error.
int bind_to(int socket, const std::string& from, int family) {
    const AddressList list = resolve(from, "0", true);
    if (list->ai_family != family) return EAFNOSUPPORT;
    set_option(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    return bind(socket, list->ai_addr, list->ai_addrlen) == 0 ? 0 : errno;
}

/// Waits for `events` on the socket. False where the deadline has come.
bool wait_for(int socket, short events, Deadline deadline) {
    for (;;) {
        pollfd entry{socket, events, 0};
        const int ready = poll(&entry, 1, milliseconds_until(deadline));
        if (ready > 0) return true;
        if (ready == 0 && Clock::now() >= deadline) return false;
        if (ready < 0 && errno != EINTR) return true;  // the operation itself will say what is wrong
    }
}

}  // namespace

sockaddr_storage with_port(sockaddr_storage address, std::uint16_t port) {
    if (address.ss_family == AF_INET6) {
        reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
    } else {
        reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
    }
    return address;
}

socklen_t size_of(const sockaddr_storage& address) {
    return address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

bool is_resolved(const std::string& host) {
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), nullptr, nullptr, &found)) return false;
    freeaddrinfo(found);
    return true;
}

Descriptor listen_on(const std::string& host, const PortRange& ports) {
    const AddressList list = resolve(host, "0", true);
    int error = 0;
    for (const addrinfo* entry = list.get(); entry; entry = entry->ai_next) {
        sockaddr_storage address{};
        std::memcpy(&address, entry->ai_addr, entry->ai_addrlen);
        for (unsigned port = ports.first; port <= ports.last; ++port) {
            Descriptor socket(::socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
            // At `::` those that come by IPv4 are heard too, whatever the system's default is.
            if (entry->ai_family == AF_INET6) set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
            // A port of a run that has just ended is free.
            if (!ports.is_any()) set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
            const sockaddr_storage at = with_port(address, static_cast<std::uint16_t>(port));
            if (socket && bind(socket.get(), as_sockaddr(at), size_of(at)) == 0 &&
                listen(socket.get(), SOMAXCONN) == 0)
                return socket;
            error = errno;
            if (error != EADDRINUSE) break;
        }
    }
    if (!ports.is_any() && error == EADDRINUSE)
        throw Error(fmt::format("no port of {} is free on {}", ports.text(), host),
                    "state more ports: one for each process of the machine, one for the launcher's "
                    "rendezvous, and by UDP one for each connection");
    if (!ports.is_any() && error == EACCES)
        throw Error(fmt::format("cannot listen on {}, ports {}: {}", host, ports.text(), error_text(error)),
                    "state others (--ports, transport.ports): the system keeps low ones to itself");
    throw Error(fmt::format("cannot listen on {}: {}", host, error_text(error)));
}

namespace {

/// Tries once. The result is a connection, or none and the error.
std::pair<Descriptor, int> try_to_connect(const sockaddr_storage& address, const std::string& from,
                                          Deadline deadline) {
    Descriptor socket(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) throw Error(fmt::format("cannot make a socket: {}", error_text(errno)));
    if (!from.empty())
        if (const int error = bind_to(socket.get(), from, address.ss_family)) return {Descriptor(), error};
    if (connect(socket.get(), as_sockaddr(address), size_of(address)) && errno != EINPROGRESS)
        return {Descriptor(), errno};
    if (!wait_for(socket.get(), POLLOUT, deadline)) return {Descriptor(), ETIMEDOUT};
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size)) error = errno;
    // Towards a free port of the own machine, TCP may connect a socket to itself.
    if (!error && local_address(socket.get()) == remote_address(socket.get())) error = ECONNREFUSED;
    if (error) return {Descriptor(), error};
    prepare(socket.get());
    return {std::move(socket), 0};
}

}  // namespace

Descriptor connect_to(const std::string& address, Deadline deadline, const std::string& from,
                      Refused refused) {
    const AddressList list = resolve(host_of(address), port_of(address), false);
    std::vector<sockaddr_storage> addresses;
    for (const addrinfo* entry = list.get(); entry; entry = entry->ai_next)
        std::memcpy(&addresses.emplace_back(), entry->ai_addr, entry->ai_addrlen);
    return connect_to_any(std::move(addresses), address, deadline, from, refused);
}

Descriptor connect_to_any(std::vector<sockaddr_storage> addresses, const std::string& name, Deadline deadline,
                          const std::string& from, Refused refused) {
    for (;;) {
        int error = 0;
        for (std::size_t i = 0; i < addresses.size();) {
            const auto left = deadline - Clock::now();
            const auto parts = static_cast<Clock::rep>(addresses.size());
            auto [socket, failure] = try_to_connect(addresses[i], from, Clock::now() + left / parts);
            if (socket) return std::move(socket);
            error = failure;
            // It would take the time of the others, which may be refused now and listen soon.
            if (failure == ETIMEDOUT && addresses.size() > 1) {
                addresses.erase(addresses.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                ++i;
            }
        }
        if (error == ECONNREFUSED && refused == Refused::none) return {};
        if (Clock::now() >= deadline)
            throw Error(fmt::format("cannot connect to {}{}{}: {}", name, from.empty() ? "" : " from ", from,
                                    error_text(error)),
                        error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH
                            ? "a firewall must let the hosts connect to each other at any port above 1023"
                            : "");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

void prepare(int socket) {
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    // An idle host that is gone is noticed after 3 + 3 * 2 seconds. For one that owes an acknowledgement see
    // host_is_dead: TCP_USER_TIMEOUT would also end the connection to a process that is only stopped while
    // its window is full.
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 3);
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 2);
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::string local_address(int socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size)) return "?";
    return text_of(address, size);
}

std::string remote_address(int socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size)) return "?";
    return text_of(address, size);
}

std::string local_address_towards(const std::string& host) {
    // A datagram socket that is connected has chosen its way, and has sent nothing.
    const AddressList list = resolve(host, "9", false);
    int error = 0;
    for (const addrinfo* entry = list.get(); entry; entry = entry->ai_next) {
        const Descriptor socket(::socket(entry->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        if (socket && connect(socket.get(), entry->ai_addr, entry->ai_addrlen) == 0)
            return host_of(local_address(socket.get()));
        error = errno;
    }
    throw Error(fmt::format("no way to {}: {}", host, error_text(error)));
}

std::string host_of(const std::string& address) {
    const auto colon = address.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == address.size())
        throw Error(fmt::format("\"{}\" is not an address", address),
                    "write host:port, such as 127.0.0.1:4711");
    std::string host = address.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    return host;
}

std::string port_of(const std::string& address) {
    (void)host_of(address);  // checks the form
    return address.substr(address.rfind(':') + 1);
}

bool wait_until_readable(int socket, Deadline deadline) {
    return wait_for(socket, POLLIN, deadline);
}

std::string write_all(int socket, std::span<const std::byte> bytes, Deadline deadline) {
    while (!bytes.empty()) {
        const auto count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (!wait_for(socket, POLLOUT, deadline)) return "no room for the answer in time";
        } else if (count < 0 && errno != EINTR) {
            return error_text(errno);
        }
    }
    return {};
}

std::string read_all(int socket, std::span<std::byte> bytes, Deadline deadline) {
    while (!bytes.empty()) {
        const auto count = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (count > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        } else if (count == 0) {
            return "connection closed";
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_for(socket, POLLIN, deadline)) return "no answer in time";
        } else if (errno != EINTR) {
            return error_text(errno);
        }
    }
    return {};
}

bool host_is_dead(int socket, std::chrono::milliseconds patience) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size)) return false;
    const bool unanswered = info.tcpi_retransmits >= 3 || info.tcpi_probes >= 3;
    return unanswered && std::chrono::milliseconds(info.tcpi_last_ack_recv) >= patience;
}

}  // namespace heddle::native
