// Holds FixedArray to what its users rely on: objects stay where they were made, and go in reverse order.
#include "base/fixed_array.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace heddle {
namespace {

struct Note {
    Note(std::vector<int>& of_ends, int number) : ends(of_ends), value(number) {}
    Note(const Note&) = delete;
    Note& operator=(const Note&) = delete;
    ~Note() { ends.push_back(value); }

    std::vector<int>& ends;
    int value;
};

TEST(FixedArray, KeepsObjectsSideBySideWhereTheyWereMade) {
    std::vector<int> ends;
    FixedArray<Note> notes(3);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(notes.emplace_back(ends, i).value, i);
    EXPECT_EQ(notes.size(), 3U);
    EXPECT_EQ(&notes[2], &notes[0] + 2);
    int sum = 0;
    for (const Note& note : notes) sum += note.value;
    EXPECT_EQ(sum, 3);
}

TEST(FixedArray, DestroysTheLatestFirst) {
    std::vector<int> ends;
    {
        FixedArray<Note> notes(4);
        for (int i = 0; i < 3; ++i) notes.emplace_back(ends, i);
    }
    EXPECT_EQ(ends, (std::vector<int>{2, 1, 0}));
}

TEST(FixedArray, BeginsEachObjectWhereItsTypeMust) {
    struct alignas(64) Line {
        char byte = 0;
    };
    FixedArray<Line> lines(3);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&lines.emplace_back()) % 64, 0U);
}

}  // namespace
}  // namespace heddle
