// Splits a Graphviz file into words by its lexical rules. graphs/dot.cpp gives the words their meaning.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graphs/source_text.hpp"

namespace heddle::graphs {

class DotLexer {
public:
    enum class Kind : std::uint8_t {
        word,
        quoted,
        arrow,
        line,
        open,
        close,
        open_list,
        close_list,
        equals,
        colon,
        comma,
        semicolon,
        end
    };
    struct Token {
        Kind kind = Kind::end;
        std::string_view text;  ///< without quotes; stays valid as long as the source
        int line = 1;

        bool is_name() const { return kind == Kind::word || kind == Kind::quoted; }
        bool is(std::string_view keyword) const;  ///< an unquoted word, in any case of letters
    };

    explicit DotLexer(const SourceText& source) : source_(&source) { advance(); }

    const Token& peek() const { return token_; }
    Token take();

private:
    void advance();
    void skip_blanks_and_comments();
    bool starts(std::string_view what) const {
        return std::string_view(source_->text).substr(place_).starts_with(what);
    }

    const SourceText* source_;
    std::size_t place_ = 0;
    int line_ = 1;
    Token token_;
};

}  // namespace heddle::graphs
