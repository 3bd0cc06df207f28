// Prints and reads whole picoseconds without a floating-point number between.
#include "results/exact_seconds.hpp"

#include <fmt/format.h>

#include <charconv>

namespace heddle::results {

namespace {

constexpr std::int64_t picoseconds_of_second = 1'000'000'000'000;

std::optional<std::int64_t> digits(std::string_view text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    const bool whole = !text.empty() && text.front() != '-' && read.ec == std::errc{} && read.ptr == end;
    return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string exact_seconds(Time time) {
    if (time == never) return "";
    return fmt::format("{}.{:012}", time.count() / picoseconds_of_second,
                       time.count() % picoseconds_of_second);
}

std::optional<Time> parse_exact_seconds(std::string_view text) {
    const std::size_t point = text.find('.');
    const auto whole = digits(text.substr(0, point));
    constexpr std::int64_t seconds_max = 9'000'000;
    if (!whole || *whole > seconds_max) return std::nullopt;
    std::int64_t part = 0;
    if (point != std::string_view::npos) {
        std::string decimals(text.substr(point + 1).substr(0, 12));
        decimals.resize(12, '0');
        const auto read = digits(decimals);
        if (!read) return std::nullopt;
        part = *read;
    }
    return Time(*whole * picoseconds_of_second + part);
}

}  // namespace heddle::results
