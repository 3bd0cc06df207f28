// Tests adaptive loops, searches and prefix sums of dataflow programs, natively, in simulation and
// in-process. With and without thieves they do what a sequential loop does, and call the program's functions
// as often as promised.
#include <gtest/gtest.h>

#include <limits>

#include "base/random.hpp"
#include "model/dataflow/adaptive.hpp"
#include "model/dataflow/adaptive_find.hpp"
#include "model/dataflow/adaptive_prefix_sum.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::dataflow {
namespace {

using runtime::Strand;
using runtime::Worker;
using testing_strands::worlds;

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

class Adaptive : public testing_strands::Strands {
protected:
    /// `body` in a strand of one node.
    void run_strand(CoreId cores, const Strand::Body& body) {
        run(1, cores, [&](Worker& worker) { Strand::start(worker, body); });
    }
    bool simulated() const { return GetParam().name.starts_with("sim"); }
};

INSTANTIATE_TEST_SUITE_P(Worlds, Adaptive, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

constexpr std::int64_t least_index = std::numeric_limits<std::int64_t>::min();

TEST(AdaptiveRange, IsCutRightlyAtTheEndsOfTheIndices) {
    detail::Range back{0, no_limit};
    const detail::Range half = back.take_back_half(64);
    EXPECT_EQ(half.begin, no_limit / 2 + 1);
    EXPECT_EQ(half.end, no_limit);
    EXPECT_EQ(back.end, half.begin);
    detail::Range front{-1000, no_limit};
    const detail::Range piece = front.take_front(64);
    EXPECT_EQ(piece.begin, -1000);
    EXPECT_EQ(piece.end, -936);
    EXPECT_EQ(front.begin, -936);
    detail::Range all{least_index, no_limit};
    EXPECT_EQ(all.take_back_half(1).begin, 0);
    EXPECT_EQ(all.take_front(no_limit).end, -1);
    EXPECT_EQ(all.take_front(no_limit).end, 0);
    EXPECT_TRUE(all.take_front(no_limit).empty());
    EXPECT_TRUE(all.take_back_half(1).empty());
}

/// So much work that thieves come meanwhile.
void work_on(Worker& worker) {
    worker.compute({1e4, 0}, [] {});
}

/// How often each index came, and by how many workers.
class Calls {
public:
    explicit Calls(std::int64_t size) : times_(static_cast<std::size_t>(size)), by_(8) {}

    void add(std::int64_t index, const Worker& worker) {
        ++times_.at(static_cast<std::size_t>(index));
        by_.at(worker.id.core) = true;
    }
    int of(std::int64_t index) const { return times_.at(static_cast<std::size_t>(index)); }
    std::int64_t sum() const {
        std::int64_t all = 0;
        for (const auto& times : times_) all += times;
        return all;
    }
    std::int64_t workers() const {
        return std::ranges::count_if(by_, [](const auto& has) { return has.load(); });
    }

private:
    std::vector<std::atomic<int>> times_;
    std::vector<std::atomic<bool>> by_;
};

TEST_P(Adaptive, ALoopRunsEachIterationOnce) {
    Calls calls(3000);
    std::int64_t sum = 0;
    run_strand(3, [&](Strand& self) {
        adaptive_for(self, 0, 3000, 16, [&](Worker& worker, std::int64_t begin, std::int64_t end) {
            for (; begin < end; ++begin) calls.add(begin, worker);
            work_on(worker);
        });
        sum = adaptive_accumulate(
            self, 0, 3000, 16, std::int64_t{5},
            [](std::int64_t begin, std::int64_t end) { return (begin + end - 1) * (end - begin) / 2; },
            [](std::int64_t a, std::int64_t b) { return a + b; });
        adaptive_for(self, 7, 7, 16, [&](std::int64_t, std::int64_t) { sum = -1; });
    });
    for (std::int64_t i = 0; i < 3000; ++i) EXPECT_EQ(calls.of(i), 1);
    EXPECT_EQ(sum, 5 + 2999 * 3000 / 2);
    if (simulated()) {
        EXPECT_EQ(calls.workers(), 3);
    }
}

TEST_P(Adaptive, PiecesHaveTheGrainOrWhatIsLeft) {
    std::vector<std::int64_t> sizes;
    run_strand(1, [&](Strand& self) {
        const auto note = [&](std::int64_t begin, std::int64_t end) { sizes.push_back(end - begin); };
        adaptive_for(self, 5, 25, 8, note);
        adaptive_for(self, 5, 25, no_limit, note);
        adaptive_for(self, 5, 8, 0, note);
    });
    EXPECT_EQ(sizes, (std::vector<std::int64_t>{8, 8, 4, 20, 1, 1, 1}));
}

// --- searches

TEST_P(Adaptive, ASearchFindsTheLeastIndexAndCallsNoneTwice) {
    constexpr std::int64_t size = 2000;
    for (const std::int64_t grain : {1, 7, 64}) {
        for (const std::int64_t found : {0, 1, 63, 999, 1000, 1999, 2000}) {
            Random random(static_cast<std::uint64_t>(found + grain));
            std::vector<char> holds(size);
            for (std::int64_t i = found; i < size; ++i)
                holds[static_cast<std::size_t>(i)] = i == found || random.below(100) == 0;
            Calls calls(size);
            std::int64_t answer = -1;
            run_strand(3, [&](Strand& self) {
                answer = adaptive_find(self, 0, size, grain, [&](Worker& worker, std::int64_t i) {
                    calls.add(i, worker);
                    work_on(worker);
                    return holds[static_cast<std::size_t>(i)] != 0;
                });
            });
            EXPECT_EQ(answer, found) << "grain " << grain;
            for (std::int64_t i = 0; i < size; ++i) {
                EXPECT_LE(calls.of(i), 1) << i;
                EXPECT_GE(calls.of(i), i <= found ? 1 : 0) << i;
            }
            if (simulated() && found > 63) {
                EXPECT_EQ(calls.workers(), 3);
            }
        }
    }
}

/// Thieves are in the middle of their parts when the owner comes to the one index that holds.
TEST_P(Adaptive, PartsToTheRightOfAFoundIndexStop) {
    constexpr std::int64_t size = 40'000, found = 100;
    for (const CoreId cores : {CoreId{1}, CoreId{4}}) {
        Calls calls(size);
        run_strand(cores, [&](Strand& self) {
            EXPECT_EQ(adaptive_find(self, 0, size, 8,
                                    [&](Worker& worker, std::int64_t i) {
                                        calls.add(i, worker);
                                        work_on(worker);
                                        return i == found;
                                    }),
                      found);
        });
        if (cores == 1) {
            EXPECT_EQ(calls.sum(), found + 1);
        } else if (simulated()) {
            EXPECT_EQ(calls.workers(), 4);
            EXPECT_LT(calls.sum(), found + 2000);
        }
    }
}

TEST_P(Adaptive, ASearchMayBeOfNothingOrOfOnePiece) {
    std::vector<std::int64_t> answers;
    run_strand(2, [&](Strand& self) {
        const auto find = [&](std::int64_t begin, std::int64_t end, std::int64_t grain, std::int64_t from) {
            answers.push_back(
                adaptive_find(self, begin, end, grain, [&](std::int64_t i) { return i >= from; }));
        };
        find(3, 3, 8, 0);
        find(5, 3, 8, 0);
        find(3, 4, 8, 3);
        find(3, 4, 8, 4);
        find(-5, 30, no_limit, -2);
        find(-5, 30, 0, 29);
        find(-5, 30, 1000, 30);
    });
    EXPECT_EQ(answers, (std::vector<std::int64_t>{3, 3, 3, 4, -2, 29, 30}));
}

// --- prefix sums

/// x -> a x + b modulo 2^64: one after the other is associative, and not commutative.
struct Affine {
    std::uint64_t a = 1;
    std::uint64_t b = 0;
    bool operator==(const Affine&) const = default;
};
Affine first_then(const Affine& first, const Affine& then) {
    return {then.a * first.a, then.a * first.b + then.b};
}

std::vector<Affine> some_maps(std::size_t size) {
    Random random(size);
    std::vector<Affine> maps(size);
    for (Affine& map : maps) map = {random() | 1, random()};
    return maps;
}
/// By definition.
std::vector<Affine> prefixes_of(const std::vector<Affine>& maps) {
    std::vector<Affine> sums;
    for (const Affine& map : maps) sums.push_back(sums.empty() ? map : first_then(sums.back(), map));
    return sums;
}

TEST_P(Adaptive, APrefixSumIsThatOfTheSequentialLoop) {
    for (const std::size_t size : {2U, 63U, 64U, 1000U, 3001U}) {
        const std::vector<Affine> maps = some_maps(size);
        for (const std::int64_t grain : {1, 5, 64}) {
            for (const CoreId cores : {CoreId{2}, CoreId{4}}) {
                std::vector<Affine> sums(size);
                std::atomic<std::size_t> operations{0};
                run_strand(cores, [&](Strand& self) {
                    adaptive_prefix_sum(self, maps.begin(), maps.end(), sums.begin(), grain,
                                        [&](Worker& worker, const Affine& a, const Affine& b) {
                                            ++operations;
                                            work_on(worker);
                                            return first_then(a, b);
                                        });
                });
                EXPECT_EQ(sums, prefixes_of(maps)) << size << " by " << grain << " on " << cores;
                // An element is scanned, and the sum before it is added to it; a part's sum is added once.
                EXPECT_LE(operations, 2 * size + 2 * size / static_cast<std::size_t>(grain));
                if (simulated() && size > 100) {
                    EXPECT_GT(operations, size);
                }
            }
        }
    }
}

TEST_P(Adaptive, APrefixSumTakesNoOperationMoreWithoutThieves) {
    const std::vector<Affine> maps = some_maps(500);
    std::vector<Affine> sums = maps;
    int operations = 0;
    run_strand(1, [&](Strand& self) {
        adaptive_prefix_sum(self, sums.begin(), sums.end(), sums.begin(), 8,
                            [&](const Affine& a, const Affine& b) {
                                ++operations;
                                return first_then(a, b);
                            });
    });
    EXPECT_EQ(sums, prefixes_of(maps));
    EXPECT_EQ(operations, 499);
}

/// In place, of values that own memory.
TEST_P(Adaptive, APrefixSumOfWordsIsInTheirOrder) {
    std::vector<std::string> words;
    for (int i = 0; i < 150; ++i) words.push_back(std::to_string(i) + " ");
    std::string all;
    std::vector<std::string> expected;
    for (const std::string& word : words) expected.push_back(all += word);
    run_strand(3, [&](Strand& self) {
        adaptive_prefix_sum(self, words.begin(), words.end(), words.begin(), 2,
                            [](Worker& worker, const std::string& a, const std::string& b) {
                                work_on(worker);
                                return a + b;
                            });
    });
    EXPECT_EQ(words, expected);
}

TEST_P(Adaptive, ASearchMayHaveNoLimit) {
    for (const std::int64_t begin : {std::int64_t{-1000}, std::int64_t{0}}) {
        std::int64_t found = 0;
        std::atomic<int> outside{0};
        run_strand(3, [&](Strand& self) {
            found = adaptive_find(self, begin, no_limit, 64, [&](Worker& worker, std::int64_t i) {
                work_on(worker);
                outside += i < begin ? 1 : 0;
                return i >= 2000 || i < begin;
            });
        });
        EXPECT_EQ(found, 2000);
        EXPECT_EQ(outside, 0);
    }
}

TEST_P(Adaptive, APrefixSumMayBeOfNothingOrOfOnePiece) {
    const std::vector<long> in{3, 1, 4, 1, 5};
    std::vector<long> out(6, -1);
    std::vector<long> one_piece(5), least_grain(5);
    run_strand(2, [&](Strand& self) {
        const auto plus = [](long a, long b) { return a + b; };
        adaptive_prefix_sum(self, in.begin(), in.begin(), out.begin(), 8, plus);
        adaptive_prefix_sum(self, in.begin(), in.begin() + 1, out.begin() + 1, 8, plus);
        adaptive_prefix_sum(self, in.begin(), in.end(), one_piece.begin(), no_limit, plus);
        adaptive_prefix_sum(self, in.begin(), in.end(), least_grain.begin(), -3, plus);
    });
    EXPECT_EQ(out, (std::vector<long>{-1, 3, -1, -1, -1, -1}));
    EXPECT_EQ(one_piece, (std::vector<long>{3, 4, 8, 9, 14}));
    EXPECT_EQ(least_grain, one_piece);
}

}  // namespace
}  // namespace heddle::dataflow
