// Tests what a launcher tells another host: it is read back as it was packed, and damage is refused.
#include "runtime/native/launch_part.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "host/descriptor.hpp"

namespace heddle::native {
namespace {

host::Descriptor file_with(const std::string& text) {
    host::Descriptor file(memfd_create("part", 0));
    EXPECT_EQ(write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    lseek(file.get(), 0, SEEK_SET);
    return file;
}

LaunchPart example() {
    return {.here = {"a", 4, 2, 1, 4},
            .nodes = 8,
            .at_start = 3,
            .rendezvous = "10.0.0.1:4711",
            .key = make_key(),
            .build = "0af3",
            .argv = {"heddle", "run", "it's 3:\n\"a\"", std::string("\0b", 2), ""},
            .remote_shell = {{"ssh", "-T"}, {"sh", "-c"}},
            .branches = 2,
            .further = {{"user@b", 6, 1, 0, 1}, {"[fe80::1]", 7, 1, 0, 2}}};
}

TEST(LaunchPart, IsReadAsItWasPackedAndNothingBeyond) {
    const LaunchPart part = example();
    const auto file = file_with(pack(part) + "more");
    EXPECT_EQ(read_launch_part(file.get()), part);
    char left[8];
    EXPECT_EQ(read(file.get(), left, sizeof left), 4);
}

TEST(LaunchPart, RefusesDamage) {
    const std::string packed = pack(example());
    Random random(1);
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string damaged = packed;
        if (i % 2 == 0) {
            damaged.resize(random.below(packed.size()));
        } else {
            damaged[random.below(packed.size())] = static_cast<char>(random());
        }
        try {
            read_launch_part(file_with(damaged).get());  // a changed key or word is another valid part
        } catch (const Error&) {
            ++refused;
        }
    }
    EXPECT_GE(refused, 1500);
}

TEST(LaunchPart, RefusesNodesThatARunDoesNotHave) {
    for (const auto& [first, count, nodes] :
         {std::tuple{0U, 0U, 4U}, {4U, 1U, 4U}, {3U, 2U, 4U}, {1U, ~0U, 4U}}) {
        LaunchPart part = example();
        part.further.clear();
        part.nodes = nodes;
        part.here.first = first;
        part.here.count = count;
        EXPECT_THROW(read_launch_part(file_with(pack(part)).get()), Error);
        part.further = {part.here};
        part.here = {};
        EXPECT_THROW(read_launch_part(file_with(pack(part)).get()), Error);
    }
    LaunchPart on_too_small_a_host = example();
    on_too_small_a_host.here.local_first = 3;
    EXPECT_THROW(read_launch_part(file_with(pack(on_too_small_a_host)).get()), Error);
    LaunchPart part = example();
    part.argv.clear();
    EXPECT_THROW(read_launch_part(file_with(pack(part)).get()), Error);
    LaunchPart without_branches = example();
    without_branches.branches = 0;
    EXPECT_THROW(read_launch_part(file_with(pack(without_branches)).get()), Error);
}

TEST(LaunchPart, ANoteSaysWhichNodeHasEnded) {
    EXPECT_EQ(ended_node("ended 17"), 17);
    for (const char* const other :
         {"begun", "ended", "ended ", "ended x", "ended 1x", "ended -1", "ended 9999999999"})
        EXPECT_FALSE(ended_node(other)) << other;
}

}  // namespace
}  // namespace heddle::native
