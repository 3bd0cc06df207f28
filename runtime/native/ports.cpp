// Parses a range of ports, such as 7000-7099.
#include "runtime/native/ports.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/error.hpp"

namespace heddle::native {

namespace {

std::uint16_t port_from(std::string_view text, std::string_view all) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size() || port == 0)
        throw Error(fmt::format("\"{}\" is no range of ports", all), "write it as 40000-40100");
    return port;
}

}  // namespace

std::string PortRange::text() const {
    return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

PortRange parse_ports(std::string_view text) {
    if (text.empty()) return {};
    const auto dash = text.find('-');
    PortRange range;
    range.first = port_from(text.substr(0, dash), text);
    range.last = dash == std::string_view::npos ? range.first : port_from(text.substr(dash + 1), text);
    if (range.first > range.last)
        throw Error(fmt::format("\"{}\" is no range of ports: it ends before it begins", text),
                    "write it as 40000-40100");
    return range;
}

}  // namespace heddle::native
