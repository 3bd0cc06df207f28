// Tests that processes which share work by files never both have an item, also if both find its owner dead.
// The items of a dead process are free again.
#include "host/claims.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle::host {
namespace {

class ClaimsInFolder : public testing::Test {
protected:
    void SetUp() override { std::filesystem::remove_all(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string text_of(const std::string& name) const {
        std::ifstream file(folder_ / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
    }

    /// Six processes take all items at once, and die with them.
    void expect_one_owner_each(const Claims::Lives& lives = {}) const {
        constexpr int processes = 6;
        std::vector<pid_t> children;
        for (int i = 0; i < processes; ++i) {
            const pid_t child = fork();
            if (child == 0) {
                Claims claims(folder_, "owner " + std::to_string(i), lives);
                std::ofstream log(folder_ / ("log." + std::to_string(i)));
                for (int item = 0; item < items; ++item)
                    if (claims.take(std::to_string(item))) log << item << "\n";
                log.close();
                _exit(0);
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

    static constexpr int items = 100;
    static constexpr auto only_dead_has_ended = [](const std::string& owner) {
        return std::optional(owner != "dead");
    };

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
    expect_one_owner_each();
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

// Both find the owner dead. The slow one learns it while the quick one takes the item.
TEST_F(ClaimsInFolder, OfTwoHeirsOneTakesTheItem) {
    Claims dead(folder_, "dead");
    ASSERT_TRUE(dead.take("1"));
    Claims quick(folder_, "quick", only_dead_has_ended);
    bool quick_took = false;
    Claims slow(folder_, "slow", [&](const std::string& owner) {
        quick_took = quick.take("1");
        return only_dead_has_ended(owner);
    });
    EXPECT_FALSE(slow.take("1"));
    EXPECT_TRUE(quick_took);
    EXPECT_EQ(text_of("1"), "quick");
}

// The owner gives the item back while another finds it dead, and a third takes it.
TEST_F(ClaimsInFolder, AnHeirDoesNotReplaceWhatCameAfterTheDead) {
    Claims dead(folder_, "dead");
    ASSERT_TRUE(dead.take("1"));
    Claims third(folder_, "third");
    Claims slow(folder_, "slow", [&](const std::string& owner) {
        dead.give_back("1");
        EXPECT_TRUE(third.take("1"));
        return only_dead_has_ended(owner);
    });
    EXPECT_FALSE(slow.take("1"));
    EXPECT_EQ(text_of("1"), "third");
}

TEST_F(ClaimsInFolder, HeirsThatTakeAtOnceNeverShareAnItem) {
    Claims dead(folder_, "dead");
    for (int item = 0; item < items; ++item) ASSERT_TRUE(dead.take(std::to_string(item)));
    expect_one_owner_each(only_dead_has_ended);
}

TEST_F(ClaimsInFolder, AnHeirThatDiedOnItsWayIsInheritedFrom) {
    Claims heir(folder_, "heir", only_dead_has_ended);
    write("1", "dead");
    write("1.heir", "alive");
    EXPECT_FALSE(heir.take("1"));
    write("1.heir", "dead");
    EXPECT_TRUE(heir.take("1"));
    EXPECT_EQ(text_of("1"), "heir");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "1.heir"));
}

TEST_F(ClaimsInFolder, AFormerOwnerDoesNotRenewTheClaimOfAnother) {
    Claims old(folder_, "an owner with a long name");
    ASSERT_TRUE(old.take("1"));
    Claims heir(folder_, "heir", [](const std::string&) { return std::optional(false); });
    ASSERT_TRUE(heir.take("1"));
    old.renew();
    EXPECT_EQ(text_of("1"), "heir");
    heir.renew();
    EXPECT_EQ(text_of("1"), "heir");
    heir.give_back("1");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "1"));
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

/// Sets a variable of the environment, or none; restores it.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        set(value);
    }
    ~Variable() { set(before_ ? before_->c_str() : nullptr); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    void set(const char* value) { value ? setenv(name_, value, 1) : unsetenv(name_); }

    const char* name_;
    std::optional<std::string> before_;
};

/// A child of this process does not get what this process has.
void expect_another_owner(const std::filesystem::path& folder) {
    Claims parent(folder, owner_of_this_process(), slurm_task_runs);
    ASSERT_TRUE(parent.take("1"));
    const pid_t child = fork();
    if (child == 0) {
        Claims claims(folder, owner_of_this_process(), slurm_task_runs);
        _exit(claims.take("1") ? 1 : 0);
    }
    int state = 0;
    waitpid(child, &state, 0);
    EXPECT_EQ(state, 0);
}

// Several of them may share work in one allocation.
TEST_F(ClaimsInFolder, ProcessesOfOneSlurmJobAreDifferentOwners) {
    const Variable job("SLURM_JOB_ID", "7");
    const Variable array("SLURM_ARRAY_JOB_ID", nullptr);
    expect_another_owner(folder_);
}

TEST_F(ClaimsInFolder, ProcessesOfOneTaskOfASlurmArrayAreDifferentOwners) {
    const Variable job("SLURM_JOB_ID", "8");
    const Variable array("SLURM_ARRAY_JOB_ID", "7");
    const Variable task("SLURM_ARRAY_TASK_ID", "3");
    EXPECT_TRUE(owner_of_this_process().starts_with("slurm 7_3 process ")) << owner_of_this_process();
    expect_another_owner(folder_);
}

TEST_F(ClaimsInFolder, SlurmSaysWhichTasksRun) {
    std::filesystem::create_directories(folder_);
    write("squeue", "#!/bin/sh\necho 9_1\necho '7_3  '\n");
    std::filesystem::permissions(folder_ / "squeue", std::filesystem::perms::owner_all);
    const Variable path("PATH", (folder_.string() + ":/usr/bin:/bin").c_str());
    const Variable array("SLURM_ARRAY_JOB_ID", "7");
    const Variable task("SLURM_ARRAY_TASK_ID", "3");
    EXPECT_EQ(slurm_task_runs("slurm 9_1 process 5 on there"), true);
    EXPECT_EQ(slurm_task_runs("slurm 9_2 process 5 on there"), false);
    EXPECT_EQ(slurm_task_runs("slurm 7_3 process 5 on there"), std::nullopt) << "this process is of it";
    EXPECT_EQ(slurm_task_runs("process 5 on there"), std::nullopt);
}

}  // namespace
}  // namespace heddle::host
