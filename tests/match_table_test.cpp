// Tests the tables in which messages and receives find each other, against a list that is searched from its
// beginning.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "runtime/comm/match_table.hpp"

namespace heddle::runtime {
namespace {

struct Item : Matched {
    std::uint64_t number = 0;
};

bool fits(const Match& match, const Matched& item) {
    return (!match.source || *match.source == item.source) && (!match.tag || *match.tag == item.tag);
}

Match random_match(Random& random) {
    Match match;
    if (random.below(2) == 0) match.source = random.below(5);
    if (random.below(2) == 0) match.tag = random.below(7);
    return match;
}

/// Tables grow for some time and become empty again, because they keep few items in another way than many.
bool puts_next(Random& random, int step, std::size_t size) {
    const bool grows = step / 3000 % 2 == 0;
    return random.below(100) < (grows ? 60U : 25U) && size < 300;
}

TEST(MatchTable, FindsTheOldestMessage) {
    Random random(1);
    Messages table;
    std::list<std::unique_ptr<Item>> naive;
    std::uint64_t made = 0;
    for (int step = 0; step < 1'000'000; ++step) {
        if (puts_next(random, step, naive.size())) {
            auto item = std::make_unique<Item>();
            item->source = random.below(5);
            item->tag = random.below(7);
            item->number = made++;
            table.put(*item);
            naive.push_back(std::move(item));
            continue;
        }
        const Match match = random_match(random);
        const auto expected =
            std::find_if(naive.begin(), naive.end(), [&](const auto& item) { return fits(match, *item); });
        Matched* const found = table.find(match);
        ASSERT_EQ(found != nullptr, expected != naive.end()) << step;
        if (!found) continue;
        ASSERT_EQ(static_cast<Item*>(found)->number, (*expected)->number) << step;
        table.remove(*found);
        naive.erase(expected);
    }
    EXPECT_EQ(table.size(), naive.size());
}

TEST(MatchTable, GivesAMessageToTheOldestReceive) {
    struct Receive : Matched {
        Match match;
        std::uint64_t number = 0;
    };
    Random random(2);
    Receives table;
    std::list<std::unique_ptr<Receive>> naive;
    std::vector<std::unique_ptr<Receive>> done;
    std::uint64_t made = 0;
    std::uint64_t taken = 0;
    for (int step = 0; step < 1'000'000; ++step) {
        if (puts_next(random, step, naive.size())) {
            auto receive = std::make_unique<Receive>();
            receive->match = random_match(random);
            receive->number = made++;
            table.put(*receive, receive->match);
            naive.push_back(std::move(receive));
            continue;
        }
        Matched message;
        message.source = random.below(5);
        message.tag = random.below(7);
        const auto expected = std::find_if(
            naive.begin(), naive.end(), [&](const auto& receive) { return fits(receive->match, message); });
        Matched* const found = table.take(message.source, message.tag);
        ASSERT_EQ(found != nullptr, expected != naive.end()) << step;
        if (!found) continue;
        ASSERT_EQ(static_cast<Receive*>(found)->number, (*expected)->number) << step;
        naive.erase(expected);
        ++taken;
    }
    EXPECT_GT(taken, 250'000U);
}

}  // namespace
}  // namespace heddle::runtime
