// Tests lists of hosts: names and numbers as Slurm writes them, processes on each, host files.
#include "host/host_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace heddle::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
    try {
        parse_hosts(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

// The examples of Slurm's manual pages scontrol(1) (show hostnames) and slurm.conf(5) (NodeName).
TEST(HostList, ExpandsWhatSlurmWrites) {
    EXPECT_THAT(expand_host_list("tux[1-3]"), ElementsAre("tux1", "tux2", "tux3"));
    EXPECT_THAT(expand_host_list("lx[15,18,32-33]"), ElementsAre("lx15", "lx18", "lx32", "lx33"));
    EXPECT_THAT(expand_host_list("linux[00-02]"), ElementsAre("linux00", "linux01", "linux02"));
    EXPECT_THAT(expand_host_list("rack[0-1]_blade[8-9]"),
                ElementsAre("rack0_blade8", "rack0_blade9", "rack1_blade8", "rack1_blade9"));
    EXPECT_THAT(expand_host_list("a1,b[2-3]-ib,login"), ElementsAre("a1", "b2-ib", "b3-ib", "login"));
    EXPECT_THAT(expand_host_list("n[098-101]"), ElementsAre("n098", "n099", "n100", "n101"));
}

TEST(HostList, SaysHowManyProcessesEachHostTakes) {
    EXPECT_THAT(parse_hosts("a,b:2"), ElementsAre(HostSlots{"a", 1}, HostSlots{"b", 2}));
    EXPECT_THAT(parse_hosts("n[1-2]:4,me@c"),
                ElementsAre(HostSlots{"n1", 4}, HostSlots{"n2", 4}, HostSlots{"me@c", 1}));
    EXPECT_THAT(parse_hosts("a,b,a:3"), ElementsAre(HostSlots{"a", 4}, HostSlots{"b", 1}));
    EXPECT_THAT(parse_hosts("[fe80::1]:2,10.0.0.7,[::1]"),
                ElementsAre(HostSlots{"fe80::1", 2}, HostSlots{"10.0.0.7", 1}, HostSlots{"::1", 1}));
}

TEST(HostList, RefusesWhatIsNone) {
    EXPECT_THAT(refusal(""), HasSubstr("a name is missing"));
    EXPECT_THAT(refusal("a,,b"), HasSubstr("a name is missing"));
    EXPECT_THAT(refusal("n[1-"), HasSubstr("a [ without its ]"));
    EXPECT_THAT(refusal("n1]"), HasSubstr("a ] without its ["));
    EXPECT_THAT(refusal("n[[1]]"), HasSubstr("a bracket in brackets"));
    EXPECT_THAT(refusal("n[]"), HasSubstr("\"\" is not a number"));
    EXPECT_THAT(refusal("n[3-1]"), HasSubstr("the range 3-1"));
    EXPECT_THAT(refusal("n[0-4000000000]"), HasSubstr("the range 0-4000000000"));
    EXPECT_THAT(refusal("n[0-999][0-999]"), HasSubstr("more than 100000 hosts"));
    EXPECT_THAT(refusal("a:0"), HasSubstr("1 to 100000 processes, not 0"));
    EXPECT_THAT(refusal("a:two"), HasSubstr("\"two\" is not a number"));
    EXPECT_THAT(refusal("a b"), HasSubstr("no character ' '"));
    EXPECT_THAT(refusal("a;reboot"), HasSubstr("no character ';'"));
    // ssh would take it for an option, and run the command.
    EXPECT_THAT(refusal("-oProxyCommand=x"), HasSubstr("begins with a dash"));
}

// A short text may name many hosts: these would else have taken gigabytes, or minutes.
TEST(HostList, RefusesMoreNamesThanARunMayHave) {
    std::string ranges = "1-100000", lists = "n[1-100000]";
    for (int i = 0; i < 100; ++i) {
        ranges += ",1-100000";
        lists += ",n[1-100000]";
    }
    EXPECT_THAT(refusal("n[" + ranges + "]"), HasSubstr("more than 100000 hosts"));
    EXPECT_THAT(refusal(lists), HasSubstr("more than 100000 hosts"));
    EXPECT_THAT(refusal("n[" + std::string(10'000, '0') + "-99999]"), HasSubstr("is not a number"));
    EXPECT_THAT(refusal("n[1-100000]" + std::string(10'000, 'n')), HasSubstr("more than 300 characters"));
    EXPECT_THAT(refusal("a:60000,a:60000"), HasSubstr("1 to 100000 processes, not 120000"));
}

TEST(HostList, MayHaveAsManyNames) {
    const std::vector<HostSlots> hosts = parse_hosts("n[1-100000]:3");
    EXPECT_EQ(hosts.size(), 100'000U);
    EXPECT_EQ(hosts.back(), (HostSlots{"n100000", 3}));
}

class HostFile : public testing::Test {
protected:
    ~HostFile() override { std::filesystem::remove(path_); }
    std::vector<HostSlots> read(const std::string& text) {
        std::ofstream(path_) << text;
        return read_hostfile(path_);
    }
    std::string path_ = testing::TempDir() + "hosts." + std::to_string(::getpid());
};

TEST_F(HostFile, HasAHostOrListInEachLine) {
    EXPECT_THAT(read("# of the cluster\na slots=2\n\n  b:3   # the large one\nn[1-2]\r\n"),
                ElementsAre(HostSlots{"a", 2}, HostSlots{"b", 3}, HostSlots{"n1", 1}, HostSlots{"n2", 1}));
}

TEST_F(HostFile, SaysTheLineThatItCannotRead) {
    try {
        read("a\nb slots=many\n");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(path_ + ":2: "));
        EXPECT_THAT(error.what(), HasSubstr("\"many\" is not a number"));
    }
    EXPECT_THROW(read("# nothing\n"), Error);
    EXPECT_THROW(read("a max_slots=2\n"), Error);
    EXPECT_THROW(read("a,b slots=2\n"), Error) << "of each, or of the last?";
    EXPECT_THAT(read("n[1-2] slots=2\n"), ElementsAre(HostSlots{"n1", 2}, HostSlots{"n2", 2}));
}

}  // namespace
}  // namespace heddle::host
