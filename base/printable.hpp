// Makes text from files and command lines safe for a terminal. All such text that heddle prints for people
// passes through here. JSON and CSV quote by rules of their own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle {

/// The text with an escape, such as `\n` or `\x1b`, in place of each control character, each byte that is not
/// UTF-8 and each mark that changes the direction of text. Applied twice it gives the same as once.
std::string printable(std::string_view text);

/// The same of several lines, whose ends stay.
std::string printable_lines(std::string_view text);

/// Whether all of it is UTF-8, as JSON must be.
bool is_utf8(std::string_view text);

/// `printable`, cut to `most` characters with `...` behind them if the text is longer: for words that an
/// error repeats.
std::string excerpt(std::string_view text, std::size_t most = 40);

}  // namespace heddle
