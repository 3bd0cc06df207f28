// The addresses of this machine, found by an interface's name, by a subnet, or stated as they are.
#pragma once

#include <string>
#include <vector>

namespace heddle::native {

struct Interface {
    std::string name;
    std::string address;  ///< as a number; a link-local one of IPv6 with its interface: fe80::1%eth0
};

/// The interfaces that are up, an entry for each address.
std::vector<Interface> interfaces();

/// This machine's address that `text` names: an interface (`eth1`), a subnet (`10.1.0.0/16`, `fd00::/64`), or
/// an address of this machine. Of several it takes the first of IPv4, or else of IPv6. Throws Error, which
/// lists what there is.
std::string address_on(const std::string& text);

/// Whether an interface of this machine has that name.
bool is_interface(const std::string& name);

/// Whether a text is an address in numbers, of this machine or not.
bool is_number(const std::string& text);

/// Whether it is that of all addresses of a machine: 0.0.0.0 or ::. It says nothing to other machines.
bool is_wildcard(const std::string& text);

}  // namespace heddle::native
