// Tests SimGrid's process: it ends with its parent, keeps none of its descriptors, and ignores Ctrl-C and
// what its parent ignores. If it crashes, the error names the signal.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "sim/simgrid_process.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

/// State and parent of a process, by /proc. Nothing if there is no such process.
struct Standing {
    char state = '?';
    pid_t parent = 0;
};
std::optional<Standing> standing(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    if (!std::getline(file, text)) return std::nullopt;
    std::istringstream rest(text.substr(text.rfind(')') + 1));
    Standing found;
    rest >> found.state >> found.parent;
    return found;
}

std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    DIR* const directory = ::opendir("/proc");
    while (const dirent* entry = ::readdir(directory)) {
        const pid_t process = std::atoi(entry->d_name);
        const auto found = process > 0 ? standing(process) : std::nullopt;
        if (found && found->parent == parent && found->state != 'Z') children.push_back(process);
    }
    ::closedir(directory);
    return children;
}

/// The only child of `parent`, as soon as there is one.
pid_t child_of(pid_t parent) {
    for (;;) {
        const std::vector<pid_t> children = children_of(parent);
        if (!children.empty()) return children.front();
        std::this_thread::sleep_for(1ms);
    }
}

bool runs(pid_t process) {
    const auto found = standing(process);
    return found && found->state != 'Z';
}

/// Whether a process ends within a time that no build of a large platform ends in.
bool ends_soon(pid_t process) {
    for (int i = 0; i < 2000 && runs(process); ++i) std::this_thread::sleep_for(1ms);
    return !runs(process);
}

/// Building it takes far longer than `ends_soon` waits.
Platform large() {
    return ideal(3'000'000);
}

/// A process of its own group that builds a platform.
pid_t builder(const Platform& platform) {
    const pid_t process = ::fork();
    if (process != 0) return process;
    ::setpgid(0, 0);
    ::signal(SIGINT, SIG_DFL);
    try {
        const SimgridProcess simgrid(platform);
        ::_exit(0);
    } catch (...) {
        ::_exit(1);
    }
}

int status_of(pid_t process) {
    int status = 0;
    ::waitpid(process, &status, 0);
    return status;
}

class ParentEnds : public ::testing::TestWithParam<std::pair<int, bool>> {};

TEST_P(ParentEnds, WhileItBuildsAPlatformAndNoProcessIsLeft) {
    const auto [signal, group] = GetParam();
    for (const auto after : {0ms, 60ms, 120ms, 400ms}) {
        const pid_t parent = builder(large());
        const pid_t child = child_of(parent);
        std::this_thread::sleep_for(after);
        ::kill(group ? -parent : parent, signal);
        EXPECT_TRUE(WIFSIGNALED(status_of(parent)));
        EXPECT_TRUE(ends_soon(child)) << "after " << after.count() << " ms";
        ::kill(child, SIGKILL);
    }
}

INSTANTIATE_TEST_SUITE_P(Signals, ParentEnds,
                         ::testing::Values(std::pair{SIGKILL, false}, std::pair{SIGTERM, false},
                                           std::pair{SIGINT, true}));

TEST(SimgridChild, IsDeafToInterruptsFromItsForkOn) {
    const pid_t parent = builder(ideal(20000));
    const pid_t child = child_of(parent);
    while (runs(parent) && ::kill(child, SIGINT) == 0 && runs(child)) std::this_thread::sleep_for(2ms);
    EXPECT_EQ(status_of(parent), 0);
}

/// Whether the process for SimGrid still answers after the signal.
bool outlives(int signal) {
    SimgridProcess simgrid(ideal(3));
    const std::vector<pid_t> children = children_of(::getpid());
    EXPECT_EQ(children.size(), 1U);
    ::kill(children.front(), signal);
    try {
        (void)simgrid.named_links();
        return true;
    } catch (const Error& error) {
        EXPECT_THAT(error.message(), HasSubstr("was ended by signal " + std::to_string(signal)));
        return false;
    }
}

TEST(SimgridChild, IgnoresWhatItsParentWasToldToIgnore) {
    const auto before = ::signal(SIGHUP, SIG_IGN);  // as nohup does
    EXPECT_TRUE(outlives(SIGHUP));
    ::signal(SIGHUP, [](int) {});
    EXPECT_FALSE(outlives(SIGHUP)) << "a handler of the parent's is not the child's";
    ::signal(SIGHUP, before);
}

TEST(SimgridChild, TellsTheSignalThatEndedIt) {
    SimgridProcess simgrid(ideal(3));
    const std::vector<pid_t> children = children_of(::getpid());
    ASSERT_EQ(children.size(), 1U);
    ::kill(children.front(), SIGKILL);
    try {
        (void)simgrid.named_links();
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.message(), HasSubstr("was ended by signal 9 (Killed)"));
        EXPECT_THAT(error.advice(), HasSubstr("memory"));
    }
}

/// From now on this process and its children have no `close_range`, as before Linux 5.9. False where the
/// system lets no process filter its calls.
bool forget_close_range() {
    std::array<sock_filter, 4> program = {{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{program.size(), program.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// How many descriptors above the standard ones a process holds.
std::size_t descriptors_of(pid_t process) {
    std::size_t count = 0;
    DIR* const directory = ::opendir(("/proc/" + std::to_string(process) + "/fd").c_str());
    while (const dirent* entry = ::readdir(directory))
        if (entry->d_name[0] != '.' && std::atoi(entry->d_name) > 2) ++count;
    ::closedir(directory);
    return count;
}

TEST(SimgridChild, KeepsOnlyItsPipesWithAndWithoutCloseRange) {
    constexpr int no_filter = 77;
    for (const bool forgotten : {false, true}) {
        const pid_t process = ::fork();
        if (process == 0) {
            if (forgotten && !forget_close_range()) ::_exit(no_filter);
            std::array<int, 2> inherited{};
            if (::pipe(inherited.data()) != 0) ::_exit(1);
            const SimgridProcess first(ideal(2));
            const SimgridProcess second(ideal(2));
            for (const pid_t child : children_of(::getpid()))
                if (descriptors_of(child) != 2) ::_exit(2);
            ::_exit(0);
        }
        const int status = status_of(process);
        if (WIFEXITED(status) && WEXITSTATUS(status) == no_filter) GTEST_SKIP() << "no filter is allowed";
        EXPECT_EQ(status, 0) << (forgotten ? "without" : "with") << " close_range";
    }
}

}  // namespace
}  // namespace heddle::sim::testing
