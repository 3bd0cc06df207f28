// Writes an alignment in SAM's notation, and computes its score from its letters alone.
#include "workloads/alignment/transcript.hpp"

#include <fmt/core.h>

#include "base/error.hpp"

namespace heddle::workloads::alignment {

namespace {

[[noreturn]] void misfit(const std::string& what) {
    throw Error("the transcript does not fit the sequences: " + what,
                "score the parts of the sequences that it was made from");
}

bool is_gap(const Edit& edit) {
    return edit.kind == 'I' || edit.kind == 'D';
}

}  // namespace

std::string cigar(const Transcript& transcript) {
    std::string text;
    for (const Edit& edit : transcript) text += fmt::format("{}{}", edit.count, edit.kind);
    return text;
}

void append(Transcript& transcript, char kind, std::size_t count) {
    if (count == 0) return;
    if (!transcript.empty() && transcript.back().kind == kind)
        transcript.back().count += count;
    else
        transcript.push_back({kind, count});
}

std::int64_t score_of(const Transcript& transcript, const Scoring& scoring, std::span<const Letter> a,
                      std::span<const Letter> b) {
    std::int64_t score = 0;
    std::size_t i = 0, j = 0;
    char before = 0;
    for (const Edit& edit : transcript) {
        for (std::size_t count = 0; count < edit.count; ++count, before = edit.kind) {
            if (is_gap(edit)) {
                score -= before == edit.kind ? scoring.gaps().extend : scoring.gaps().open;
                ++(edit.kind == 'I' ? i : j);
            } else {
                if (edit.kind != '=' && edit.kind != 'X') misfit(fmt::format("it has a '{}'", edit.kind));
                if (i >= a.size() || j >= b.size()) break;
                if ((a[i] == b[j]) != (edit.kind == '='))
                    misfit(fmt::format("'{}' at letter {} of a and {} of b", edit.kind, i + 1, j + 1));
                score += scoring.of(a[i++], b[j++]);
            }
        }
    }
    std::size_t a_size = 0, b_size = 0;
    for (const Edit& edit : transcript) {
        if (edit.kind != 'D') a_size += edit.count;
        if (edit.kind != 'I') b_size += edit.count;
    }
    if (a_size != a.size() || b_size != b.size())
        misfit(fmt::format("it is for {} letters of a and {} of b, and they have {} and {}", a_size, b_size,
                           a.size(), b.size()));
    return score;
}

std::size_t Alignment::length() const {
    std::size_t sum = 0;
    for (const Edit& edit : transcript) sum += edit.count;
    return sum;
}

std::size_t Alignment::matches() const {
    std::size_t sum = 0;
    for (const Edit& edit : transcript) sum += edit.kind == '=' ? edit.count : 0;
    return sum;
}

std::size_t Alignment::gaps() const {
    std::size_t sum = 0;
    for (const Edit& edit : transcript) sum += is_gap(edit);
    return sum;
}

std::size_t Alignment::gap_letters() const {
    std::size_t sum = 0;
    for (const Edit& edit : transcript) sum += is_gap(edit) ? edit.count : 0;
    return sum;
}

double Alignment::identity() const {
    return transcript.empty() ? 0.0 : static_cast<double>(matches()) / static_cast<double>(length());
}

}  // namespace heddle::workloads::alignment
