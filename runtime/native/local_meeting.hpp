// Lets two processes of one machine agree on a faster way than TCP, after a handshake over a Unix socket. The
// acceptor offers memory, and the initiator says whether it could open it. Both messages are frames of the
// session. If either side has no such memory, the Unix socket itself carries their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/network_routes.hpp"
#include "runtime/native/handshake.hpp"
#include "runtime/native/shared_memory.hpp"
#include "runtime/native/stream.hpp"

namespace heddle::native {

/// What carries bytes between two processes of one machine: the best that is asked for and works.
enum class Local : std::uint8_t { shared_memory, unix_socket, tcp };

/// The name of the Unix socket at which node `rank` expects processes of its machine over that network.
/// `address`: where it expects others, host:port, or `fresh_local_address`.
std::string local_name(NodeId rank, NetworkId network, const std::string& address, std::uint64_t fingerprint);

/// Stands for an address where there are no others. No two are equal, so runs of one program do not meet.
std::string fresh_local_address();

/// Whether a process made that address that could be met here, if it is still there.
bool is_of_this_machine(const std::string& fresh_address);

/// If there are more processes on a machine, they use Unix sockets: each pair that shares memory takes at
/// least 12 KiB of it, and the system some more.
inline constexpr std::uint32_t sharing_max = 256;

/// For a ring between two of `processes` on one machine, so that all of theirs take little of its memory. 0:
/// they are too many.
std::size_t ring_bytes_for(std::uint32_t processes);

/// A peer that has authenticated over a Unix socket, and has been offered memory.
struct LocalPeer {
    Descriptor socket;
    Session session;
    std::optional<SharedMemory> memory;
};

/// What came of an offer. `word`: why there is no shared memory although it was asked for.
struct LocalStream {
    std::unique_ptr<Stream> stream;
    std::string word = {};
};

/// The acceptor's first part: never waits. `ring_bytes` 0: offers nothing.
LocalPeer offer_memory(Descriptor socket, const Session& session, std::size_t ring_bytes);

/// The acceptor's second part: waits for the answer. Throws Error if the peer is gone.
LocalStream conclude_offer(LocalPeer peer, Deadline deadline);

/// The initiator's part. Throws Error if the peer is gone.
LocalStream take_offer(Connection connection, Deadline deadline);

}  // namespace heddle::native
