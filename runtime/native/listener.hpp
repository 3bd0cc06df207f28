// Accepts connections at a listening socket and authenticates them. A connection that does not prove that it
// belongs to the run is dropped and counted in the log. Until then it costs a few hundred bytes.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/native/handshake.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

class Listener {
public:
    /// Called on the listener's thread, after a peer has authenticated. `admit` returns why the peer must be
    /// refused, or nothing. `accept` then takes the connection over.
    struct Callbacks {
        std::function<std::string(const Identity& peer)> admit;
        std::function<void(Descriptor socket, const Session& session)> accept;
    };

    /// Accepts connections from all of `listening` (listen_on, listen_at_name). Throws Error.
    Listener(std::vector<Descriptor> listening, const Credentials& credentials, const Identity& self,
             Callbacks callbacks);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// The address of the first socket that it listens at: host:port.
    std::string address() const;

    /// How long a connection may take to authenticate.
    static constexpr std::chrono::milliseconds patience{2000};

    /// How often drops are summarized in the log.
    static constexpr std::chrono::milliseconds log_interval{2000};

    /// How many connections may be pending: accepted by the system and not authenticated yet. All nodes of a
    /// run may connect at once, so there is room for each of them twice. If more come, the oldest that has
    /// sent nothing is dropped, or else the oldest; its peer tries again (introduce_until).
    static std::size_t pending_max(std::size_t nodes);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::native
