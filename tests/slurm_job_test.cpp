// Tests which hosts a launch finds in the variables that Slurm sets. The forms of the lists are those of
// Slurm's manual pages of sbatch and salloc (SLURM_TASKS_PER_NODE, SLURM_JOB_NODELIST).
#include "host/slurm_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"

namespace heddle::host {
namespace {

using testing::ElementsAre;

TEST(SlurmJob, ExpandsCounts) {
    EXPECT_THAT(expand_counts("2"), ElementsAre(2));
    EXPECT_THAT(expand_counts("2(x3),1"), ElementsAre(2, 2, 2, 1));
    EXPECT_THAT(expand_counts("72,16(x2)"), ElementsAre(72, 16, 16));
    for (const char* const wrong :
         {"", "a", "2,", "2(3)", "2(x", "2(x3", "2(x3)1", "2(x9999999)", "-1", "2 "})
        EXPECT_THROW(expand_counts(wrong), Error) << wrong;
}

class SlurmEnvironment : public testing::Test {
protected:
    void TearDown() override {
        for (const char* name :
             {"SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"})
            unsetenv(name);
    }
};

TEST_F(SlurmEnvironment, HasTheHostsOfTheJob) {
    EXPECT_FALSE(slurm_hosts());
    setenv("SLURM_JOB_NODELIST", "n[08-10],login", 1);
    setenv("SLURM_TASKS_PER_NODE", "2(x3),1", 1);
    EXPECT_THAT(*slurm_hosts(), ElementsAre(HostSlots{"n08", 2}, HostSlots{"n09", 2}, HostSlots{"n10", 2},
                                            HostSlots{"login", 1}));
    setenv("SLURM_TASKS_PER_NODE", "2(x3)", 1);
    EXPECT_THROW(slurm_hosts(), Error) << "three counts for four hosts";
    setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    EXPECT_FALSE(slurm_hosts()) << "in a step of srun";
}

TEST_F(SlurmEnvironment, TheShellOfSallocHasTheHostsOfTheJobThoughItIsAStep) {
    setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
    setenv("SLURM_TASKS_PER_NODE", "1(x2)", 1);
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    setenv("SLURM_STEP_ID", "4294967290", 1);
    ASSERT_TRUE(slurm_hosts());
    EXPECT_THAT(*slurm_hosts(), ElementsAre(HostSlots{"n1", 1}, HostSlots{"n2", 1}));
    setenv("SLURM_STEP_ID", "0", 1);
    EXPECT_FALSE(slurm_hosts()) << "in a step that srun has started there";
}

}  // namespace
}  // namespace heddle::host
