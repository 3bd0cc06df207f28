// The alphabets of DNA and proteins, and the matrix BLOSUM62.
#include "workloads/alignment/scoring.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"

namespace heddle::workloads::alignment {

namespace {

// clang-format off
constexpr std::int8_t blosum62_scores[Scoring::letters_max][Scoring::letters_max] = {
//    A   R   N   D   C   Q   E   G   H   I   L   K   M   F   P   S   T   W   Y   V   B   Z   X   *
    { 4, -1, -2, -2,  0, -1, -1,  0, -2, -1, -1, -1, -1, -2, -1,  1,  0, -3, -2,  0, -2, -1,  0, -4},  // A
    {-1,  5,  0, -2, -3,  1,  0, -2,  0, -3, -2,  2, -1, -3, -2, -1, -1, -3, -2, -3, -1,  0, -1, -4},  // R
    {-2,  0,  6,  1, -3,  0,  0,  0,  1, -3, -3,  0, -2, -3, -2,  1,  0, -4, -2, -3,  3,  0, -1, -4},  // N
    {-2, -2,  1,  6, -3,  0,  2, -1, -1, -3, -4, -1, -3, -3, -1,  0, -1, -4, -3, -3,  4,  1, -1, -4},  // D
    { 0, -3, -3, -3,  9, -3, -4, -3, -3, -1, -1, -3, -1, -2, -3, -1, -1, -2, -2, -1, -3, -3, -2, -4},  // C
    {-1,  1,  0,  0, -3,  5,  2, -2,  0, -3, -2,  1,  0, -3, -1,  0, -1, -2, -1, -2,  0,  3, -1, -4},  // Q
    {-1,  0,  0,  2, -4,  2,  5, -2,  0, -3, -3,  1, -2, -3, -1,  0, -1, -3, -2, -2,  1,  4, -1, -4},  // E
    { 0, -2,  0, -1, -3, -2, -2,  6, -2, -4, -4, -2, -3, -3, -2,  0, -2, -2, -3, -3, -1, -2, -1, -4},  // G
    {-2,  0,  1, -1, -3,  0,  0, -2,  8, -3, -3, -1, -2, -1, -2, -1, -2, -2,  2, -3,  0,  0, -1, -4},  // H
    {-1, -3, -3, -3, -1, -3, -3, -4, -3,  4,  2, -3,  1,  0, -3, -2, -1, -3, -1,  3, -3, -3, -1, -4},  // I
    {-1, -2, -3, -4, -1, -2, -3, -4, -3,  2,  4, -2,  2,  0, -3, -2, -1, -2, -1,  1, -4, -3, -1, -4},  // L
    {-1,  2,  0, -1, -3,  1,  1, -2, -1, -3, -2,  5, -1, -3, -1,  0, -1, -3, -2, -2,  0,  1, -1, -4},  // K
    {-1, -1, -2, -3, -1,  0, -2, -3, -2,  1,  2, -1,  5,  0, -2, -1, -1, -1, -1,  1, -3, -1, -1, -4},  // M
    {-2, -3, -3, -3, -2, -3, -3, -3, -1,  0,  0, -3,  0,  6, -4, -2, -2,  1,  3, -1, -3, -3, -1, -4},  // F
    {-1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4,  7, -1, -1, -4, -3, -2, -2, -1, -2, -4},  // P
    { 1, -1,  1,  0, -1,  0,  0,  0, -1, -2, -2,  0, -1, -2, -1,  4,  1, -3, -2, -2,  0,  0,  0, -4},  // S
    { 0, -1,  0, -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1,  1,  5, -2, -2,  0, -1, -1,  0, -4},  // T
    {-3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1,  1, -4, -3, -2, 11,  2, -3, -4, -3, -2, -4},  // W
    {-2, -2, -2, -3, -2, -1, -2, -3,  2, -1, -1, -2, -1,  3, -3, -2, -2,  2,  7, -1, -3, -2, -1, -4},  // Y
    { 0, -3, -3, -3, -1, -2, -2, -3, -3,  3,  1, -2,  1, -1, -2, -2,  0, -3, -1,  4, -3, -2, -1, -4},  // V
    {-2, -1,  3,  4, -3,  0,  1, -1,  0, -3, -4,  0, -3, -3, -2,  0, -1, -4, -3, -3,  4,  1, -1, -4},  // B
    {-1,  0,  0,  1, -3,  3,  4, -2,  0, -3, -3,  1, -1, -3, -1,  0, -1, -3, -2, -2,  1,  4, -1, -4},  // Z
    { 0, -1, -1, -1, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -2,  0,  0, -2, -1, -1, -1, -1, -1, -4},  // X
    {-4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4,  1},  // *
};
// clang-format on

constexpr std::string_view dna_letters = "ACGTN";
constexpr std::string_view protein_letters = "ARNDCQEGHILKMFPSTWYVBZX*";

std::string name(Alphabet alphabet) {
    return alphabet == Alphabet::dna ? "DNA" : "protein";
}

}  // namespace

std::string_view letters_of(Alphabet alphabet) {
    return alphabet == Alphabet::dna ? dna_letters : protein_letters;
}

int letter_of(Alphabet alphabet, char character) {
    if (character >= 'a' && character <= 'z') character = static_cast<char>(character - 'a' + 'A');
    if (alphabet == Alphabet::dna) {
        if (character == 'U') character = 'T';
        if (std::string_view("RYSWKMBDHV").find(character) != std::string_view::npos) character = 'N';
    } else {
        if (character == 'U') character = 'C';
        if (character == 'O') character = 'K';
        if (character == 'J') character = 'X';
    }
    const std::size_t place = letters_of(alphabet).find(character);
    return place == std::string_view::npos ? -1 : static_cast<int>(place);
}

Letters encode(Alphabet alphabet, std::string_view text) {
    Letters letters(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int letter = letter_of(alphabet, text[i]);
        if (letter < 0)
            throw Error(fmt::format("letter {} of the sequence is '{}', which is not in the alphabet of {}",
                                    i + 1, text[i], name(alphabet)),
                        fmt::format("use {}", letters_of(alphabet)));
        letters[i] = static_cast<Letter>(letter);
    }
    return letters;
}

std::string decode(Alphabet alphabet, std::span<const Letter> letters) {
    std::string text;
    for (const Letter letter : letters) text += letters_of(alphabet).at(letter);
    return text;
}

Scoring::Scoring(Alphabet alphabet, Gaps gaps) : alphabet_(alphabet), gaps_(gaps) {
    if (gaps.extend < 0 || gaps.open < gaps.extend || gaps.open > score_max)
        throw Error(fmt::format("gaps cost {} to open and {} to extend", gaps.open, gaps.extend),
                    fmt::format("costs are 0 to {}, and extending costs no more than opening", score_max));
}

void Scoring::set_bounds() {
    least_ = most_ = scores_[0][0];
    for (int a = 0; a < letters(); ++a) {
        for (int b = 0; b < letters(); ++b) {
            const auto score = scores_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
            least_ = std::min(least_, score);
            most_ = std::max(most_, score);
        }
    }
}

Scoring Scoring::match(Alphabet alphabet, int match, int mismatch, Gaps gaps) {
    if (match < 1 || match > score_max || mismatch > match || mismatch < -score_max)
        throw Error(fmt::format("a match scores {} and a mismatch {}", match, mismatch),
                    fmt::format("a match scores 1 to {0}, a mismatch at least -{0} and no more than a match",
                                score_max));
    Scoring scoring(alphabet, gaps);
    for (auto& row : scoring.scores_) row.fill(mismatch);
    const std::size_t certain = alphabet == Alphabet::dna ? 4 : 22;  // without N; without X and *
    for (std::size_t letter = 0; letter < certain; ++letter) scoring.scores_[letter][letter] = match;
    scoring.set_bounds();
    return scoring;
}

Scoring Scoring::blosum62(Gaps gaps) {
    Scoring scoring(Alphabet::protein, gaps);
    for (std::size_t a = 0; a < letters_max; ++a)
        std::copy_n(blosum62_scores[a], letters_max, scoring.scores_[a].begin());
    scoring.set_bounds();
    return scoring;
}

}  // namespace heddle::workloads::alignment
