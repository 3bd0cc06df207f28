// Tests how the processes of a launch and of a comparison are waited for, whatever the caller's signals are
// set to.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "host/process_pool.hpp"
#include "host/signal_watch.hpp"
#include "host/started_processes.hpp"

namespace heddle::host {
namespace {

class NativeProcesses : public testing::Test {
protected:
    NativeProcesses() {
        for (const int number : {SIGCHLD, SIGHUP, SIGTERM}) signal(number, SIG_DFL);
    }
    ~NativeProcesses() override {
        for (const int number : {SIGCHLD, SIGHUP, SIGTERM}) signal(number, SIG_DFL);
    }
};

using namespace std::chrono_literals;

TEST_F(NativeProcesses, AreWaitedForWhereTheCallerIgnoresSigchld) {
    signal(SIGCHLD, SIG_IGN);
    EXPECT_EQ(run_command({"sh", "-c", "exit 6"}), 6);
    signal(SIGCHLD, SIG_IGN);
    std::vector<int> codes;
    PoolOptions options;
    options.ended = [&](const JobEnd& end) { codes.push_back(end.exit_code); };
    EXPECT_EQ(run_jobs({{{"true"}}, {{"false"}}}, options), 0);
    EXPECT_THAT(codes, testing::ElementsAre(0, 1));
    signal(SIGCHLD, SIG_IGN);
    StartedProcesses processes({});
    processes.start({.name = "one", .line_prefix = "", .argv = {"sh", "-c", "exit 7"}});
    EXPECT_EQ(processes.run([](const StartedProcesses::End&) { return true; }), 7);
}

TEST_F(NativeProcesses, HaveEndedWhereSomethingElseTookTheirStatus) {
    int code = 0;
    PoolOptions options;
    options.started = [](std::size_t) { waitpid(-1, nullptr, 0); };
    options.ended = [&](const JobEnd& end) { code = end.exit_code; };
    EXPECT_EQ(run_jobs({{{"true"}}}, options), 0);
    EXPECT_EQ(code, 127);
}

TEST_F(NativeProcesses, SignalsThatWereIgnoredStaySo) {
    signal(SIGHUP, SIG_IGN);
    const SignalWatch watch;
    kill(getpid(), SIGHUP);
    EXPECT_EQ(watch.next(), 0);
    EXPECT_EQ(run_command({"sh", "-c", "kill -HUP $$; exit 5"}), 5);
    while (watch.next() == SIGCHLD) continue;
    pthread_kill(pthread_self(), SIGTERM);
    EXPECT_EQ(watch.next(), SIGTERM);
}

// A request for more processes that comes when the last one has just ended.
TEST_F(NativeProcesses, NothingIsStartedAfterTheLastEnd) {
    StartedProcesses processes({});
    processes.start({.name = "one", .line_prefix = "", .argv = {"sh", "-c", "sleep 1 &"}});
    const Descriptor request = make_event();
    int served = 0;
    processes.attend_to(request.get(), [&] { ++served; });
    EXPECT_EQ(processes.run([&](const StartedProcesses::End&) {
        signal_event(request);
        return false;
    }),
              0);
    EXPECT_EQ(served, 0);
}

TEST_F(NativeProcesses, ASpareOneThatIsLateIsReportedOnce) {
    StartedProcesses processes({.begin_max = 50ms});
    processes.start({.name = "first", .line_prefix = "", .argv = {"sleep", "0.5"}});
    processes.start(
        {.name = "late", .line_prefix = "", .argv = {"sleep", "1000"}, .sign = "here: ", .spare = true});
    std::vector<StartedProcesses::End> ends;
    EXPECT_EQ(processes.run([&](const StartedProcesses::End& end) {
        if (end.number == 1) ends.push_back(end);
        return true;
    }),
              0);
    ASSERT_EQ(ends.size(), 2u);
    EXPECT_TRUE(ends[0].late && !ends[0].asked);
    EXPECT_TRUE(!ends[1].late && ends[1].asked) << "its end is no failure of its own";
}

/// The processes that have this word in their command line, without shells.
std::vector<pid_t> processes_with(const std::string& word) {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream file(entry.path() / "cmdline");
        const std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        if (line.starts_with("sleep") && line.find(word) != std::string::npos)
            found.push_back(std::stoi(entry.path().filename().string()));
    }
    return found;
}

/// Starts a shell that waits for a program of its own, which sleeps for `word` seconds.
void start_wrapper(StartedProcesses& processes, const std::string& word, const std::string& before = "") {
    processes.start({.name = "wrapper",
                     .line_prefix = "",
                     .argv = {"sh", "-c", before + "sleep " + word + "; true"},
                     .own_error = true});
}

bool ignore_end(const StartedProcesses::End&) {
    return true;
}

// A script that starts a program leaves it behind when a signal ends the script alone.
TEST_F(NativeProcesses, WhatAScriptLeavesBehindEndsWithTheOthers) {
    const std::string word = std::to_string(100'000 + getpid()) + ".5";
    StartedProcesses processes({.grace = 10ms, .adopts = true});
    start_wrapper(processes, word);
    start_wrapper(processes, word);
    processes.start({.name = "failing", .line_prefix = "", .argv = {"sh", "-c", "sleep 0.3; exit 3"}});
    EXPECT_EQ(processes.run(ignore_end), 3);
    EXPECT_THAT(processes_with(word), testing::IsEmpty());
}

TEST_F(NativeProcesses, WhatIgnoresSigtermIsKilled) {
    const std::string word = std::to_string(100'000 + getpid()) + ".25";
    StartedProcesses processes({.grace = 10ms, .terminate = 50ms, .adopts = true});
    // The inner shell ignores the signal, and so does what it starts.
    processes.start({.name = "wrapper",
                     .line_prefix = "",
                     .argv = {"sh", "-c", "(trap '' TERM; sleep " + word + "; true); true"}});
    processes.start({.name = "failing", .line_prefix = "", .argv = {"sh", "-c", "sleep 0.3; exit 3"}});
    EXPECT_EQ(processes.run(ignore_end), 3);
    EXPECT_THAT(processes_with(word), testing::IsEmpty());
}

TEST_F(NativeProcesses, WhatAScriptLeavesBehindGoesOnAfterAGoodEnd) {
    const std::string word = std::to_string(100'000 + getpid()) + ".125";
    {
        StartedProcesses processes({.adopts = true});
        processes.start({.name = "one", .line_prefix = "", .argv = {"sh", "-c", "sleep " + word + " &"}});
        EXPECT_EQ(processes.run(ignore_end), 0);
    }
    const std::vector<pid_t> left = processes_with(word);
    EXPECT_EQ(left.size(), 1U);
    for (const pid_t id : left) {
        kill(id, SIGKILL);
        waitpid(id, nullptr, 0);
    }
}

}  // namespace
}  // namespace heddle::host
