// Checks each stated value against the kind and range of its setting. An error names the place, and a name
// that may have been meant.
#include "base/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/assert.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"

namespace heddle {

namespace {

/// Letters to insert, remove or replace, and pairs of neighbours to exchange ("optimal string alignment").
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

/// The whole text as a number of type T.
template <class T>
std::optional<T> number_in(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    T value{};
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<bool> boolean_in(std::string_view text) {
    if (text == "true") return true;
    if (text == "false") return false;
    return std::nullopt;
}

constexpr double bound_stated = 1e300;  // a bound beyond it is none

/// What the caller can do: the range and the default, as far as there are any.
std::string advice_of(const Setting& setting) {
    std::string advice = range_in_words(setting);
    if (!advice.empty()) advice = "expected " + advice;
    if (setting.initial.empty()) return advice;
    if (!advice.empty()) advice += "; ";
    return advice + fmt::format("the default is {}", setting.initial);
}

[[noreturn]] void wrong_kind(const Setting& setting, std::string_view expected, const std::string& value) {
    throw Error(fmt::format("expected {}, found `{}`", expected, excerpt(value)), advice_of(setting));
}

/// A bound as the caller would state it.
std::string bound_in_words(SettingKind kind, double bound) {
    if (kind == SettingKind::flops && bound >= 0) return print_flops(bound);
    if (kind == SettingKind::bytes && bound >= 0) return print_bytes(bound);
    if (kind == SettingKind::time) return fmt::format("{}s", bound);
    return fmt::format("{}", bound);
}

bool has_range(SettingKind kind) {
    return kind == SettingKind::integer || kind == SettingKind::number || kind == SettingKind::time ||
           kind == SettingKind::flops || kind == SettingKind::bytes;
}

/// The value in base units, for the kinds that have an order. Throws Error for a text that is not of the
/// kind.
std::optional<double> checked(const Setting& setting, const std::string& value) {
    switch (setting.kind) {
        case SettingKind::integer:
            return static_cast<double>(parse_integer(value, setting.at_least, setting.at_most));
        case SettingKind::number: {
            const auto parsed = number_in<double>(value);
            if (!parsed || !std::isfinite(*parsed)) wrong_kind(setting, "a number", value);
            return parsed;
        }
        case SettingKind::boolean:
            if (!boolean_in(value)) wrong_kind(setting, "true or false", value);
            return std::nullopt;
        case SettingKind::time:
            return to_seconds(parse_time(value));
        case SettingKind::flops:
            return parse_flops(value);
        case SettingKind::bytes:
            return parse_bytes(value);
        case SettingKind::choice:
            if (std::find(setting.choices.begin(), setting.choices.end(), value) == setting.choices.end()) {
                throw Error(fmt::format("unknown value \"{}\"", excerpt(value)),
                            nearest_advice(value, setting.choices));
            }
            return std::nullopt;
        case SettingKind::text:
        case SettingKind::input_path:
        case SettingKind::output_path:
            return std::nullopt;
    }
    HEDDLE_ASSERT(false);
    return std::nullopt;
}

}  // namespace

std::string range_in_words(double least, double most) {
    return fmt::format("{:.0f} to {:.0f}", least, most);
}

std::string range_in_words(const Setting& setting) {
    if (!has_range(setting.kind)) return {};
    if (setting.kind == SettingKind::integer) return range_in_words(setting.at_least, setting.at_most);
    const bool below = setting.at_least > -bound_stated, above = setting.at_most < bound_stated;
    const auto words = [&setting](double bound) { return bound_in_words(setting.kind, bound); };
    if (below && above) return fmt::format("{} to {}", words(setting.at_least), words(setting.at_most));
    if (below) return words(setting.at_least) + " or more";
    return above ? "at most " + words(setting.at_most) : std::string();
}

std::int64_t parse_integer(std::string_view text, double least, double most) {
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    std::int64_t value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const std::string range = "expected " + range_in_words(least, most);
    if (parsed.ec == std::errc::invalid_argument || parsed.ptr != digits.data() + digits.size())
        throw Error(fmt::format("expected a whole number, found `{}`", excerpt(text)), range);
    const auto number = static_cast<double>(value);
    if (parsed.ec != std::errc() || number < least || number > most) {
        throw Error(fmt::format("{} {}", excerpt(text),
                                text.starts_with('-') && least >= 0 ? "is negative" : "is out of range"),
                    range);
    }
    return value;
}

Settings::Settings(std::vector<Setting> declared) : declared_(std::move(declared)) {
    for (const Setting& setting : declared_) {
        if (setting.kind != SettingKind::integer ||
            (fits<std::int64_t>(setting.at_least) && fits<std::int64_t>(setting.at_most)))
            continue;
        throw std::logic_error(fmt::format(
            "the integer setting {} is declared without a range; state at_least and at_most", setting.name));
    }
}

void Settings::set(const std::string& name, const std::string& value, const Location& where) {
    const auto setting = std::find_if(declared_.begin(), declared_.end(),
                                      [&name](const Setting& one) { return one.name == name; });
    if (setting == declared_.end()) {
        std::vector<std::string> known;
        for (const Setting& one : declared_) known.push_back(one.name);
        throw Error(fmt::format("unknown key \"{}\"", excerpt(name)), nearest_advice(name, known), where);
    }
    try {
        const auto number = checked(*setting, value);
        if (number && (*number < setting->at_least || *number > setting->at_most)) {
            throw Error(fmt::format("{} is out of range", excerpt(value)), advice_of(*setting));
        }
    } catch (const Error& error) {
        std::string advice = error.advice();
        const std::string range = range_in_words(*setting);
        if (advice.find(range) == std::string::npos)
            advice += (advice.empty() ? "" : "; ") + ("expected " + range);
        throw Error(name + ": " + error.message(), advice, where);
    }
    values_[name] = {value, where};
}

const Setting& Settings::find(std::string_view name) const {
    const auto setting = std::find_if(declared_.begin(), declared_.end(),
                                      [name](const Setting& one) { return one.name == name; });
    HEDDLE_ASSERT(setting != declared_.end());
    return *setting;
}

const std::string& Settings::raw(std::string_view name) const {
    const auto value = values_.find(name);
    return value == values_.end() ? find(name).initial : value->second.text;
}

std::int64_t Settings::whole(const Setting& setting) const {
    HEDDLE_ASSERT(setting.kind == SettingKind::integer);
    return parse_integer(raw(setting.name), setting.at_least, setting.at_most);
}

double Settings::number(std::string_view name) const {
    const auto value = checked(find(name), raw(name));
    HEDDLE_ASSERT(value);
    return *value;
}

std::string Settings::text(std::string_view name) const {
    return raw(name);
}

bool Settings::boolean(std::string_view name) const {
    const auto value = boolean_in(raw(name));
    HEDDLE_ASSERT(value);
    return *value;
}

Time Settings::time(std::string_view name) const {
    return parse_time(raw(name));
}

std::string Settings::path(std::string_view name) const {
    const Setting& setting = find(name);
    HEDDLE_ASSERT(setting.kind == SettingKind::input_path || setting.kind == SettingKind::output_path);
    const std::string& stated = raw(name);
    const bool file = setting.names_file == nullptr || setting.names_file(stated);
    return file ? path_from(stated, where(name)) : stated;
}

std::vector<std::string> Settings::input_files() const {
    std::vector<std::string> files;
    for (const Setting& setting : declared_) {
        if (setting.kind != SettingKind::input_path || raw(setting.name).empty()) continue;
        if (setting.names_file != nullptr && !setting.names_file(raw(setting.name))) continue;
        files.push_back(path(setting.name));
    }
    return files;
}

bool Settings::stated(std::string_view name) const {
    return values_.contains(name);
}

Location Settings::where(std::string_view name) const {
    const auto value = values_.find(name);
    return value == values_.end() ? Location{} : value->second.where;
}

std::string nearest_advice(std::string_view wrong, const std::vector<std::string>& known) {
    if (known.empty()) return "leave it out: there is none";
    const auto nearest = std::min_element(known.begin(), known.end(), [wrong](const auto& a, const auto& b) {
        return edit_distance(wrong, a) < edit_distance(wrong, b);
    });
    // Names of keys whose sections were left out.
    std::string meant;
    for (const std::string& name : known)
        if (name.ends_with(fmt::format(".{}", wrong)))
            meant += fmt::format("{}\"{}\"", meant.empty() ? "" : " or ", name);
    std::string list = "known: ";
    for (const std::string& name : known) {
        if (&name != &known.front()) list += ", ";
        list += name;
    }
    const std::size_t mistakes = edit_distance(wrong, *nearest);
    // Half of the letters wrong is no longer a typing mistake.
    if (meant.empty() && 2 * mistakes > std::max(wrong.size(), nearest->size())) return list;
    if (meant.empty() || mistakes == 1)
        meant = fmt::format("\"{}\"{}{}", *nearest, meant.empty() ? "" : " or ", meant);
    const std::string question = fmt::format("did you mean {}?", meant);
    constexpr std::size_t many = 20;  // too long a list to be read
    return known.size() > many ? question : fmt::format("{} {}", question, list);
}

}  // namespace heddle
