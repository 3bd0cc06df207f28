// Escapes characters that could control a terminal, and bytes that are not UTF-8.
#include "base/printable.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace heddle {

namespace {

/// One character of a text: its bytes, and whether they are UTF-8 (Unicode 15, table 3-7).
struct Character {
    std::string_view bytes;
    std::uint32_t code = 0;
    bool valid = false;
};

std::uint8_t byte_at(std::string_view text, std::size_t i) {
    return static_cast<std::uint8_t>(text[i]);
}

/// The first character of a text that is not empty; of broken UTF-8 its first byte.
Character first_of(std::string_view text) {
    const std::uint8_t lead = byte_at(text, 0);
    if (lead < 0x80) return {text.substr(0, 1), lead, true};
    const Character broken{text.substr(0, 1), lead, false};
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return broken;
    // Some lead bytes narrow the second one: no long forms, no surrogates, nothing above U+10FFFF.
    const std::uint8_t least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const std::uint8_t most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (byte_at(text, 1) < least || byte_at(text, 1) > most) return broken;
    std::uint32_t code = lead & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        const std::uint8_t next = byte_at(text, i);
        if ((next & 0xc0U) != 0x80) return broken;
        code = code << 6 | (next & 0x3fU);
    }
    return {text.substr(0, length), code, true};
}

/// Control characters (C0, DEL, C1), line separators, and the marks that reverse the text behind them.
bool must_escape(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

void put_escaped(std::string& out, const Character& character) {
    switch (character.code) {
        case '\n':
            out += "\\n";
            return;
        case '\t':
            out += "\\t";
            return;
        case '\r':
            out += "\\r";
            return;
        default:
            break;
    }
    for (const char byte : character.bytes) out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(byte));
}

}  // namespace

std::string printable(std::string_view text) {
    return excerpt(text, text.size());
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const Character next = first_of(text);
        if (!next.valid) return false;
        text.remove_prefix(next.bytes.size());
    }
    return true;
}

std::string excerpt(std::string_view text, std::size_t most) {
    std::string out;
    for (std::size_t count = 0; !text.empty(); ++count) {
        if (count == most) return out + "...";
        const Character next = first_of(text);
        text.remove_prefix(next.bytes.size());
        if (!next.valid || must_escape(next.code))
            put_escaped(out, next);
        else
            out += next.bytes;
    }
    return out;
}

std::string printable_lines(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        out += printable(text.substr(0, end));
        if (end == std::string_view::npos) break;
        out += '\n';
        text.remove_prefix(end + 1);
    }
    return out;
}

}  // namespace heddle
