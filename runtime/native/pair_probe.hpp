// Measures the network between two hosts, for `heddle doctor`: a server runs on one host, and the other
// measures by plain TCP. No message of a run travels here.
#pragma once

#include <memory>
#include <string>

#include "runtime/native/socket.hpp"

namespace heddle::native {

/// Answers probes that know its token, at a port that the system chooses, until it is destroyed.
class ProbeServer {
public:
    /// Throws Error if it cannot listen.
    explicit ProbeServer(std::string token);
    ~ProbeServer();
    ProbeServer(const ProbeServer&) = delete;
    ProbeServer& operator=(const ProbeServer&) = delete;

    std::string port() const;

    static constexpr std::size_t token_bytes = 32;

private:
    struct State;
    std::unique_ptr<State> state_;
};

struct PairFacts {
    double latency_seconds = 0;  ///< half of the quickest way there and back
    double bandwidth = 0;        ///< bytes per second of one connection
    int mtu = 0;                 ///< of the way there, as the system knows it; 0: it does not say
    double clock_offset_seconds =
        0;  ///< the other host's clock less this one's, within half the way there and back
};

/// Measures towards the server at `address` (host:port). Throws Error if it cannot be reached.
PairFacts probe_pair(const std::string& address, const std::string& token, Deadline deadline);

}  // namespace heddle::native
