// Lists of hosts, as users and cluster managers write them, and how many processes each host takes. Looks up
// no name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::host {

struct HostSlots {
    std::string host;         ///< a name, an address, or `user@name`
    std::uint32_t slots = 1;  ///< processes that it takes

    bool operator==(const HostSlots&) const = default;
};

/// Names in a list, in its order: `a,b`, and with numbers as Slurm writes them:
/// `n[1-3,07],rack[1-2]n[01-04]`. Leading zeros of a number are kept. Throws Error for text that is no such
/// list, and for more than `hosts_max` names.
std::vector<std::string> expand_host_list(std::string_view text);
inline constexpr std::size_t hosts_max = 100'000;

/// `a,b:2,n[1-4]:8`: names, each with a number of processes or one. The list's names stand for one host each;
/// a host that is named again takes more. An IPv6 address is in brackets: `[fe80::1]:2`. Throws Error, also
/// for more than `hosts_max` names, as the next one does.
std::vector<HostSlots> parse_hosts(std::string_view text);

/// Reads a file with a host or list in each line: `a`, `a:2`, or `a slots=2`, as Open MPI writes it (not
/// after names with a comma between them). Text after # is a comment. Throws Error with file and line.
std::vector<HostSlots> read_hostfile(const std::filesystem::path& path);

}  // namespace heddle::host
