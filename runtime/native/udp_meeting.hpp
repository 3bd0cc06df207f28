// Lets two processes agree to exchange their messages by UDP, after a handshake over TCP. Each makes a socket
// for datagrams and tells the other its port. Then both see whether datagrams of the size that they have
// agreed on come through. The TCP connection stays open, to show whether the peer lives.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/native/datagram_socket.hpp"
#include "runtime/native/handshake.hpp"
#include "runtime/native/udp_stream.hpp"

namespace heddle::native {

struct UdpOptions {
    std::size_t segment = 0;  ///< bytes of a datagram at most; 0: what the path takes in one packet
    PortRange ports = {};     ///< for the sockets
    /// For tests: what takes the socket's place. It is given the socket.
    std::function<std::unique_ptr<DatagramSocket>(std::unique_ptr<DatagramSocket>)> wrap = {};
};

/// A peer that has authenticated over TCP and been told of this process's port.
struct UdpPeer {
    Descriptor control;
    Session session;
    std::unique_ptr<UdpSocket> socket;
    std::size_t datagram_bytes;
};

/// Both sides' first part: never waits. Throws Error if the system has no socket for it, or if the peer is
/// gone.
UdpPeer offer_datagrams(Descriptor control, const Session& session, const UdpOptions& options);

struct UdpMet {
    Session session;
    std::unique_ptr<Stream> stream;
};

/// How long datagrams may take to come through between two processes that both send them.
inline constexpr std::chrono::milliseconds datagrams_max_default{4000};

/// The second part, for all peers together, which ends at `deadline`. A peer comes to it when it has
/// connected to all of its own peers. From then on its datagrams have `datagrams_max` to come through. Throws
/// Error if a peer does not come or is gone, or if datagrams do not come through.
std::vector<UdpMet> meet_by_datagrams(std::vector<UdpPeer> peers, const UdpOptions& options,
                                      Deadline deadline,
                                      std::chrono::milliseconds datagrams_max = datagrams_max_default);

}  // namespace heddle::native
