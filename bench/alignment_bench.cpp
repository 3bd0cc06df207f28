// Compares the speed of Heddle's block alignment with parasail's local aligners. All run in turn, several
// times; the medians count, in cells per second. The output is Heddle's speed over parasail's, with a note if
// scores differ.
#include <fmt/core.h>
#include <parasail.h>
#include <parasail/matrices/blosum62.h>

#include <time.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "workloads/alignment/block.hpp"

namespace {

using namespace heddle;
using namespace heddle::workloads::alignment;

constexpr int rounds = 5;

struct Case {
    std::string name;
    Scoring scoring;
    const parasail_matrix_t* matrix;
    bool similar;
    std::size_t size;
};

struct Contestant {
    std::string name;
    bool ours;
    std::function<long()> score;
    std::vector<double> rates{};  // 10^9 cells a second
    bool wrong = false;

    double median() {
        std::sort(rates.begin(), rates.end());
        return rates[rates.size() / 2];
    }
};

/// Random letters; for `similar` sequences one in ten of the first one's is drawn again.
std::pair<Letters, Letters> sequences(const Case& from) {
    Random random(from.size);
    const std::uint64_t kinds = from.scoring.alphabet() == Alphabet::dna ? 4 : 20;
    Letters a(from.size), b(from.size);
    for (std::size_t i = 0; i < from.size; ++i) {
        a[i] = static_cast<Letter>(random.below(kinds));
        const bool same = from.similar && random.below(10) > 0;
        b[i] = same ? a[i] : static_cast<Letter>(random.below(kinds));
    }
    return {a, b};
}

/// The matrix in square blocks of this size, as a wavefront would compute it; 0: one block.
long in_blocks(const Scoring& scoring, const Letters& a, const Letters& b, std::size_t block, Path path,
               bool narrow) {
    if (block == 0) block = std::max(a.size(), b.size());
    std::vector<Score> row_h(b.size()), row_f(b.size()), column_h(a.size()), column_e(a.size());
    Best best;
    for (std::size_t j = 0; j < b.size(); j += block) {
        const std::size_t width = std::min(block, b.size() - j);
        const Columns columns(scoring, std::span(b).subspan(j, width), path, narrow);
        Score corner = 0;
        for (std::size_t i = 0; i < a.size(); i += block) {
            const std::size_t height = std::min(block, a.size() - i);
            const Score next = column_h[i + height - 1];
            const Best found = compute_block(
                std::span(a).subspan(i, height), columns,
                {corner, std::span(row_h).subspan(j, width), std::span(row_f).subspan(j, width),
                 std::span(column_h).subspan(i, height), std::span(column_e).subspan(i, height)});
            corner = next;
            if (found.score > best.score) best = found;
        }
    }
    return best.score;
}

std::vector<Contestant> contestants(const Case& problem, const Letters& a, const Letters& b,
                                    const std::string& text_a, const std::string& text_b) {
    std::vector<Contestant> all;
    const auto ours = [&](const std::string& name, std::size_t block, Path path, bool narrow = true) {
        if (!available(path)) return;
        all.push_back({name, true, [&, block, path, narrow] {
                           return in_blocks(problem.scoring, a, b, block, path, narrow);
                       }});
    };
    ours("avx2, one block", 0, Path::avx2);
    ours("avx2, one block, 16 bits", 0, Path::avx2, false);
    ours("avx2, blocks of 512", 512, Path::avx2);
    ours("avx2, blocks of 128", 128, Path::avx2);
    ours("portable, blocks of 512", 512, Path::portable);
    if (a.size() <= 2000) ours("plain, one block", 0, Path::plain);
    for (const std::string name : {"sw_striped_16", "sw_scan_16", "sw_striped_sat", "sw_scan_sat"}) {
        const auto function = parasail_lookup_function(name.c_str());
        if (function == nullptr) continue;
        all.push_back({"parasail " + name, false, [&, function] {
                           parasail_result_t* result =
                               function(text_a.c_str(), static_cast<int>(text_a.size()), text_b.c_str(),
                                        static_cast<int>(text_b.size()), problem.scoring.gaps().open,
                                        problem.scoring.gaps().extend, problem.matrix);
                           const long score = parasail_result_is_saturated(result) ? -1 : result->score;
                           parasail_result_free(result);
                           return score;
                       }});
    }
    return all;
}

double seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);  // others use the machine
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void compare(const Case& problem) {
    const auto [a, b] = sequences(problem);
    const std::string text_a = decode(problem.scoring.alphabet(), a),
                      text_b = decode(problem.scoring.alphabet(), b);
    auto all = contestants(problem, a, b, text_a, text_b);
    const double cells = static_cast<double>(a.size()) * static_cast<double>(b.size());
    const int repeats = static_cast<int>(std::clamp(2e8 / cells, 1.0, 1000.0));
    const long expected = all.front().score();
    for (int round = 0; round < rounds; ++round) {
        for (Contestant& each : all) {
            long score = 0;
            const double begin = seconds();
            for (int repeat = 0; repeat < repeats; ++repeat) score = each.score();
            each.rates.push_back(cells * repeats / (seconds() - begin) / 1e9);
            each.wrong = score != expected;
            if (score == -1) each.rates.back() = 0;  // saturated: no answer
        }
    }
    double theirs = 0;
    for (Contestant& each : all)
        if (!each.ours) theirs = std::max(theirs, each.median());
    fmt::print("\n{}, {} x {}, gaps {} and {}, score {}\n", problem.name, a.size(), b.size(),
               problem.scoring.gaps().open, problem.scoring.gaps().extend, expected);
    for (Contestant& each : all) {
        if (each.median() == 0) continue;
        fmt::print("  {:28} {:6.2f} G cells/s, {:.2f} of parasail's best{}\n", each.name, each.median(),
                   each.median() / theirs, each.wrong ? "; its score is another one" : "");
    }
}

}  // namespace

int main() {
    parasail_matrix_t* dna = parasail_matrix_create("ACGT", 2, -1);
    for (const std::size_t size : {500UL, 5000UL}) {
        for (const bool similar : {false, true}) {
            const std::string kind = similar ? ", similar" : ", random";
            for (const Gaps gaps : {Gaps::linear(2), Gaps{5, 1}})
                compare({"DNA" + kind, Scoring::match(Alphabet::dna, 2, -1, gaps), dna, similar, size});
            for (const Gaps gaps : {Gaps::linear(4), Gaps{10, 1}})
                compare({"protein" + kind, Scoring::blosum62(gaps), &parasail_blosum62, similar, size});
        }
    }
    parasail_matrix_free(dna);
}
