// Tests how the memory ranges that runs of filaments declare are merged, if several runs share a checkout of
// pages.
#include "model/filaments/ranges.hpp"

#include <gmock/gmock.h>

namespace heddle::filaments {
namespace {

using runtime::Access;

constexpr std::size_t page = 4096;
constexpr dsm::Shared<std::byte> memory{0, 1 << 20};

struct Part {
    std::uint64_t begin, end;
    Access access;
    friend bool operator==(const Part&, const Part&) = default;
};

std::vector<Part> parts(const Ranges& ranges) {
    std::vector<Part> all;
    for (const dsm::Range& range : ranges.all())
        all.push_back({range.offset, range.offset + range.bytes, range.access});
    return all;
}

Ranges reading(std::uint64_t begin, std::uint64_t end) {
    Ranges ranges;
    ranges.reads(memory, begin, end - begin);
    return ranges;
}

TEST(Ranges, ThatLieSideBySideBecomeOne) {
    Ranges all;
    ASSERT_TRUE(all.absorb(reading(3 * page, 4 * page), page, 2));
    ASSERT_TRUE(all.absorb(reading(4 * page + 8, 5 * page), page, 2));
    ASSERT_TRUE(all.absorb(reading(2 * page, 3 * page - 8), page, 2));
    ASSERT_TRUE(all.absorb(reading(4 * page, 4 * page + 8), page, 2));
    EXPECT_THAT(parts(all), testing::ElementsAre(Part{2 * page, 5 * page, Access::read}));
}

TEST(Ranges, WithAPageBetweenThemStayApart) {
    Ranges all;
    ASSERT_TRUE(all.absorb(reading(0, page), page, 2));
    ASSERT_TRUE(all.absorb(reading(2 * page, 3 * page), page, 2));
    EXPECT_THAT(parts(all),
                testing::ElementsAre(Part{0, page, Access::read}, Part{2 * page, 3 * page, Access::read}));
}

TEST(Ranges, ThatAreWrittenAreNotThoseThatAreRead) {
    Ranges all;
    ASSERT_TRUE(all.absorb(reading(0, page), page, 2));
    Ranges writing;
    writing.writes(memory, 0, page);
    ASSERT_TRUE(all.absorb(writing, page, 2));
    EXPECT_THAT(parts(all), testing::ElementsAre(Part{0, page, Access::read}, Part{0, page, Access::write}));
}

TEST(Ranges, AreNoMoreThanFit) {
    Ranges all;
    EXPECT_TRUE(all.absorb(reading(0, page), page, 1));
    EXPECT_FALSE(all.absorb(reading(9 * page, 10 * page), page, 1));
    EXPECT_TRUE(all.absorb(reading(7, 7), page, 1)) << "an empty one needs no room";
}

}  // namespace
}  // namespace heddle::filaments
