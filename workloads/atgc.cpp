// Reads the settings of ATGC: two sequences from files or random, and the scores.
#include "workloads/atgc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/random.hpp"
#include "workloads/alignment/block.hpp"
#include "workloads/alignment/fasta.hpp"

namespace heddle::workloads {

namespace {

using namespace alignment;

Alphabet alphabet_of(const Settings& settings) {
    return settings.text("alphabet") == "dna" ? Alphabet::dna : Alphabet::protein;
}

Scoring scoring_of(const Settings& settings) {
    const auto number = [&](const char* name) { return settings.integer<int>(name); };
    Gaps gaps{number("gap_open"), number("gap_open")};
    if (settings.stated("gap_extend")) gaps.extend = number("gap_extend");
    if (settings.text("matrix") == "blosum62") {
        if (alphabet_of(settings) == Alphabet::protein) return Scoring::blosum62(gaps);
        throw Error("BLOSUM62 scores proteins, and the alphabet is dna", "set workload.alphabet to protein",
                    settings.where("matrix"));
    }
    return Scoring::match(alphabet_of(settings), number("match"), -number("mismatch"), gaps);
}

std::vector<Letters> read_file(const Settings& settings, const char* name) {
    const auto most = settings.integer<std::size_t>("length");
    std::vector<Letters> all;
    for (const Sequence& sequence : read_fasta(settings.path(name), alphabet_of(settings))) {
        all.push_back(encode(alphabet_of(settings), sequence.letters));
        if (settings.stated("length") && all.back().size() > most) all.back().resize(most);
    }
    return all;
}

/// Two random sequences of which the second is the first with one letter in eight changed.
std::vector<Letters> related(const Settings& settings) {
    const auto length = settings.integer<std::size_t>("length");
    const std::uint64_t letters = alphabet_of(settings) == Alphabet::dna ? 4 : 20;
    Random random(settings.integer<std::uint64_t>("seed"));
    Letters first(length), second;
    for (Letter& letter : first) letter = static_cast<Letter>(random.below(letters));
    for (const Letter letter : first) {
        const std::uint64_t change = random.below(24);
        if (change == 0) continue;                                                            // lost
        second.push_back(change == 1 ? static_cast<Letter>(random.below(letters)) : letter);  // another
        if (change == 2) second.push_back(static_cast<Letter>(random.below(letters)));        // one more
    }
    // Without letters it would stand for all pairs of the first.
    if (second.empty()) second.push_back(first.front());
    return {std::move(first), std::move(second)};
}

}  // namespace

AtgcProblem AtgcProblem::read(const Settings& settings) {
    const Scoring scoring = [&] {
        try {
            return scoring_of(settings);
        } catch (const Error& error) {
            throw error.at(settings.where("gap_open"));
        }
    }();
    AtgcProblem problem{scoring, {}, {}};
    if (!settings.stated("a") && settings.stated("b")) {
        throw Error("b is stated and a is not",
                    "state both, or a alone: then all pairs of its sequences are compared",
                    settings.where("b"));
    }
    try {
        if (!settings.stated("a")) {
            auto both = related(settings);
            problem.b = std::move(both.back());
            both.pop_back();
            problem.a = std::move(both);
        } else {
            problem.a = read_file(settings, "a");
            if (settings.stated("b")) {
                problem.a.resize(1);
                problem.b = read_file(settings, "b").front();
            } else if (problem.a.size() < 2) {
                throw Error("one sequence has no pair",
                            "state workload.b as well, or a file of several sequences");
            }
        }
    } catch (const Error& error) {
        throw error.where().file.empty() ? error.at(settings.where("a")) : error;
    }
    problem.expect_score_fits(settings);
    problem.rows = settings.integer<std::uint32_t>("block_rows");
    problem.columns = settings.integer<std::uint32_t>("block_columns");
    problem.cell_cost = settings.number("unit_cost");
    return problem;
}

void AtgcProblem::expect_score_fits(const Settings& settings) const {
    std::size_t first = 0, second = b.size();
    for (const Letters& letters : a) {
        if (letters.size() > first) {
            if (pairs()) second = first;
            first = letters.size();
        } else if (pairs()) {
            second = std::max(second, letters.size());
        }
    }
    // A score is a sum of matches; borders hold a gap's cost less.
    constexpr double score_fits = std::numeric_limits<Score>::max() - 4.0 * Scoring::score_max;
    if (static_cast<double>(std::min(first, second)) * scoring.most() <= score_fits) return;
    throw Error(fmt::format("two sequences of {} letters may score more than {:.0f}", std::min(first, second),
                            score_fits),
                "lower workload.match, or compare shorter sequences", settings.where("match"));
}

std::vector<Setting> AtgcProblem::settings() {
    return {
        {"a", SettingKind::input_path, "",
         "FASTA file of the first sequence, whose letters are the matrix's rows; without b: all "
         "pairs of its sequences are compared"},
        {"b", SettingKind::input_path, "", "FASTA file of the second"},
        {"length",
         SettingKind::integer,
         "4000",
         "letters of a random sequence, which is compared with a changed copy where "
         "no file is stated; of files: only so many, where stated",
         {},
         1,
         1e8},
        {"seed", SettingKind::integer, "1", "of the random sequences", {}, 0, integer_max},
        {"alphabet", SettingKind::choice, "dna", "of the letters", {"dna", "protein"}},
        {"matrix", SettingKind::choice, "none", "of the scores", {"none", "blosum62"}},
        {"match",
         SettingKind::integer,
         "1",
         "score of two equal letters, without a matrix",
         {},
         1,
         Scoring::score_max},
        {"mismatch", SettingKind::integer, "1", "what two different letters cost", {}, 0, Scoring::score_max},
        {"gap_open",
         SettingKind::integer,
         "1",
         "what the first letter of a gap costs",
         {},
         0,
         Scoring::score_max},
        {"gap_extend",
         SettingKind::integer,
         "",
         "what each further one costs; initially the same",
         {},
         0,
         Scoring::score_max},
        {"block_rows",
         SettingKind::integer,
         "256",
         "rows of a block, which is the work of one fiber",
         {},
         1,
         1e9},
        {"block_columns", SettingKind::integer, "512", "its columns", {}, 1, 1e9},
        {"output", SettingKind::output_path, "",
         "file for the alignment: its place, what it scores, its CIGAR"},
        {"check",
         SettingKind::choice,
         "whole",
         "whole: computes the matrix once more as one block",
         {"whole", "none"}},
    };
}

}  // namespace heddle::workloads
