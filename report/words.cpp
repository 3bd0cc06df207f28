// Puts numbers and lists into English: commas at every third digit, plurals, "and" before the last item.
#include "report/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::report {

std::string counted_things(std::uint64_t count, const std::string& thing) {
    std::string digits = std::to_string(count);
    for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, ",");
    return fmt::format("{} {}{}", digits, thing, count == 1 ? "" : "s");
}

std::string list_in_words(const std::vector<std::string>& items, std::size_t at_most) {
    const bool all = items.size() <= at_most;
    const std::size_t shown = all ? items.size() : at_most - 1;
    std::string words;
    for (std::size_t i = 0; i < shown; ++i) {
        const bool last = all && i + 1 == shown;
        words += i == 0 ? "" : last ? " and " : ", ";
        words += items[i];
    }
    return all ? words : fmt::format("{} and {} more", words, items.size() - shown);
}

std::string percent(double share) {
    const double value = 100 * share;
    return fmt::format("{:.{}f}%", value, std::abs(value) < 10 && value != 0 ? 1 : 0);
}

std::string times_as_long(double ratio) {
    return fmt::format("{:.{}f} times", ratio, ratio < 1.095 ? 3 : ratio < 10 ? 2 : 0);
}

}  // namespace heddle::report
