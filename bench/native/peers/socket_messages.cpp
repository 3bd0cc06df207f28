// Measures messages between two processes over a plain TCP connection on loopback. Options: `polling` reads
// the socket without blocking, `pinned` gives each process a core. With `aggregate=N`, small messages are
// sent N bytes at a time, each after a header of 8 bytes, and the receiver parses them. With `answer=N`, the
// answers have N bytes. `unix`: a pair of Unix sockets instead.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "bench/native/peers/messages_main.hpp"

namespace {

using namespace heddle::bench;

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::_Exit(1);
}

struct Connection {
    int socket;
    int flags;  ///< MSG_DONTWAIT where it polls

    std::size_t receive_some(char* room, std::size_t bytes) const {
        for (;;) {
            const ssize_t count = recv(socket, room, bytes, flags);
            if (count > 0) return static_cast<std::size_t>(count);
            if (count == 0 || (errno != EAGAIN && errno != EINTR)) fail("recv");
        }
    }
    void receive(char* room, std::size_t bytes) const {
        while (bytes > 0) {
            const std::size_t count = receive_some(room, bytes);
            room += count;
            bytes -= count;
        }
    }
    void send_all(const char* data, std::size_t bytes) const {
        while (bytes > 0) {
            const ssize_t count = send(socket, data, bytes, flags | MSG_NOSIGNAL);
            if (count < 0 && errno != EAGAIN && errno != EINTR) fail("send");
            if (count < 0) continue;
            data += count;
            bytes -= static_cast<std::size_t>(count);
        }
    }
};

void pin(const Exchange& exchange, int core) {
    if (!exchange.says("pinned")) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

constexpr std::size_t header_bytes = 8;

/// Bytes that are sent at once; 0: each message alone.
std::size_t aggregate_bytes(const Exchange& exchange) {
    return static_cast<std::size_t>(exchange.number("aggregate=", 0));
}
std::size_t answer_bytes(const Exchange& exchange) {
    return static_cast<std::size_t>(exchange.number("answer=", static_cast<long>(exchange.bytes)));
}

void send_aggregated(const Connection& to, const Exchange& exchange, std::size_t aggregate) {
    std::vector<char> buffer(aggregate + header_bytes + exchange.bytes);
    std::size_t filled = 0;
    const std::uint64_t header = exchange.bytes;
    for (long i = 0; i < exchange.count; ++i) {
        std::memcpy(buffer.data() + filled, &header, header_bytes);
        std::memcpy(buffer.data() + filled + header_bytes, &i, sizeof i);
        filled += header_bytes + exchange.bytes;
        if (filled < aggregate) continue;
        to.send_all(buffer.data(), filled);
        filled = 0;
    }
    to.send_all(buffer.data(), filled);
}

long receive_aggregated(const Connection& from, const Exchange& exchange) {
    std::vector<char> buffer(256 << 10);
    std::size_t filled = 0;
    long sum = 0;
    for (long left = exchange.count; left > 0;) {
        filled += from.receive_some(buffer.data() + filled, buffer.size() - filled);
        std::size_t done = 0;
        while (filled - done >= header_bytes) {
            std::uint64_t length = 0;
            std::memcpy(&length, buffer.data() + done, header_bytes);
            if (filled - done < header_bytes + length) break;
            long value = 0;
            std::memcpy(&value, buffer.data() + done + header_bytes, sizeof value);
            sum += value;
            done += header_bytes + length;
            --left;
        }
        std::memmove(buffer.data(), buffer.data() + done, filled - done);
        filled -= done;
    }
    return sum;
}

double first_side(const Connection& connection, const Exchange& exchange) {
    std::vector<char> room(exchange.bytes), answer(answer_bytes(exchange));
    const double start = seconds_now();
    if (const std::size_t aggregate = aggregate_bytes(exchange)) {
        send_aggregated(connection, exchange, aggregate);
    } else {
        for (long i = 0; i < exchange.count; ++i) {
            connection.send_all(room.data(), room.size());
            if (exchange.latency) connection.receive(answer.data(), answer.size());
        }
    }
    long sum = 0;
    if (!exchange.latency) connection.receive(reinterpret_cast<char*>(&sum), sizeof sum);
    const double seconds = seconds_now() - start;
    if (aggregate_bytes(exchange) && sum != exchange.count * (exchange.count - 1) / 2) fail("sum");
    return seconds;
}

void second_side(const Connection& connection, const Exchange& exchange) {
    long sum = 0;
    if (aggregate_bytes(exchange)) {
        sum = receive_aggregated(connection, exchange);
    } else if (exchange.latency || exchange.bytes > 4096) {
        std::vector<char> room(exchange.bytes), answer(answer_bytes(exchange));
        for (long i = 0; i < exchange.count; ++i) {
            connection.receive(room.data(), room.size());
            if (exchange.latency) connection.send_all(answer.data(), answer.size());
        }
    } else {
        // Small ones are received as many at a time as have come.
        std::vector<char> room(64 << 10);
        for (std::size_t left = exchange.bytes * static_cast<std::size_t>(exchange.count); left > 0;)
            left -= connection.receive_some(room.data(), std::min(left, room.size()));
    }
    if (!exchange.latency) connection.send_all(reinterpret_cast<const char*>(&sum), sizeof sum);
}

Connection connected(int socket, const Exchange& exchange) {
    const int one = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return {socket, exchange.says("polling") ? MSG_DONTWAIT : 0};
}

}  // namespace

int main(int argc, char** argv) {
    const Exchange exchange = Exchange::read(argc, argv);
    const bool local = exchange.says("unix");
    int pair[2] = {-1, -1};
    if (local && socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) fail("socketpair");
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener, generic, size) || listen(listener, 1) || getsockname(listener, generic, &size))
        fail("listen");
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        pin(exchange, 1);
        const int socket = local ? pair[1] : ::socket(AF_INET, SOCK_STREAM, 0);
        if (!local && connect(socket, generic, size)) fail("connect");
        second_side(connected(socket, exchange), exchange);
        return 0;
    }
    pin(exchange, 0);
    const int socket = local ? pair[0] : accept(listener, nullptr, nullptr);
    if (socket < 0) fail("accept");
    exchange.report(first_side(connected(socket, exchange), exchange));
    waitpid(child, nullptr, 0);
    return 0;
}
