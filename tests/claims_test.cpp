// Tests that processes which share work by files never both have an item, and that the items of a dead
// process are free again.
#include "host/claims.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <vector>

namespace heddle::host {
namespace {

class ClaimsInFolder : public testing::Test {
protected:
    void SetUp() override { std::filesystem::remove_all(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path folder_ = testing::TempDir() + "claims." + std::to_string(::getpid());
};

TEST_F(ClaimsInFolder, AnItemHasOneOwner) {
    Claims a(folder_, "a");
    Claims b(folder_, "b");
    EXPECT_TRUE(a.take("1"));
    EXPECT_FALSE(b.take("1"));
    EXPECT_TRUE(b.take("2"));
    a.give_back("1");
    EXPECT_TRUE(b.take("1"));
}

TEST_F(ClaimsInFolder, ProcessesThatTakeAtOnceNeverShareAnItem) {
    constexpr int processes = 6;
    constexpr int items = 100;
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            Claims claims(folder_, "owner " + std::to_string(i));
            std::ofstream log(folder_ / ("log." + std::to_string(i)));
            for (int item = 0; item < items; ++item)
                if (claims.take(std::to_string(item))) log << item << "\n";
            log.close();
            _exit(0);  // it dies with its items
        }
        children.push_back(child);
    }
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    std::map<int, int> taken;
    for (int i = 0; i < processes; ++i) {
        std::ifstream log(folder_ / ("log." + std::to_string(i)));
        for (int item = 0; log >> item;) ++taken[item];
    }
    for (int item = 0; item < items; ++item) EXPECT_EQ(taken[item], 1) << item;
}

TEST_F(ClaimsInFolder, ItemsOfTheDeadAreFree) {
    Claims dead(folder_, "dead");
    Claims alive(folder_, "alive");
    ASSERT_TRUE(dead.take("1"));
    ASSERT_TRUE(alive.take("2"));
    Claims heir(folder_, "heir", [](const std::string& owner) { return std::optional(owner == "alive"); });
    EXPECT_TRUE(heir.take("1"));
    EXPECT_FALSE(heir.take("2"));
    Claims again(folder_, "alive");
    EXPECT_TRUE(again.take("2")) << "a task that starts again takes its own items";
}

TEST_F(ClaimsInFolder, WithoutNewsAnItemIsFreeWhenItsFileIsOld) {
    Claims silent(folder_, "silent");
    ASSERT_TRUE(silent.take("1"));
    Claims other(folder_, "other");
    const auto age = [&](std::chrono::seconds seconds) {
        std::filesystem::last_write_time(folder_ / "1",
                                         std::filesystem::file_time_type::clock::now() - seconds);
    };
    age(std::chrono::seconds(50));
    EXPECT_FALSE(other.take("1"));
    age(std::chrono::seconds(70));
    silent.renew();
    EXPECT_FALSE(other.take("1")) << "renewed";
    age(std::chrono::seconds(70));
    EXPECT_TRUE(other.take("1"));
    silent.give_back("1");
    Claims third(folder_, "third");
    EXPECT_FALSE(third.take("1")) << "the former owner gives back nothing that is not its own";
}

}  // namespace
}  // namespace heddle::host
