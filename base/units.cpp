// Reads and prints numbers with units. A unit that is not known is an error that proposes the nearest one.
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle {

namespace {

__extension__ using Wide = unsigned __int128;

struct Prefix {
    std::string_view symbol;
    int power;  ///< of ten, or of two where binary
    bool binary;
};

// In the order of their size: printing tries them in turn.
constexpr std::array<Prefix, 7> si_prefixes = {{{"", 0, false},
                                                {"k", 3, false},
                                                {"M", 6, false},
                                                {"G", 9, false},
                                                {"T", 12, false},
                                                {"P", 15, false},
                                                {"E", 18, false}}};
constexpr std::array<Prefix, 6> binary_prefixes = {{{"Ki", 10, true},
                                                    {"Mi", 20, true},
                                                    {"Gi", 30, true},
                                                    {"Ti", 40, true},
                                                    {"Pi", 50, true},
                                                    {"Ei", 60, true}}};
constexpr std::array<Prefix, 5> time_prefixes = {
    {{"p", -12, false}, {"n", -9, false}, {"u", -6, false}, {"m", -3, false}, {"", 0, false}}};

struct Unit {
    std::string text;
    int power;
    bool binary;
    int shift;  ///< value = number * 10^power (or 2^power) * 2^shift
};

/// What may be written, and how it is called in errors.
struct Quantity {
    std::string_view what;
    std::string_view expected;
    std::vector<Unit> units;
    bool plain_number = false;  ///< whether a number other than 0 may stand without a unit
};

std::vector<Unit> units_of(std::string_view symbol, int shift, bool with_binary) {
    std::vector<Unit> units;
    units.reserve(si_prefixes.size() + binary_prefixes.size());
    for (const Prefix& prefix : si_prefixes) {
        units.push_back({fmt::format("{}{}", prefix.symbol, symbol), prefix.power, false, shift});
    }
    if (!with_binary) return units;
    for (const Prefix& prefix : binary_prefixes) {
        units.push_back({fmt::format("{}{}", prefix.symbol, symbol), prefix.power, true, shift});
    }
    return units;
}

const Quantity& time_quantity() {
    static const Quantity quantity = [] {
        Quantity made{"time", "a time such as 1us (ps, ns, us, ms, s)", {}};
        for (const Prefix& prefix : time_prefixes) {
            made.units.push_back({fmt::format("{}s", prefix.symbol), prefix.power, false, 0});
        }
        return made;
    }();
    return quantity;
}

const Quantity& flops_quantity() {
    static const Quantity quantity{"number of flops", "flops such as 20f or 10Gf", units_of("f", 0, false)};
    return quantity;
}

const Quantity& bytes_quantity() {
    static const Quantity quantity{"size", "a size such as 4096, 4KiB or 64MB", units_of("B", 0, true), true};
    return quantity;
}

const Quantity& bandwidth_quantity() {
    static const Quantity quantity = [] {
        Quantity made{"bandwidth", "a bandwidth such as 12.5GBps (bytes) or 100Gbps (bits)",
                      units_of("Bps", 0, true)};
        for (Unit& unit : units_of("bps", -3, true)) made.units.push_back(std::move(unit));
        return made;
    }();
    return quantity;
}

/// A text cut into its number, without sign, and its unit.
struct Written {
    std::string number;
    Unit unit{"", 0, false, 0};
};

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Edit distance in which another case costs 1 and everything else 2.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = 2 * j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], 2 * i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
            const std::size_t best = std::min({row[j] + 2, row[j - 1] + 2, diagonal + change});
            diagonal = std::exchange(row[j], best);
        }
    }
    return row[b.size()];
}

std::string advice_for(std::string_view unit, const Quantity& quantity) {
    const Unit* nearest = nullptr;
    std::size_t least = 4;  // two typing mistakes at most
    for (const Unit& known : quantity.units) {
        const std::size_t apart = distance(unit, known.text);
        if (apart < least || (apart == least && nearest == nullptr)) {
            nearest = &known;
            least = apart;
        }
    }
    if (nearest == nullptr) return fmt::format("expected {}", quantity.expected);
    return fmt::format("did you mean `{}`? expected {}", nearest->text, quantity.expected);
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Where the number at the start of `text` ends: digits, a point, an exponent.
std::size_t number_length(std::string_view text) {
    std::size_t end = 0;
    bool digits = false, point = false;
    while (end < text.size() && (is_digit(text[end]) || (text[end] == '.' && !point))) {
        digits = digits || is_digit(text[end]);
        point = point || text[end] == '.';
        ++end;
    }
    if (!digits) return 0;
    if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
        std::size_t after = end + 1;
        if (after < text.size() && (text[after] == '+' || text[after] == '-')) ++after;
        const std::size_t first = after;
        while (after < text.size() && is_digit(text[after])) ++after;
        if (after > first) end = after;
    }
    return end;
}

Written cut(std::string_view text, const Quantity& quantity) {
    const std::string expected = fmt::format("expected {}", quantity.expected);
    const auto trim = [](std::string_view part) {
        while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
        while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
        return part;
    };
    const std::string_view trimmed = trim(text);
    std::string_view rest = trimmed;
    const bool negative = rest.starts_with('-');
    if (negative || rest.starts_with('+')) rest.remove_prefix(1);
    const std::size_t length = number_length(rest);
    if (length == 0) throw Error(fmt::format("`{}` is not a {}", trimmed, quantity.what), expected);
    Written written{std::string(rest.substr(0, length))};
    const std::string_view unit = trim(rest.substr(length));
    const bool zero = written.number.find_first_of("123456789") == std::string::npos ||
                      written.number.find_first_of("123456789") > written.number.find_first_of("eE");
    if (unit.empty()) {
        if (!zero && !quantity.plain_number) throw Error(fmt::format("no unit in `{}`", trimmed), expected);
    } else {
        const auto known = std::find_if(quantity.units.begin(), quantity.units.end(),
                                        [unit](const Unit& one) { return one.text == unit; });
        if (known == quantity.units.end()) {
            throw Error(fmt::format("unknown unit `{}` in `{}`", unit, trimmed), advice_for(unit, quantity));
        }
        written.unit = *known;
    }
    if (negative && !zero) throw Error(fmt::format("negative {} `{}`", quantity.what, trimmed), expected);
    return written;
}

[[noreturn]] void too_large(std::string_view text, const Quantity& quantity) {
    throw Error(fmt::format("`{}` is too large for a {}", text, quantity.what),
                fmt::format("expected {}", quantity.expected));
}

int exponent_of(std::string_view digits) {
    if (digits.starts_with('+')) digits.remove_prefix(1);
    int exponent = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (parsed.ec == std::errc::result_out_of_range) return digits.starts_with('-') ? -10000 : 10000;
    return std::clamp(exponent, -10000, 10000);
}

/// The number moved by a power of ten: as text, so that it is rounded once.
std::string scaled(const std::string& number, int power) {
    const std::size_t e = number.find_first_of("eE");
    const int exponent = e == std::string::npos ? 0 : exponent_of(std::string_view(number).substr(e + 1));
    return fmt::format("{}e{}", number.substr(0, e), exponent + power);
}

double parse(std::string_view text, const Quantity& quantity) {
    const Written written = cut(text, quantity);
    const std::string decimal = scaled(written.number, written.unit.binary ? 0 : written.unit.power);
    double value = std::strtod(decimal.c_str(), nullptr);
    value = std::ldexp(value, (written.unit.binary ? written.unit.power : 0) + written.unit.shift);
    if (!(value < 1e300)) too_large(text, quantity);  // room for sums and products
    return value;
}

/// Decimal digits d1 d2 d3... and an exponent: the value is d1.d2d3... * 10^exponent.
struct Decimal {
    std::string digits;
    int exponent = 0;
};

std::string plain(const Decimal& decimal, int power) {
    const int whole = decimal.exponent - power + 1;  // digits before the point
    const int count = static_cast<int>(decimal.digits.size());
    if (whole <= 0) return "0." + std::string(static_cast<std::size_t>(-whole), '0') + decimal.digits;
    if (whole >= count) return decimal.digits + std::string(static_cast<std::size_t>(whole - count), '0');
    const auto point = static_cast<std::size_t>(whole);
    return decimal.digits.substr(0, point) + "." + decimal.digits.substr(point);
}

/// The shortest digits that read back as the same double.
Decimal shortest(double value) {
    std::array<char, 64> buffer{};
    const auto printed =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
    const std::string_view text(buffer.data(), static_cast<std::size_t>(printed.ptr - buffer.data()));
    const std::size_t e = text.find('e');
    Decimal decimal{std::string(text.substr(0, 1)), exponent_of(text.substr(e + 1))};
    if (e > 2) decimal.digits += text.substr(2, e - 2);
    return decimal;
}

/// With the largest SI prefix that leaves at least 1 before the point.
std::string with_si_prefix(double value, std::string_view symbol) {
    HEDDLE_ASSERT(value >= 0 && std::isfinite(value));
    if (value == 0) return fmt::format("0{}", symbol);
    const Decimal decimal = shortest(value);
    const Prefix* best = &si_prefixes.front();
    for (const Prefix& prefix : si_prefixes) {
        if (prefix.power <= decimal.exponent) best = &prefix;
    }
    // Beyond the prefixes an exponent is shorter than zeros.
    if (decimal.exponent > 24 || decimal.exponent < -6) return fmt::format("{}{}", value, symbol);
    return fmt::format("{}{}{}", plain(decimal, best->power), best->symbol, symbol);
}

/// Whole multiples of the largest binary prefix that divides; empty where none does.
std::string with_binary_prefix(double value, std::string_view symbol) {
    std::string result;
    for (const Prefix& prefix : binary_prefixes) {
        const double multiple = std::ldexp(value, -prefix.power);
        if (multiple >= 1 && multiple == std::floor(multiple) && multiple < 1e15) {
            result = fmt::format("{:.0f}{}{}", multiple, prefix.symbol, symbol);
        }
    }
    return result;
}

void shorten(std::string& best, std::string other) {
    if (!other.empty() && other.size() < best.size()) best = std::move(other);
}

}  // namespace

Time parse_time(std::string_view text) {
    const Written written = cut(text, time_quantity());
    const std::string number = scaled(written.number, written.unit.power + 12);
    const std::size_t e = number.find('e');
    int power = exponent_of(std::string_view(number).substr(e + 1));

    // In whole numbers: a double does not hold every picosecond of a long time.
    Wide digits = 0;
    bool point = false;
    for (const char c : std::string_view(number).substr(0, e)) {
        if (c == '.') {
            point = true;
            continue;
        }
        if (digits > std::numeric_limits<Wide>::max() / 100) {  // more digits than a Time has
            if (!point) ++power;
            continue;
        }
        digits = digits * 10 + static_cast<Wide>(c - '0');
        if (point) --power;
    }
    const auto longest = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
    for (; power > 0 && digits != 0; --power) {
        if (digits > longest) too_large(text, time_quantity());
        digits *= 10;
    }
    bool round_up = false;
    for (; power < 0 && (digits != 0 || round_up); ++power) {
        round_up = digits % 10 >= 5;
        digits /= 10;
    }
    digits += round_up ? 1 : 0;
    if (digits >= longest) too_large(text, time_quantity());
    return Time(static_cast<std::int64_t>(digits));
}

double parse_flops(std::string_view text) {
    return parse(text, flops_quantity());
}

double parse_bytes(std::string_view text) {
    return parse(text, bytes_quantity());
}

double parse_bandwidth(std::string_view text) {
    return parse(text, bandwidth_quantity());
}

std::string print_time(Time time) {
    HEDDLE_ASSERT(time >= Time::zero());
    if (time == Time::zero()) return "0s";
    Decimal decimal{std::to_string(time.count())};
    decimal.exponent = static_cast<int>(decimal.digits.size()) - 13;
    decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
    const Prefix* best = &time_prefixes.front();
    for (const Prefix& prefix : time_prefixes) {
        if (prefix.power <= decimal.exponent) best = &prefix;
    }
    return fmt::format("{}{}s", plain(decimal, best->power), best->symbol);
}

std::string print_flops(double flops) {
    return with_si_prefix(flops, "f");
}

std::string print_bytes(double bytes) {
    std::string best = with_si_prefix(bytes, "B");
    shorten(best, with_binary_prefix(bytes, "B"));
    return best;
}

std::string print_bandwidth(double bytes_per_second) {
    std::string best = with_si_prefix(bytes_per_second, "Bps");
    if (const double bits = bytes_per_second * 8; std::isfinite(bits))
        shorten(best, with_si_prefix(bits, "bps"));
    shorten(best, with_binary_prefix(bytes_per_second, "Bps"));
    return best;
}

std::string show_seconds(double seconds) {
    constexpr std::array<std::pair<const char*, double>, 4> units = {
        {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}}};
    for (const auto& [unit, factor] : units) {
        const double value = seconds * factor;
        if (value >= 999.5) return fmt::format("{:.0f} {}", value, unit);
        if (value >= 1) return fmt::format("{:.3g} {}", value, unit);
    }
    return fmt::format("{:.3g} ns", seconds * 1e9);
}

std::string show_bytes(double bytes) {
    constexpr std::array<const char*, 5> units = {"B", "kB", "MB", "GB", "TB"};
    std::size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < units.size()) {
        bytes /= 1000;
        ++unit;
    }
    return fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace heddle
