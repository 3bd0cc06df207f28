#include "runtime/native/doorkeeper.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <deque>
#include <thread>
#include <vector>

namespace heddle::native {

namespace {

/// A connection that has not authenticated yet.
struct Guest {
    Descriptor socket;
    std::string address;
    Deadline deadline;
    Acceptor acceptor;
    std::size_t filled = 0;  ///< of what the acceptor wants
    bool gone = false;
};

}  // namespace

struct Doorkeeper::State {
    Descriptor listener;
    Descriptor wake = make_event();
    std::atomic<bool> stopping{false};
    Key key;
    Identity self;
    Host host;
    std::deque<Guest> guests;  ///< the oldest first
    std::thread thread;

    void drop(Guest& guest, const std::string& reason) {
        spdlog::warn("dropped a connection from {}: {}", guest.address, reason);
        guest.socket.reset();
        guest.gone = true;
    }

    /// Takes all that waits at the door. Returns false where the system has no descriptor left for it.
    bool open_door() {
        for (;;) {
            Descriptor socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (!socket) {
                if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
                if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
                spdlog::warn("cannot take a connection: {}", error_text(errno));
                return false;
            }
            prepare(socket.get());
            if (guests.size() >= guests_max) {
                drop(guests.front(), "too many others want to authenticate");
                guests.pop_front();
            }
            std::string address = remote_address(socket.get());
            guests.push_back(
                {std::move(socket), std::move(address), Clock::now() + patience, Acceptor(key, self)});
        }
    }

    void listen_to(Guest& guest) {
        while (!guest.gone) {
            const auto wanted = guest.acceptor.wanted().subspan(guest.filled);
            const auto count = recv(guest.socket.get(), wanted.data(), wanted.size(), MSG_DONTWAIT);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
            if (count < 0) return drop(guest, error_text(errno));
            if (count == 0) return drop(guest, "it closed before it had authenticated");
            guest.filled += static_cast<std::size_t>(count);
            if (guest.filled < guest.acceptor.wanted().size()) continue;
            guest.filled = 0;
            answer(guest);
        }
    }

    void answer(Guest& guest) {
        const auto reply = guest.acceptor.advance(host.admit);
        // A fresh connection has room for these few bytes.
        const std::string failure = write_all(guest.socket.get(), reply, Clock::now());
        if (guest.acceptor.state() == Acceptor::State::refused) {
            drop(guest, guest.acceptor.refusal());
        } else if (!failure.empty()) {
            drop(guest, failure);
        } else if (guest.acceptor.state() == Acceptor::State::accepted) {
            guest.gone = true;
            host.welcome(std::move(guest.socket), guest.acceptor.session());
        }
    }

    int timeout() const {
        if (guests.empty()) return -1;
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(guests.front().deadline - Clock::now());
        return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    }

    void run() {
        std::vector<pollfd> entries;
        while (!stopping.load(std::memory_order_acquire)) {
            entries.assign({{wake.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}});
            for (const Guest& guest : guests) entries.push_back({guest.socket.get(), POLLIN, 0});
            poll(entries.data(), entries.size(), timeout());
            for (std::size_t i = 0; i < guests.size(); ++i)
                if (entries[i + 2].revents) listen_to(guests[i]);
            for (Guest& guest : guests) {
                if (guest.gone || guest.deadline > Clock::now()) continue;
                drop(guest, fmt::format("it did not authenticate within {} s", patience.count() / 1000));
            }
            std::erase_if(guests, [](const Guest& guest) { return guest.gone; });
            if (entries[1].revents && !open_door())
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }
};

Doorkeeper::Doorkeeper(const std::string& address, const Key& key, const Identity& self, Host host)
    : state_(std::make_unique<State>()) {
    state_->listener = listen_on(address);
    state_->key = key;
    state_->self = self;
    state_->host = std::move(host);
    state_->thread = std::thread([state = state_.get()] { state->run(); });
}

Doorkeeper::~Doorkeeper() {
    state_->stopping.store(true, std::memory_order_release);
    signal_event(state_->wake);
    state_->thread.join();
}

std::string Doorkeeper::address() const {
    return local_address(state_->listener.get());
}

}  // namespace heddle::native
