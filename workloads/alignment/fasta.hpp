// Reads sequences from FASTA files and checks their letters. scoring.hpp turns the letters into numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/alignment/scoring.hpp"

namespace heddle::workloads::alignment {

struct Sequence {
    std::string name;     ///< what follows '>' up to the first blank; may be empty
    std::string letters;  ///< upper case, as written: `encode` knows what stands for what
};

/// The records of a text in FASTA (Pearson and Lipman, PNAS 85, 1988). Lines end in LF or CRLF; blanks and
/// tabs between letters and blank lines do not matter; lower case (soft masking) becomes upper case; lines
/// that begin with ';' are comments. A '*' that ends a protein is left out; one inside stays, as a stop
/// codon. Errors (heddle::Error with `file` and line): no record, letters before the first '>', a record
/// without letters, a character that `letter_of` does not know.
std::vector<Sequence> parse_fasta(std::string_view text, Alphabet alphabet,
                                  const std::string& file = "FASTA");

/// The same, of a file. Errors: also a file that cannot be read.
std::vector<Sequence> read_fasta(const std::string& path, Alphabet alphabet);

}  // namespace heddle::workloads::alignment
