// Splits text into lines and words, and reads numbers; each error names file and line.
#include "graphs/source_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/input_file.hpp"
#include "base/printable.hpp"

namespace heddle::graphs {

namespace {

std::string shown(std::string_view word) {
    return excerpt(word);
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\0';  // some programs end a file with a zero
}

}  // namespace

SourceText SourceText::read(const std::string& path) {
    SourceText source{path, read_input(path)};
    remove_byte_order_mark(source.text);
    return source;
}

void remove_byte_order_mark(std::string& text) {
    text.erase(0, text.size() - without_byte_order_mark(text).size());
}

double number_in(std::string_view word, std::string_view what, const Location& where) {
    if (word.starts_with('+')) word.remove_prefix(1);
    double value = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
    if (parsed.ec == std::errc::result_out_of_range) {
        throw Error(fmt::format("{} is {}, which is too large or too small for a number", what, shown(word)),
                    "numbers reach from 1e-307 to 1e308", where);
    }
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) {
        throw Error(fmt::format("{} is `{}`, which is not a number", what, shown(word)), {}, where);
    }
    if (!std::isfinite(value)) {
        throw Error(fmt::format("{} is {}, which is not finite", what, shown(word)), {}, where);
    }
    return value;
}

double weight_in(std::string_view word, std::string_view what, const Location& where) {
    const double value = number_in(word, what, where);
    if (value < 0) {
        throw Error(fmt::format("{} is {}, which is negative", what, shown(word)), "weights are 0 or more",
                    where);
    }
    return value;
}

std::uint64_t count_in(std::string_view word, std::string_view what, const Location& where,
                       std::uint64_t most) {
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool too_large =
        parsed.ec == std::errc::result_out_of_range || (parsed.ec == std::errc() && value > most);
    if (too_large && parsed.ptr == word.data() + word.size()) {
        throw Error(fmt::format("{} is {}, but it is at most {}", what, shown(word), most), {}, where);
    }
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) {
        throw Error(fmt::format("{} is `{}`, which is not a whole number, 0 or more", what, shown(word)), {},
                    where);
    }
    return value;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

bool Words::at_end() {
    while (!rest_.empty() &&
           (is_blank(rest_.front()) || separators_.find(rest_.front()) != separators_.npos)) {
        rest_.remove_prefix(1);
    }
    return rest_.empty();
}

std::string_view Words::word(std::string_view what) {
    if (at_end()) throw Error(fmt::format("the line ends before {}", what), {}, where());
    std::size_t length = 0;
    while (length < rest_.size() && !is_blank(rest_[length]) &&
           separators_.find(rest_[length]) == separators_.npos) {
        ++length;
    }
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word;
}

void Words::expect_end(std::string_view after) {
    if (at_end()) return;
    throw Error(fmt::format("`{}` after {}, where the line should end", shown(word("a word")), after), {},
                where());
}

bool Lines::next() {
    if (place_ >= source_->text.size()) return false;
    const std::size_t end = source_->text.find('\n', place_);
    const std::size_t stop = end == std::string::npos ? source_->text.size() : end;
    text_ = std::string_view(source_->text).substr(place_, stop - place_);
    place_ = stop + 1;
    ++line_;
    return true;
}

bool Lines::next_filled(char comment) {
    while (next()) {
        const std::string_view filled = trimmed(text_);
        if (!filled.empty() && filled.front() != comment) return true;
    }
    return false;
}

}  // namespace heddle::graphs
