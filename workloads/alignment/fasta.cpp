// Reads FASTA: a line that begins with `>` starts a sequence, the lines after it are its letters.
#include "workloads/alignment/fasta.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/printable.hpp"

namespace heddle::workloads::alignment {

namespace {

constexpr std::string_view blanks = " \t\r\v\f";

char upper(char character) {
    return character >= 'a' && character <= 'z' ? static_cast<char>(character - 'a' + 'A') : character;
}

std::string advice_for(Alphabet alphabet) {
    return alphabet == Alphabet::dna
               ? "DNA has A, C, G, T (or U) and IUPAC's letters for more than one of them; is this a protein?"
               : "proteins have the 20 amino acids, B, Z, J, X, U, O and '*'; gaps are not part of a "
                 "sequence";
}

class Reader {
public:
    Reader(Alphabet alphabet, const std::string& file) : alphabet_(alphabet), file_(file) {}

    void line(std::string_view text) {
        ++line_;
        if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
        if (text.starts_with('>'))
            begin(text.substr(1));
        else if (!text.starts_with(';'))
            letters(text);
    }

    std::vector<Sequence> end() {
        if (records_.empty())
            throw Error("no sequence in the file", "a record is a line '>name' and lines of letters",
                        {file_, 0});
        finish();
        return std::move(records_);
    }

private:
    void begin(std::string_view header) {
        if (!records_.empty()) finish();
        const std::size_t first = header.find_first_not_of(blanks);
        header = first == std::string_view::npos ? "" : header.substr(first);
        records_.push_back({std::string(header.substr(0, header.find_first_of(blanks))), {}});
        header_line_ = line_;
    }

    void letters(std::string_view text) {
        for (const char character : text) {
            if (blanks.find(character) != std::string_view::npos) continue;
            if (records_.empty())
                throw Error("text before the first '>'", "begin each sequence with a line '>name'", here());
            if (letter_of(alphabet_, character) < 0)
                throw Error(fmt::format("'{}' is no letter of {}", printable({&character, 1}),
                                        alphabet_ == Alphabet::dna ? "DNA" : "a protein"),
                            advice_for(alphabet_), here());
            records_.back().letters += upper(character);
        }
    }

    /// Checks the record that ends here.
    void finish() {
        std::string& letters = records_.back().letters;
        if (alphabet_ == Alphabet::protein && letters.ends_with('*')) letters.pop_back();
        if (letters.empty())
            throw Error(fmt::format("sequence '{}' has no letters", excerpt(records_.back().name)),
                        "write them below its line, or remove it", {file_, header_line_});
    }

    Location here() const { return {file_, line_}; }

    Alphabet alphabet_;
    const std::string& file_;
    int line_ = 0;
    int header_line_ = 0;
    std::vector<Sequence> records_;
};

}  // namespace

std::vector<Sequence> parse_fasta(std::string_view text, Alphabet alphabet, const std::string& file) {
    Reader reader(alphabet, file);
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        reader.line(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return reader.end();
}

std::vector<Sequence> read_fasta(const std::string& path, Alphabet alphabet) {
    const std::string text = read_input(path);
    return parse_fasta(text, alphabet, path);
}

}  // namespace heddle::workloads::alignment
