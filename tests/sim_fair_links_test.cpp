// Tests simulated links that small messages share: times do not depend on the steps of virtual time, nor
// on when a message was announced. Whether the times agree with SimGrid's is tested in
// sim_sharing_test.cpp.
#include "sim/fair_links.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "base/random.hpp"

namespace heddle::sim {
namespace {

using Passed = std::tuple<Time, NodeId, NodeId, std::uint64_t>;

constexpr NodeId nodes = 5;

/// `span`: the messages begin within so much time. All times in picoseconds.
std::vector<Passage> messages(std::uint64_t seed, std::int64_t span) {
    Random random = Random(seed).split(1);
    std::vector<Passage> all(200);
    std::uint64_t sequence = 0;
    for (Passage& passage : all) {
        // Every other one at a round time, where several begin at once.
        const auto start = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(span)));
        passage.start = Time(random.below(2) == 0 ? start : start / 10000 * 10000);
        passage.from = static_cast<NodeId>(random.below(nodes));
        passage.to = static_cast<NodeId>((passage.from + 1 + random.below(nodes - 1)) % nodes);
        passage.sequence = ++sequence;
        passage.bytes = static_cast<double>(1 + random.below(2000));
        passage.at_least = Time(static_cast<std::int64_t>(passage.bytes * 1000));
        passage.links = {passage.from, nodes + passage.to};
    }
    // Those of one pair begin in the order of their numbers, as they are sent.
    std::sort(all.begin(), all.end(), [](const Passage& a, const Passage& b) {
        return std::tie(a.start, a.sequence) < std::tie(b.start, b.sequence);
    });
    for (std::size_t i = 0; i < all.size(); ++i) all[i].sequence = i;
    return all;
}

/// Bytes per nanosecond: 1 on every link.
class Links {
public:
    Links() {
        for (NodeId i = 0; i < 2 * nodes; ++i) links.add_link(1e9);
    }
    std::vector<Passed> passed;
    FairLinks links{[this](const Passage& passage) {
        passed.emplace_back(passage.ends, passage.from, passage.to, passage.sequence);
    }};
};

std::vector<Passed> at_once(const std::vector<Passage>& all) {
    Links some;
    for (const Passage& passage : all) some.links.begin(passage);
    some.links.run(never);
    EXPECT_TRUE(some.links.empty());
    return some.passed;
}

/// Each message becomes known `ahead` before it begins, or a step later at most.
std::vector<Passed> in_steps(const std::vector<Passage>& all, Time step, Time ahead) {
    Links some;
    auto next = all.begin();
    Time until{};
    while (next != all.end() || !some.links.empty()) {
        until += step;
        for (; next != all.end() && next->start < until + ahead; ++next) some.links.begin(*next);
        some.links.run(until);
    }
    return some.passed;
}

// The longest spans are hundreds of steps: what begins far in the future waits apart, and comes back.
TEST(SimFairLinks, StepsDoNotMatter) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        for (const std::int64_t span : {20'000'000LL, 200'000'000LL, 5'000'000'000LL}) {
            const std::vector<Passage> all = messages(seed, span);
            const std::vector<Passed> expected = at_once(all);
            ASSERT_EQ(expected.size(), all.size());
            ASSERT_TRUE(std::is_sorted(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
                return std::get<0>(a) < std::get<0>(b);
            }));
            for (const Time step : {Time(1'000'000), Time(7'654'321)})
                for (const Time ahead : {Time(0), 3 * step, 1000 * step})
                    ASSERT_EQ(in_steps(all, step, ahead), expected)
                        << "seed " << seed << " span " << span << " step " << step.count();
        }
    }
}

TEST(SimFairLinks, KnowWhereWhatHasNotArrivedLeads) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Links some;
        const std::vector<Passage> all = messages(seed, 100'000'000);
        for (const Passage& passage : all) some.links.begin(passage);
        for (Time now{}; !some.links.empty(); now += Time(500'000)) {
            some.links.run(now);
            std::set<std::uint64_t> arrived;
            for (const Passed& passed : some.passed) arrived.insert(std::get<3>(passed));
            const Time soon = now + Time(2'000'000);
            std::multiset<NodeId> expected;
            std::set<NodeId> served;
            for (const Passage& passage : all) {
                if (passage.start >= now && passage.start < soon) expected.insert(passage.to);
                if (passage.start < now && !arrived.contains(passage.sequence)) served.insert(passage.to);
            }
            std::multiset<NodeId> told;
            some.links.beginning_before(soon, [&](NodeId to) { told.insert(to); });
            ASSERT_EQ(told, expected);
            for (NodeId to = 0; to < nodes; ++to) ASSERT_EQ(some.links.serves(to), served.contains(to));
        }
    }
}

}  // namespace
}  // namespace heddle::sim
