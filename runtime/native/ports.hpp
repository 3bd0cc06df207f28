// The ports that listening sockets may use, for machines whose firewall leaves only some open.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::native {

struct PortRange {
    std::uint16_t first = 0;  ///< 0: the system chooses any
    std::uint16_t last = 0;

    bool is_any() const { return first == 0; }
    std::string text() const;
};

/// `40000-40100` or `40000`; nothing written: any. Throws Error.
PortRange parse_ports(std::string_view text);

}  // namespace heddle::native
