// Asks the system for the network interfaces and their addresses, and finds the one that a name or a subnet
// means.
#include "runtime/native/interfaces.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "host/descriptor.hpp"

namespace heddle::native {

namespace {

/// An address as bytes: 4 or 16 of them.
struct Number {
    std::array<unsigned char, 16> bytes{};
    std::size_t size = 0;
    bool operator==(const Number&) const = default;
};

std::optional<Number> number_of(std::string text) {
    text = text.substr(0, text.find('%'));
    Number number;
    if (inet_pton(AF_INET, text.c_str(), number.bytes.data()) == 1) {
        number.size = 4;
    } else if (inet_pton(AF_INET6, text.c_str(), number.bytes.data()) == 1) {
        number.size = 16;
    } else {
        return std::nullopt;
    }
    return number;
}

bool same_subnet(const Number& a, const Number& b, unsigned prefix) {
    if (a.size != b.size) return false;
    for (unsigned bit = 0; bit < prefix; ++bit) {
        const unsigned char mask = static_cast<unsigned char>(0x80U >> (bit % 8));
        if ((a.bytes[bit / 8] & mask) != (b.bytes[bit / 8] & mask)) return false;
    }
    return true;
}

bool is_link_local(const std::string& address) {
    return address.find('%') != std::string::npos;
}

/// The best of some addresses of one interface or subnet.
std::string best_of(const std::vector<std::string>& addresses) {
    const auto rank = [](const std::string& address) {
        return is_link_local(address) ? 2 : address.find(':') != std::string::npos ? 1 : 0;
    };
    return *std::ranges::min_element(addresses, {}, rank);
}

[[noreturn]] void refuse(const std::string& what) {
    std::string list;
    for (const Interface& entry : interfaces())
        list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", entry.name, entry.address);
    throw Error(what, fmt::format("this machine has {}", list.empty() ? "no interface that is up" : list));
}

std::string address_in(const std::string& subnet) {
    const auto slash = subnet.find('/');
    const std::optional<Number> number = number_of(subnet.substr(0, slash));
    const std::string bits = subnet.substr(slash + 1);
    unsigned prefix = 0;
    const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), prefix);
    if (!number || error != std::errc{} || end != bits.data() + bits.size() || prefix > 8 * number->size)
        throw Error(fmt::format("\"{}\" is no subnet", subnet), "write it as 10.1.0.0/16 or fd00::/64");
    std::vector<std::string> found;
    for (const Interface& entry : interfaces())
        if (same_subnet(*number, *number_of(entry.address), prefix)) found.push_back(entry.address);
    if (found.empty()) refuse(fmt::format("no address of this machine is in {}", subnet));
    return best_of(found);
}

}  // namespace

std::vector<Interface> interfaces() {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list))
        throw Error(fmt::format("cannot list the interfaces: {}", host::error_text(errno)));
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
    std::vector<Interface> found;
    for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
        if (!entry->ifa_addr || (entry->ifa_flags & IFF_UP) == 0) continue;
        const int family = entry->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
        char address[NI_MAXHOST];
        if (getnameinfo(entry->ifa_addr, size, address, sizeof address, nullptr, 0, NI_NUMERICHOST) == 0)
            found.push_back({entry->ifa_name, address});
    }
    return found;
}

bool is_interface(const std::string& name) {
    return std::ranges::any_of(interfaces(), [&](const Interface& entry) { return entry.name == name; });
}

bool is_number(const std::string& text) {
    return number_of(text).has_value();
}

bool is_wildcard(const std::string& text) {
    const auto number = number_of(text);
    return number && std::ranges::all_of(number->bytes, [](unsigned char byte) { return byte == 0; });
}

std::string address_on(const std::string& text) {
    if (text.find('/') != std::string::npos) return address_in(text);
    std::string bare = text;
    if (bare.size() > 2 && bare.front() == '[' && bare.back() == ']') bare = bare.substr(1, bare.size() - 2);
    if (const auto number = number_of(bare)) {
        const bool everywhere = is_wildcard(bare);
        const bool loopback = number->size == 4 && number->bytes[0] == 127;
        const std::vector<Interface> all = interfaces();
        const auto it_is = [&](const Interface& entry) { return number_of(entry.address) == number; };
        const auto place = std::ranges::find_if(all, it_is);
        if (!everywhere && !loopback && place == all.end())
            refuse(fmt::format("{} is no address of this machine", bare));
        // With its interface, where it has one.
        return place == all.end() ? bare : place->address;
    }
    std::vector<std::string> found;
    for (const Interface& entry : interfaces())
        if (entry.name == text) found.push_back(entry.address);
    if (found.empty()) refuse(fmt::format("this machine has no interface \"{}\" with an address", text));
    return best_of(found);
}

}  // namespace heddle::native
