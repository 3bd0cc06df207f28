// Tests the hash FNV-1a with the values that its authors publish.
#include "base/fnv1a.hpp"

#include <gtest/gtest.h>

namespace heddle {
namespace {

std::uint64_t hash_of(std::string_view text) {
    Fnv1a hash;
    hash.add_text(text);
    return hash.value();
}

// draft-eastlake-fnv, appendix C: 64-bit FNV-1a of "", "a" and "foobar".
TEST(Fnv1a, HashesTextsAsItsAuthorsDo) {
    EXPECT_EQ(hash_of(""), 0xcbf29ce484222325U);
    EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cU);
    EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8U);
}

TEST(Fnv1a, AWordIsAddedInOneStep) {
    Fnv1a byte, word;
    byte.add('a');
    EXPECT_EQ(byte.value(), hash_of("a"));
    word.add(0x0102);
    EXPECT_NE(word.value(), hash_of("\x02\x01"));
    EXPECT_EQ(word.value(), (0xcbf29ce484222325U ^ 0x0102U) * 0x100000001b3U);
    EXPECT_EQ(Fnv1a(7).value(), 0xcbf29ce484222325U ^ 7U);
}

}  // namespace
}  // namespace heddle
