// Measures the network between two hosts over one TCP connection. The client sends the token and then
// requests. A ping is answered with the time of day. A length with as many bytes is answered when they have
// come.
#include "runtime/native/pair_probe.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <span>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace heddle::native {

namespace {

constexpr std::uint64_t burst_max = 64U << 20;
constexpr std::chrono::seconds patience{5};
constexpr int pings = 20;

/// Request 0 is a ping, any other the number of bytes that follow.
using Request = std::uint64_t;
/// Nanoseconds of the time of day.
using Answer = std::int64_t;

Answer time_of_day() {
    return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

template <class T>
std::span<std::byte> bytes_of(T& value) {
    return std::as_writable_bytes(std::span(&value, 1));
}

void serve(int socket, const std::string& token) {
    std::string told(ProbeServer::token_bytes, '\0');
    const auto soon = [] { return Clock::now() + patience; };
    if (!read_all(socket, std::as_writable_bytes(std::span(told)), soon()).empty() || told != token) return;
    std::vector<std::byte> bytes(1U << 20);
    for (Request request = 0; read_all(socket, bytes_of(request), soon()).empty();) {
        if (request > burst_max) return;
        while (request > 0) {
            const std::size_t part = std::min<std::uint64_t>(request, bytes.size());
            if (!read_all(socket, std::span(bytes).first(part), soon()).empty()) return;
            request -= part;
        }
        Answer answer = time_of_day();
        if (!write_all(socket, bytes_of(answer), soon()).empty()) return;
    }
}

Answer ask(int socket, Request request, std::span<const std::byte> bytes, Deadline deadline) {
    Answer answer = 0;
    std::string failure = write_all(socket, bytes_of(request), deadline);
    if (failure.empty() && !bytes.empty()) failure = write_all(socket, bytes, deadline);
    if (failure.empty()) failure = read_all(socket, bytes_of(answer), deadline);
    if (!failure.empty()) throw Error(failure);
    return answer;
}

/// By IPv4, and by IPv6 where the machine has it.
Descriptor listen_everywhere() {
    try {
        return listen_on("::");
    } catch (const Error&) {
        return listen_on("0.0.0.0");
    }
}

double seconds(Clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

}  // namespace

struct ProbeServer::State {
    std::string token;
    Descriptor listening;
    std::atomic<bool> stopping{false};
    std::thread thread;

    /// One connection after the other: probes would disturb each other.
    void run() {
        while (!stopping.load(std::memory_order_relaxed)) {
            pollfd entry{listening.get(), POLLIN, 0};
            if (poll(&entry, 1, 50) <= 0) continue;
            const Descriptor socket(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (!socket) continue;
            prepare(socket.get());
            serve(socket.get(), token);
        }
    }
};

ProbeServer::ProbeServer(std::string token) : state_(std::make_unique<State>()) {
    state_->token = std::move(token);
    state_->listening = listen_everywhere();
    state_->thread = std::thread([this] { state_->run(); });
}

ProbeServer::~ProbeServer() {
    state_->stopping.store(true, std::memory_order_relaxed);
    state_->thread.join();
}

std::string ProbeServer::port() const {
    return port_of(local_address(state_->listening.get()));
}

PairFacts probe_pair(const std::string& address, const std::string& token, Deadline deadline) {
    const Descriptor socket = connect_to(address, deadline);
    const std::string failure = write_all(socket.get(), std::as_bytes(std::span(token)), deadline);
    if (!failure.empty()) throw Error(failure);
    PairFacts facts;
    double best = std::numeric_limits<double>::max();
    for (int i = 0; i < pings; ++i) {
        const Answer before = time_of_day();
        const auto departure = Clock::now();
        const Answer there = ask(socket.get(), 0, {}, deadline);
        const double way = seconds(Clock::now() - departure);
        if (way >= best) continue;
        best = way;
        facts.clock_offset_seconds = static_cast<double>(there - before) * 1e-9 - way / 2;
    }
    facts.latency_seconds = best / 2;
    // Bursts grow until one takes long enough to be measured.
    std::vector<std::byte> bytes(burst_max);
    for (std::size_t burst = 1U << 20;; burst *= 4) {
        const auto departure = Clock::now();
        ask(socket.get(), burst, std::span(bytes).first(burst), deadline);
        const double time = std::max(seconds(Clock::now() - departure) - best, 1e-9);
        facts.bandwidth = static_cast<double>(burst) / time;
        if (time > 0.05 || burst * 4 > burst_max) break;
    }
    socklen_t size = sizeof facts.mtu;
    if (getsockopt(socket.get(), IPPROTO_IP, IP_MTU, &facts.mtu, &size)) facts.mtu = 0;
    return facts;
}

}  // namespace heddle::native
