// Tests what a look of a thief notes of objects: notes of earlier looks never count, however many looks there
// were and wherever objects lie.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/random.hpp"
#include "model/dataflow/notes.hpp"

namespace heddle::dataflow {
namespace {

using Seen = Notes::Seen;

TEST(DataflowNotes, OfAnEarlierLookDoNotCountThoughTheirNumberIsUsedAgain) {
    Access first{}, second{};
    Cell cell;
    Notes notes;
    EXPECT_FALSE(notes.has(first));
    notes.add(first, &cell, Seen::busy);
    EXPECT_TRUE(notes.has(first));
    notes.clear();
    EXPECT_FALSE(notes.has(first));
    notes.add(second, &cell, Seen::value);
    EXPECT_FALSE(notes.has(first));
    EXPECT_TRUE(notes.has(second));
}

TEST(DataflowNotes, OfAnObjectThatHasEndedAreNotThoseOfTheNextAtItsPlace) {
    Access object{};
    Cell cell;
    Notes notes;
    notes.add(object, &cell, Seen::busy);
    object = Access{};
    EXPECT_FALSE(notes.has(object));
}

TEST(DataflowNotes, AreWhatWasNotedLast) {
    Random random(1);
    std::vector<Access> objects(20);
    std::vector<Cell> cells(5);
    std::map<const Access*, std::pair<Cell*, Seen>> expected;
    Notes notes;
    for (int i = 0; i < 20'000; ++i) {
        Access& object = objects[random.below(objects.size())];
        Cell* const cell = &cells[random.below(cells.size())];
        const auto seen = static_cast<Seen>(random.below(4));
        ASSERT_EQ(notes.has(object), expected.contains(&object));
        if (!notes.has(object)) {
            notes.add(object, cell, seen);
            expected[&object] = {cell, seen};
        } else if (random.below(2) == 0) {
            Notes::set(object, seen);
            expected[&object].second = seen;
        } else {
            notes.set_value(object, cell);
            expected[&object] = {cell, Seen::value};
        }
        ASSERT_EQ(notes.size(), expected.size());
        for (const auto& [root, what] : expected) {
            ASSERT_EQ(notes.value(*root), what.first);
            ASSERT_EQ(Notes::seen(*root), what.second);
        }
        if (random.below(30) != 0) continue;
        notes.clear();
        expected.clear();
    }
}

}  // namespace
}  // namespace heddle::dataflow
