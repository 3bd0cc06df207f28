// Names the ways to protect messages between two processes: authenticated, encrypted, or headers only
// (docs/security.md).
#pragma once

#include <cstdint>

namespace heddle::native {

enum class Protection : std::uint32_t {
    integrity,   ///< every byte is authenticated; a program that can read the network can read them
    encryption,  ///< payloads are encrypted and authenticated; lengths and kinds of frames can be read
    headers,     ///< as integrity, but of large data (bodies) only the frames' headers
    local,  ///< within a machine, whose system lets no other program between: only headers, of all frames
    last = local
};

/// As in `transport.protection`, which cannot be `local`.
inline const char* name(Protection protection) {
    switch (protection) {
        case Protection::integrity:
            return "integrity";
        case Protection::encryption:
            return "encryption";
        case Protection::headers:
            return "headers";
        case Protection::local:
            return "local";
    }
    return "unknown";
}

}  // namespace heddle::native
