// Blocking TCP in small steps, each with a deadline. It interprets neither the bytes nor the peer.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/descriptor.hpp"
#include "runtime/native/ports.hpp"

namespace heddle::native {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

using host::Descriptor;
using host::error_text;

/// Whether the name of a host leads to an address.
bool is_resolved(const std::string& host);

/// Listens on `host` (a name or a number), at the first of `ports` that is free. Never blocks in accept.
/// Throws Error.
Descriptor listen_on(const std::string& host, const PortRange& ports = {});

/// What to do while no process listens at an address.
enum class Refused : std::uint8_t {
    again,  ///< try again: the other process may only be about to listen
    none    ///< the result is none: the other process listened before, so it does no more
};

/// Connects to `address` (host:port), trying again until `deadline` while no process listens there, if
/// `refused` says so. `from`: the address of this machine to connect from; empty: the system chooses. The
/// result is set up by `prepare`. Throws Error.
Descriptor connect_to(const std::string& address, Deadline deadline, const std::string& from = {},
                      Refused refused = Refused::again);

/// The same, to the first of a host's addresses that answers; `name` is for the message. Each attempt takes a
/// part of the time that is left, and an address that does not answer is given up while there are others: a
/// firewall may drop what goes to one of them.
Descriptor connect_to_any(std::vector<sockaddr_storage> addresses, const std::string& name, Deadline deadline,
                          const std::string& from = {}, Refused refused = Refused::again);

/// The same address with another port.
sockaddr_storage with_port(sockaddr_storage address, std::uint16_t port);
socklen_t size_of(const sockaddr_storage& address);

/// Sets up a connection: non-blocking, no delay of small messages, probes that notice a dead host that is
/// idle.
void prepare(int socket);

/// `127.0.0.1:4711`; `this machine` of a Unix socket; `?` where the system does not say.
std::string local_address(int socket);
std::string remote_address(int socket);
/// This machine's address on the way to `host` (a name or a number), as a number. Sends nothing. Throws
/// Error.
std::string local_address_towards(const std::string& host);
std::string host_of(const std::string& address);  ///< without the port
std::string port_of(const std::string& address);

/// Writes or reads all of `bytes`. Returns an empty string, or what went wrong.
std::string write_all(int socket, std::span<const std::byte> bytes, Deadline deadline);
std::string read_all(int socket, std::span<std::byte> bytes, Deadline deadline);

/// False: nothing has come by `deadline`.
bool wait_until_readable(int socket, Deadline deadline);

/// True where the host at the other end has acknowledged nothing for `patience` although it was asked to: it
/// is dead or cut off. A process that is only slow or stopped is not dead: its system still acknowledges.
bool host_is_dead(int socket, std::chrono::milliseconds patience);
inline constexpr std::chrono::seconds host_patience{8};

}  // namespace heddle::native
