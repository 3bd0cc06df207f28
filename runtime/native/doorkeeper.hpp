// Stands at a listening socket and lets in whoever proves to belong to the run. Everybody else is dropped
// with a warning in the log, costs a few hundred bytes meanwhile, and disturbs nobody.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "runtime/native/handshake.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

class Doorkeeper {
public:
    /// Called on the doorkeeper's thread. `admit` says why an authenticated peer may not come in, or nothing;
    /// `welcome` takes it over.
    struct Host {
        std::function<std::string(const Identity& peer)> admit;
        std::function<void(Descriptor socket, const Session& session)> welcome;
    };

    /// Starts to listen at `address`, at a port that the system chooses. Throws Error.
    Doorkeeper(const std::string& address, const Key& key, const Identity& self, Host host);
    ~Doorkeeper();
    Doorkeeper(const Doorkeeper&) = delete;
    Doorkeeper& operator=(const Doorkeeper&) = delete;

    /// Where it listens: host:port.
    std::string address() const;

    /// How long a connection may take to authenticate, and how many may be at it; the oldest has to go.
    static constexpr std::chrono::milliseconds patience{2000};
    static constexpr std::size_t guests_max = 64;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::native
