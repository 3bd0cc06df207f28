// Tests that system limits are reported in words, and that job steps of several processes are recognized.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cstdlib>
#include <new>
#include <system_error>

#include "host/limits.hpp"
#include "runtime/native/job_step.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

using testing::AllOf;
using testing::HasSubstr;

namespace {

template <class Failure>
std::string text_of(const Failure& error) {
    const auto exhausted = host::exhausted_resource(std::make_exception_ptr(error));
    return exhausted ? exhausted->what() : "";
}

class NativeJobStep : public testing::Test {
protected:
    ~NativeJobStep() override {
        for (const std::string& name : set_) unsetenv(name.c_str());
    }
    void set(const std::string& name, const std::string& value) {
        setenv(name.c_str(), value.c_str(), 1);
        set_.push_back(name);
    }

private:
    std::vector<std::string> set_;
};

}  // namespace

TEST(NativeLimits, AnExhaustedResourceIsNamedWithAdvice) {
    const auto system = [](std::errc code) { return std::system_error(std::make_error_code(code)); };
    EXPECT_THAT(text_of(std::bad_alloc()), AllOf(HasSubstr("no more memory"), HasSubstr("ulimit -v")));
    EXPECT_THAT(text_of(system(std::errc::resource_unavailable_try_again)),
                AllOf(HasSubstr("no more threads"), HasSubstr("ulimit -u")));
    EXPECT_THAT(text_of(system(std::errc::too_many_files_open)), HasSubstr("ulimit -n"));
    EXPECT_EQ(text_of(system(std::errc::invalid_argument)), "");
    EXPECT_EQ(text_of(std::logic_error("a mistake")), "");
}

TEST(NativeLimits, MoreOpenFilesThanTheSystemAllowsAreAnError) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit low = before;
    low.rlim_cur = 100;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    host::allow_open_files(200, "this test");
    rlimit now{};
    getrlimit(RLIMIT_NOFILE, &now);
    EXPECT_EQ(now.rlim_cur, 200u);
    EXPECT_THAT(error_of([&] { host::allow_open_files(before.rlim_max + 1, "a run of 9 nodes"); }),
                AllOf(HasSubstr("a run of 9 nodes takes"), HasSubstr("ulimit")));
    setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(NativeJobStep, SeveralProcessesOfSlurmAreRecognized) {
    EXPECT_FALSE(job_step());
    set("SLURM_NTASKS", "4");  // a batch script has this, and runs once
    set("SLURM_PROCID", "0");
    EXPECT_FALSE(job_step());
    set("SLURM_STEP_NUM_TASKS", "1");
    EXPECT_FALSE(job_step());
    set("SLURM_STEP_NUM_TASKS", "4");
    set("SLURM_PROCID", "3");
    const auto step = job_step();
    ASSERT_TRUE(step);
    EXPECT_EQ(step->variable, "SLURM_STEP_NUM_TASKS");
    EXPECT_EQ(step->rank, 3u);
    EXPECT_EQ(step->processes, 4u);
    set("HEDDLE_INDEPENDENT", "1");
    EXPECT_FALSE(job_step());
}

TEST_F(NativeJobStep, SeveralRanksOfMpiAreRecognized) {
    set("OMPI_COMM_WORLD_RANK", "1");
    set("OMPI_COMM_WORLD_SIZE", "2");
    ASSERT_TRUE(job_step());
    EXPECT_EQ(job_step()->processes, 2u);
}

TEST_F(NativeJobStep, TheNearestLauncherIsBelieved) {
    set("SLURM_STEP_NUM_TASKS", "3");  // mpirun's daemons
    set("SLURM_PROCID", "1");
    for (const std::string rank_and_size : {"OMPI_COMM_WORLD_", "MV2_COMM_WORLD_", "PMI_"}) {
        set(rank_and_size + "SIZE", "8");
        set(rank_and_size + "RANK", "5");
        ASSERT_TRUE(job_step());
        EXPECT_EQ(job_step()->processes, 8u) << rank_and_size;
        EXPECT_EQ(job_step()->rank, 5u) << rank_and_size;
        set(rank_and_size + "SIZE", "1");
        // srun's own pmi2 may have left that one to a shell that starts a larger step.
        EXPECT_EQ(job_step().has_value(), rank_and_size == "PMI_") << rank_and_size;
        unsetenv((rank_and_size + "SIZE").c_str());
    }
}

}  // namespace heddle::native
