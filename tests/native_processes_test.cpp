// Tests how the processes of a launch and of a comparison are waited for, whatever the caller's signals are
// set to.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
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

}  // namespace
}  // namespace heddle::host
