// The letters of DNA and proteins as small numbers, and the scores of pairs and gaps: match and mismatch, or
// the table BLOSUM62. It computes no alignment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::workloads::alignment {

enum class Alphabet { dna, protein };

/// A letter's number: its place in `letters_of` its alphabet, 0 to 23.
using Letter = std::uint8_t;
using Letters = std::vector<Letter>;

/// dna: "ACGTN". protein: "ARNDCQEGHILKMFPSTWYVBZX*", the order of NCBI's matrices.
std::string_view letters_of(Alphabet alphabet);

/// The letter that stands for a character, or -1 where the alphabet has none. Lower case is as upper case.
/// DNA: U is T; the other ambiguous letters of IUPAC (R, Y, S, W, K, M, B, D, H, V) are N. Proteins: U
/// (selenocysteine) is C, O (pyrrolysine) is K, J (I or L) is X.
int letter_of(Alphabet alphabet, char character);

/// A text as letters. Errors: a character that the alphabet does not have (blanks and gaps too), with its
/// place.
Letters encode(Alphabet alphabet, std::string_view text);
std::string decode(Alphabet alphabet, std::span<const Letter> letters);

/// A gap of k letters costs open + (k - 1) * extend: `open` is what its first letter costs.
struct Gaps {
    int open = 0;
    int extend = 0;

    static Gaps linear(int cost) { return {cost, cost}; }
    bool affine() const { return open != extend; }
};

/// What a pair of letters scores and a gap costs.
class Scoring {
public:
    static constexpr int letters_max = 24;
    static constexpr int score_max = 1'000'000;  ///< the largest absolute value of a score or a cost

    /// `match` for equal letters, `mismatch` for others; N matches nothing, itself neither (of a protein: X
    /// and *). Errors: a match below 1, a negative gap cost, an extension that costs more than the opening, a
    /// number beyond `score_max`.
    static Scoring match(Alphabet alphabet, int match, int mismatch, Gaps gaps);

    /// BLOSUM62 in half bits (Henikoff and Henikoff, PNAS 89, 1992), with NCBI's rows for B, Z, X and *.
    static Scoring blosum62(Gaps gaps);

    Alphabet alphabet() const { return alphabet_; }
    int letters() const { return static_cast<int>(letters_of(alphabet_).size()); }
    Gaps gaps() const { return gaps_; }
    int of(Letter a, Letter b) const { return scores_[a][b]; }
    const std::int32_t* row(Letter a) const { return scores_[a].data(); }
    int least() const { return least_; }  ///< the least score of a pair
    int most() const { return most_; }    ///< the largest

private:
    Scoring(Alphabet alphabet, Gaps gaps);
    void set_bounds();

    Alphabet alphabet_;
    Gaps gaps_;
    std::array<std::array<std::int32_t, letters_max>, letters_max> scores_{};
    int least_ = 0;
    int most_ = 0;
};

}  // namespace heddle::workloads::alignment
