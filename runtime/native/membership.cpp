// Reads this process's number, the number of nodes and the run's key from what the launcher has left.
#include "runtime/native/membership.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

namespace {

constexpr const char* launch_advice = "start the run with `heddle launch`, which sets all of them";

std::string text_from(const char* variable) {
    const char* value = std::getenv(variable);
    if (!value || !*value)
        throw Error(fmt::format("{} is not set although {} is", variable, environment::rank), launch_advice);
    return value;
}

std::uint32_t number_from(const char* variable) {
    const std::string text = text_from(variable);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        throw Error(fmt::format("{}={} is not a number", variable, text), launch_advice);
    return value;
}

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
}

}  // namespace

std::chrono::milliseconds meeting_time(NodeId nodes) {
    return std::chrono::seconds(10) + std::chrono::milliseconds(100) * nodes;
}

std::optional<Membership> membership_from_environment() {
    if (!is_set(environment::rank)) return std::nullopt;
    Membership membership;
    membership.rank = number_from(environment::rank);
    membership.nodes = number_from(environment::nodes);
    if (membership.rank >= membership.nodes)
        throw Error(fmt::format("{}={} although there are {} nodes", environment::rank, membership.rank,
                                membership.nodes),
                    "ranks count from 0");
    if (is_set(environment::at_start)) {
        membership.at_start = number_from(environment::at_start);
        if (*membership.at_start == 0 || *membership.at_start > membership.nodes)
            throw Error(fmt::format("{}={} although there are {} nodes", environment::at_start,
                                    *membership.at_start, membership.nodes),
                        launch_advice);
    }
    // If the environment does not say how many processes share this machine, all might.
    membership.local_rank =
        is_set(environment::local_rank) ? number_from(environment::local_rank) : membership.rank;
    membership.local_count =
        is_set(environment::local_count) ? number_from(environment::local_count) : membership.nodes;
    if (membership.local_rank >= membership.local_count)
        throw Error(fmt::format("{}={} although {} processes are on this machine", environment::local_rank,
                                membership.local_rank, membership.local_count));
    membership.rendezvous = text_from(environment::rendezvous);
    (void)host_of(membership.rendezvous);
    if (is_set(environment::address)) membership.address = text_from(environment::address);
    membership.credentials = read_key_file(text_from(environment::key_file));
    return membership;
}

}  // namespace heddle::native
