// Lists what an alignment does with each letter (match, insert, delete), and computes its score. It finds no
// alignments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/alignment/scoring.hpp"

namespace heddle::workloads::alignment {

/// So many times the same: '=' equal letters, 'X' different ones, 'I' a letter of a in a gap of b, 'D' a
/// letter of b in a gap of a (the operations of SAM, with a as the read and b as the reference).
struct Edit {
    char kind;
    std::size_t count;

    friend bool operator==(const Edit&, const Edit&) = default;
};
using Transcript = std::vector<Edit>;

/// As SAM writes it: "12=1X3D7=".
std::string cigar(const Transcript& transcript);

/// Appends `count` times `kind`, to the last edit where it is of this kind.
void append(Transcript& transcript, char kind, std::size_t count = 1);

/// What the transcript scores between these two parts, letter by letter: it knows the definition of the score
/// and nothing else. Errors: a transcript that does not fit them (other lengths, '=' of different letters,
/// 'X' of equal ones, an unknown kind).
std::int64_t score_of(const Transcript& transcript, const Scoring& scoring, std::span<const Letter> a,
                      std::span<const Letter> b);

/// A local alignment: letters [a_begin, a_end) of a with [b_begin, b_end) of b.
struct Alignment {
    std::int64_t score = 0;
    std::size_t a_begin = 0, a_end = 0;
    std::size_t b_begin = 0, b_end = 0;
    Transcript transcript;  ///< empty where nothing scores more than 0

    std::size_t length() const;       ///< columns of the alignment
    std::size_t matches() const;      ///< columns of equal letters
    std::size_t gaps() const;         ///< gaps, of whatever length
    std::size_t gap_letters() const;  ///< letters in gaps
    double identity() const;          ///< matches / length, 0 to 1; 0 where it is empty
};

}  // namespace heddle::workloads::alignment
