// Unix sockets with names in the kernel's own space (abstract), which leave nothing in any directory.
// Processes of one machine reach each other by them if they share its network namespace. Any user may
// connect, so the handshake authenticates.
#pragma once

#include <string>

#include "runtime/native/socket.hpp"

namespace heddle::native {

/// Throws Error if the system refuses, or another process has the name.
Descriptor listen_at_name(const std::string& name);

/// Nothing if no process of this user listens there. Waits until `deadline` at most while the listener has no
/// room. Throws Error if the system has no socket left.
Descriptor connect_to_name(const std::string& name, Deadline deadline);

bool is_unix_socket(int socket);

/// Whether the process at the other end of a Unix socket is of the same user.
bool is_of_this_user(int socket);

/// One byte that may carry a descriptor. `send_descriptor` of none sends the byte alone, and `descriptor` is
/// then none. Return an empty string, or what went wrong.
std::string send_descriptor(int socket, const Descriptor& descriptor);
std::string receive_descriptor(int socket, Descriptor& descriptor, Deadline deadline);

}  // namespace heddle::native
