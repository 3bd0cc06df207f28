// Puts an error's message together: the place, what is wrong, what to do; long texts are shortened.
#include "base/error.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/printable.hpp"

namespace heddle {

namespace {

/// Longer than any message that can be read, and short enough for a terminal.
constexpr std::size_t characters_max = 4000;

/// Longer than any word that helps: a path, a name.
constexpr std::size_t word_max = 300;

/// Messages repeat what files and command lines say. A terminal must not obey it, and a word of a million
/// letters must not fill it.
std::string harmless(std::string_view said) {
    std::string out;
    while (!said.empty()) {
        const std::size_t end = std::min(said.find(' '), said.size());
        out += excerpt(said.substr(0, end), word_max);
        if (end == said.size()) break;
        out += ' ';
        said.remove_prefix(end + 1);
        if (out.size() > characters_max) return out + "...";
    }
    return out;
}

std::string text(const std::string& message, const std::string& advice, const Location& where) {
    std::string result;
    if (!where.file.empty()) {
        result += harmless(where.file) + ":";
        if (where.line > 0) result += std::to_string(where.line) + ":";
        result += " ";
    }
    result += message;
    if (!advice.empty()) result += "; " + advice;
    return result;
}

}  // namespace

Error::Error(std::string message, std::string advice, Location where)
    : std::runtime_error(text(message = harmless(message), advice = harmless(advice), where)),
      message_(std::move(message)),
      advice_(std::move(advice)),
      where_(std::move(where)) {}

Error Error::at(const Location& where) const {
    if (!where_.file.empty()) return *this;
    return reworded(message_, where);
}

Error Error::reworded(std::string message, Location where) const {
    Error other(std::move(message), advice_, std::move(where));
    other.refusal_ = refusal_;
    return other;
}

Error Error::as_refusal() const {
    Error refusal = *this;
    refusal.refusal_ = true;
    return refusal;
}

}  // namespace heddle
