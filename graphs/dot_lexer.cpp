// Skips blanks and comments of a Graphviz file, and takes its next word, quoted text or sign.
#include "graphs/dot_lexer.hpp"

#include <fmt/format.h>

namespace heddle::graphs {

namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

bool DotLexer::Token::is(std::string_view keyword) const {
    if (kind != Kind::word || text.size() != keyword.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (lower(text[i]) != keyword[i]) return false;
    }
    return true;
}

DotLexer::Token DotLexer::take() {
    const Token token = token_;
    advance();
    return token;
}

void DotLexer::skip_blanks_and_comments() {
    const std::string& text = source_->text;
    bool line_begins = place_ == 0;
    while (place_ < text.size()) {
        const char c = text[place_];
        if (c == '\n') {
            ++line_;
            ++place_;
            line_begins = true;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++place_;
        } else if (starts("//") || (c == '#' && line_begins)) {
            while (place_ < text.size() && text[place_] != '\n') ++place_;
        } else if (starts("/*")) {
            const int opened = line_;
            const std::size_t stop = text.find("*/", place_ + 2);
            if (stop == std::string::npos) source_->refuse(opened, "the comment that begins here has no end");
            for (; place_ < stop + 2; ++place_) line_ += text[place_] == '\n';
        } else {
            return;
        }
    }
}

void DotLexer::advance() {
    skip_blanks_and_comments();
    const std::string& text = source_->text;
    token_ = {Kind::end, {}, line_};
    if (place_ >= text.size()) return;
    const std::size_t begin = place_;
    const auto single = [this, begin](Kind kind, std::size_t length) {
        token_.kind = kind;
        token_.text = std::string_view(source_->text).substr(begin, length);
        place_ += length;
    };
    if (starts("->")) return single(Kind::arrow, 2);
    if (starts("--")) return single(Kind::line, 2);
    switch (text[begin]) {
        case '{':
            return single(Kind::open, 1);
        case '}':
            return single(Kind::close, 1);
        case '[':
            return single(Kind::open_list, 1);
        case ']':
            return single(Kind::close_list, 1);
        case '=':
            return single(Kind::equals, 1);
        case ':':
            return single(Kind::colon, 1);
        case ',':
            return single(Kind::comma, 1);
        case ';':
            return single(Kind::semicolon, 1);
        case '<':
            source_->refuse(line_, "HTML labels are not read", "write the label in quotes");
        default:
            break;
    }
    if (text[begin] == '"') {
        std::size_t stop = begin + 1;
        while (stop < text.size() && text[stop] != '"') {
            line_ += text[stop] == '\n';
            stop += text[stop] == '\\' && stop + 1 < text.size() ? 2 : 1;
        }
        if (stop >= text.size())
            source_->refuse(token_.line, "the text in quotes that begins here has no end");
        token_.kind = Kind::quoted;
        token_.text = std::string_view(text).substr(begin + 1, stop - begin - 1);
        place_ = stop + 1;
        return;
    }
    std::size_t stop = begin;
    if (text[stop] == '-' || text[stop] == '+') ++stop;
    while (stop < text.size() &&
           (is_word(text[stop]) || ((text[stop] == '-' || text[stop] == '+') && stop > begin &&
                                    (text[stop - 1] == 'e' || text[stop - 1] == 'E') &&
                                    (text[begin] >= '0' && text[begin] <= '9')))) {
        ++stop;
    }
    if (stop == begin) source_->refuse(line_, fmt::format("unexpected `{}`", text[begin]));
    token_.kind = Kind::word;
    token_.text = std::string_view(text).substr(begin, stop - begin);
    place_ = stop;
}

}  // namespace heddle::graphs
