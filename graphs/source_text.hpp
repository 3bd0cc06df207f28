// Splits the text of a graph file into lines and words, and makes errors with the line. Knows no format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace heddle::graphs {

/// A whole file in memory.
struct SourceText {
    std::string path;
    std::string text;

    /// Without the byte order mark, if the file begins with one. Throws Error where it cannot be read.
    static SourceText read(const std::string& path);

    Location at(int line) const { return {path, line}; }
    [[noreturn]] void refuse(int line, const std::string& message, const std::string& advice = {}) const {
        throw Error(message, advice, at(line));
    }
};

void remove_byte_order_mark(std::string& text);

/// A word as a number, 0 or more and finite. `what` is named in the Error: `the weight of task 3`.
double weight_in(std::string_view word, std::string_view what, const Location& where);

/// A word as any finite number.
double number_in(std::string_view word, std::string_view what, const Location& where);

/// A word as a whole number from 0 to `most`.
std::uint64_t count_in(std::string_view word, std::string_view what, const Location& where,
                       std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - 1);

std::string_view trimmed(std::string_view text);

/// One line, cut into words at blanks and any of `separators`.
class Words {
public:
    Words(const SourceText& source, std::string_view line, int number, std::string_view separators = {})
        : source_(&source), rest_(line), line_(number), separators_(separators) {}

    bool at_end();

    /// The next word. Throws Error where the line ends before it.
    std::string_view word(std::string_view what);
    double weight(std::string_view what) { return weight_in(word(what), what, where()); }
    std::uint64_t count(std::string_view what,
                        std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - 1) {
        return count_in(word(what), what, where(), most);
    }

    /// Throws Error where the line goes on.
    void expect_end(std::string_view after);

    int line() const { return line_; }
    Location where() const { return source_->at(line_); }

private:
    const SourceText* source_;
    std::string_view rest_;
    int line_;
    std::string_view separators_;
};

/// Line after line.
class Lines {
public:
    explicit Lines(const SourceText& source) : source_(&source) {}

    /// The next line; false at the end of the file.
    bool next();

    /// The next line that is not empty and does not begin with `comment`; false at the end of the file.
    bool next_filled(char comment);

    std::string_view text() const { return text_; }
    Words words(std::string_view separators = {}) const { return {*source_, text_, line_, separators}; }
    int line() const { return line_; }
    const SourceText& source() const { return *source_; }

private:
    const SourceText* source_;
    std::size_t place_ = 0;
    std::string_view text_;
    int line_ = 0;
};

}  // namespace heddle::graphs
