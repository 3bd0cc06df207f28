// A thread that accepts connections and runs their handshakes side by side, with limits on their number and
// time.
#include "runtime/native/listener.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <deque>
#include <thread>
#include <vector>

#include "runtime/native/drop_log.hpp"

namespace heddle::native {

namespace {

/// New connections that are accepted before the pending ones are served again. A flood of new ones must not
/// keep a peer's proof waiting until its connection is the oldest.
constexpr int accepts_a_turn = 32;

/// How long the listener waits if the system has no descriptor left.
constexpr std::chrono::milliseconds descriptor_pause{20};

/// A connection that has not authenticated yet.
struct Pending {
    Descriptor socket;
    std::string address;
    Deadline deadline;
    Acceptor acceptor;
    std::size_t filled = 0;  ///< bytes of what the acceptor wants next
    bool gone = false;

    bool silent() const { return filled == 0 && acceptor.state() == Acceptor::State::hello; }
};

}  // namespace

std::size_t Listener::pending_max(std::size_t nodes) {
    return std::min<std::size_t>(64 + 2 * nodes, 8192);
}

struct Listener::State {
    std::vector<Descriptor> listening;
    Descriptor wake = host::make_event();
    std::atomic<bool> stopping{false};
    Credentials credentials;
    Identity self;
    Callbacks callbacks;
    std::deque<Pending> pending;  ///< the oldest first
    DropLog log{log_interval};
    std::thread thread;

    void drop(Pending& connection, const std::string& reason) {
        log.dropped(connection.address, reason, Clock::now());
        connection.socket.reset();
        connection.gone = true;
    }

    /// Makes room for a new connection.
    void drop_one() {
        auto oldest =
            std::ranges::find_if(pending, [](const Pending& connection) { return connection.silent(); });
        if (oldest == pending.end()) oldest = pending.begin();
        drop(*oldest, "too many others want to authenticate");
        pending.erase(oldest);
    }

    /// Accepts what has come, up to a limit. Returns false if the system has no descriptor left for it.
    bool accept_some(const Descriptor& listener) {
        for (int accepted = 0; accepted < accepts_a_turn;) {
            Descriptor socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (!socket) {
                if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
                if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
                log.dropped("this process", fmt::format("cannot accept: {}", error_text(errno)),
                            Clock::now());
                if (!pending.empty()) drop_one();
                return false;
            }
            ++accepted;
            prepare(socket.get());
            if (pending.size() >= pending_max(self.nodes)) drop_one();
            std::string address = remote_address(socket.get());
            pending.push_back({std::move(socket), std::move(address), Clock::now() + patience,
                               Acceptor(credentials, self)});
        }
        return true;
    }

    void read_from(Pending& connection) {
        while (!connection.gone) {
            const auto wanted = connection.acceptor.wanted().subspan(connection.filled);
            const auto count = recv(connection.socket.get(), wanted.data(), wanted.size(), MSG_DONTWAIT);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
            if (count < 0) return drop(connection, error_text(errno));
            if (count == 0) return drop(connection, "it closed before it had authenticated");
            connection.filled += static_cast<std::size_t>(count);
            if (connection.filled < connection.acceptor.wanted().size()) continue;
            connection.filled = 0;
            answer(connection);
        }
    }

    void answer(Pending& connection) {
        const auto reply = connection.acceptor.advance(callbacks.admit);
        // A fresh connection has room for these few bytes.
        const std::string failure = write_all(connection.socket.get(), reply, Clock::now());
        if (connection.acceptor.state() == Acceptor::State::refused) {
            drop(connection, connection.acceptor.refusal());
        } else if (!failure.empty()) {
            drop(connection, failure);
        } else if (connection.acceptor.state() == Acceptor::State::accepted) {
            connection.gone = true;
            callbacks.accept(std::move(connection.socket), connection.acceptor.session());
        }
    }

    /// Milliseconds until a connection's time is over or the log's interval ends; -1: none of both.
    int timeout() {
        Deadline next = log.summarize(Clock::now());
        if (!pending.empty()) next = std::min(next, pending.front().deadline);
        if (next == Deadline::max()) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
        return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    }

    void run() {
        std::vector<pollfd> entries;
        while (!stopping.load(std::memory_order_acquire)) {
            entries.assign({{wake.get(), POLLIN, 0}});
            for (const Descriptor& socket : listening) entries.push_back({socket.get(), POLLIN, 0});
            const std::size_t first = entries.size();
            for (const Pending& connection : pending) entries.push_back({connection.socket.get(), POLLIN, 0});
            poll(entries.data(), entries.size(), timeout());
            for (std::size_t i = 0; i < pending.size(); ++i)
                if (entries[first + i].revents) read_from(pending[i]);
            const Deadline now = Clock::now();
            for (Pending& connection : pending) {
                if (connection.gone || connection.deadline > now) continue;
                drop(connection, fmt::format("it did not authenticate within {} s", patience.count() / 1000));
            }
            std::erase_if(pending, [](const Pending& connection) { return connection.gone; });
            for (std::size_t i = 0; i < listening.size(); ++i)
                if (entries[1 + i].revents && !accept_some(listening[i]))
                    std::this_thread::sleep_for(descriptor_pause);
        }
    }
};

Listener::Listener(std::vector<Descriptor> listening, const Credentials& credentials, const Identity& self,
                   Callbacks callbacks)
    : state_(std::make_unique<State>()) {
    state_->listening = std::move(listening);
    state_->credentials = credentials;
    state_->self = self;
    state_->callbacks = std::move(callbacks);
    state_->thread = std::thread([state = state_.get()] { state->run(); });
}

Listener::~Listener() {
    state_->stopping.store(true, std::memory_order_release);
    host::signal_event(state_->wake);
    state_->thread.join();
}

std::string Listener::address() const {
    return local_address(state_->listening.front().get());
}

}  // namespace heddle::native
