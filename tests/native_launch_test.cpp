// Tests the launcher, and what remains of a run when a process dies. The children are this test program,
// which runs one of the disabled tests below.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdlib>

#include "host/local_starter.hpp"
#include "runtime/native/launch.hpp"
#include "tests/conformance.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

using namespace std::chrono_literals;
using conformance::Node;
using conformance::Script;
using conformance::ScriptedNode;
using runtime::Context;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A directory for what processes tell each other in files.
class NativeLaunch : public testing::Test {
protected:
    NativeLaunch() {
        directory_ = testing::TempDir() + "heddle-launch-" + std::to_string(getpid());
        std::filesystem::create_directories(directory_);
        setenv("HEDDLE_TEST_DIRECTORY", directory_.c_str(), 1);
    }
    ~NativeLaunch() override { std::filesystem::remove_all(directory_); }

    struct Ended {
        int code = 0;
        std::string output;
        std::string errors;
    };

    static Ended launch(NodeId nodes, std::vector<std::string> argv, std::chrono::milliseconds grace = 10s) {
        LaunchOptions options;
        options.nodes = nodes;
        options.argv = std::move(argv);
        options.grace = grace;
        options.terminate = 200ms;
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        Ended ended;
        ended.code = launch_here(options);
        ended.output = testing::internal::GetCapturedStdout();
        ended.errors = testing::internal::GetCapturedStderr();
        return ended;
    }
    static Ended launch_shell(NodeId nodes, const std::string& script,
                              std::chrono::milliseconds grace = 10s) {
        return launch(nodes, {"sh", "-c", script}, grace);
    }

    std::string read_file(const std::string& name) const {
        std::ifstream file(directory_ + "/" + name);
        std::string text;
        std::getline(file, text);
        return text;
    }

    /// Starts a launcher in a process of its own; it launches `sleep`-like children that write down their
    /// ids.
    pid_t start_launcher() const {
        const pid_t launcher = host::LocalStarter().start(
            0, child_program("NativeLaunchChild.DISABLED_LaunchesSleepers"), {}, {});
        EXPECT_TRUE(eventually([&] { return !read_file("child0").empty() && !read_file("child1").empty(); }));
        return launcher;
    }

    /// True once the process that wrote that file is gone (or waits for its parent to read its exit code).
    bool is_gone(const std::string& file) const {
        std::ifstream status("/proc/" + read_file(file) + "/stat");
        std::string line;
        if (!std::getline(status, line)) return true;
        return line.substr(line.rfind(')') + 2, 1) == "Z";
    }

    std::string directory_;
};

constexpr const char* sleeper =
    "echo $HEDDLE_KEY_FILE > $HEDDLE_TEST_DIRECTORY/key_file;"
    "echo $$ > $HEDDLE_TEST_DIRECTORY/child$HEDDLE_RANK; exec sleep 1000";

int wait_for(pid_t process) {
    int status = 0;
    waitpid(process, &status, 0);
    return status;
}

/// Runs this process's node of a launched run.
void run_member(const Script& script, CoreId cores = 1) {
    NativeOptions options;
    options.cores = cores;
    options.membership = membership_from_environment();
    if (!options.membership) throw Error("only a launched process is a member");
    ScriptedNode node(options.membership->rank, cores, script);
    NativeBackend(options).run([&](NodeId) -> runtime::NodeProgram& { return node; });
}

}  // namespace

// --- what the children do
// --------------------------------------------------------------------------------------------

TEST(NativeLaunchChild, DISABLED_LaunchesSleepers) {
    signal(SIGINT, SIG_DFL);  // the tests may run where it is ignored
    LaunchOptions options;
    options.nodes = 2;
    options.argv = {"sh", "-c", sleeper};
    std::_Exit(launch_here(options));
}

TEST(NativeLaunchChild, DISABLED_SendsAround) {
    std::atomic<int> got{0};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        const NodeId nodes = worker.backend->topology().nodes;
        for (NodeId to = 0; to < nodes; ++to)
            if (to != node.id) worker.backend->send(worker, to, conformance::pattern(100'000, 1));
        while (got < static_cast<int>(nodes) - 1) worker.backend->park(worker, never);
    };
    script.deliver = [&](Node& node, NodeId, auto) {
        ++got;
        node.receiver().backend->unpark(node.receiver(), 0);
    };
    run_member(script);
}

/// Node 2 dies in the midst of the run; the others would run for ever.
TEST(NativeLaunchChild, DISABLED_LosesNode2) {
    std::atomic<int> got{0};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        for (NodeId to = 0; to < 4; ++to)
            if (to != node.id) worker.backend->send(worker, to, conformance::pattern(100, 1));
        while (got < 3) worker.backend->park(worker, never);
        if (node.id == 2) raise(SIGKILL);
        for (;;) worker.backend->park(worker, never);
    };
    script.deliver = [&](Node& node, NodeId, auto) {
        ++got;
        node.receiver().backend->unpark(node.receiver(), 0);
    };
    run_member(script);
}

/// Says hello to node 0, then waits to be killed.
TEST(NativeLaunchChild, DISABLED_WaitsToBeKilled) {
    Script script;
    script.work = [](Node& node, Context& worker) {
        worker.backend->send(worker, 0, conformance::pack(node.id));
        for (;;) worker.backend->park(worker, never);
    };
    run_member(script);
}

TEST(NativeLaunchChild, DISABLED_ThrowsInItsWorker) {
    Script script;
    script.work = [](Node& node, Context& worker) {
        if (node.id == 1) throw Error("the bucket has a hole");
        for (;;) worker.backend->park(worker, never);
    };
    run_member(script);
}

// --- launching
// -------------------------------------------------------------------------------------------------------

TEST_F(NativeLaunch, ProcessesFindEachOther) {
    const Ended ended = launch(4, child_program("NativeLaunchChild.DISABLED_SendsAround"));
    EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
    EXPECT_THAT(ended.output, HasSubstr("PASSED"));
    EXPECT_THAT(ended.errors, AllOf(HasSubstr("[node 1]"), HasSubstr("[node 2]"), HasSubstr("[node 3]")));
}

TEST_F(NativeLaunch, OnlyNode0WritesToStandardOutput) {
    const Ended ended =
        launch_shell(3, "echo out $HEDDLE_RANK of $HEDDLE_NODES; echo err $HEDDLE_RANK >&2; printf last");
    EXPECT_EQ(ended.output, "out 0 of 3\nlast");
    EXPECT_THAT(ended.errors,
                AllOf(HasSubstr("err 0\n"), HasSubstr("[node 1] out 1 of 3\n"), HasSubstr("[node 2] err 2\n"),
                      HasSubstr("[node 2] last\n"), Not(HasSubstr("[node 0]"))));
}

TEST_F(NativeLaunch, TheFirstFailureIsTheExitCode) {
    EXPECT_EQ(launch_shell(3, "exit 0").code, 0);
    EXPECT_EQ(launch_shell(3, "test $HEDDLE_RANK = 1 && exit 7; sleep 0.3; exit 9").code, 7);
}

TEST_F(NativeLaunch, WhoEndedBecauseAnotherWasLostIsNotTheCause) {
    EXPECT_EQ(launch_shell(2, "test $HEDDLE_RANK = 0 && exit 4; sleep 0.3; exit 9").code, 9);
    EXPECT_EQ(launch_shell(2, "exit 4").code, exit_code_lost);
}

TEST_F(NativeLaunch, AKilledProcessIsNamedAndTheOthersAreStopped) {
    const Ended ended = launch_shell(4, "test $HEDDLE_RANK = 2 && kill -9 $$; exec sleep 1000", 100ms);
    EXPECT_EQ(ended.code, 128 + SIGKILL);
    EXPECT_THAT(ended.errors, HasSubstr("node 2 was ended by signal 9"));
}

TEST_F(NativeLaunch, WhoDoesNotListenToSigtermIsKilled) {
    const Ended ended =
        launch_shell(2, "test $HEDDLE_RANK = 1 && exit 3; trap '' TERM; while :; do sleep 0.05; done", 50ms);
    EXPECT_EQ(ended.code, 3);
}

TEST_F(NativeLaunch, AProgramThatIsNotThereIsAnError) {
    LaunchOptions options;
    options.nodes = 2;
    options.argv = {"/no/such/program"};
    EXPECT_THAT(error_of([&] { launch_here(options); }),
                AllOf(HasSubstr("/no/such/program"), HasSubstr("No such file")));
}

TEST_F(NativeLaunch, TheKeyIsPrivateAndInNoDirectory) {
    // No file is made, so the launcher needs no directory for temporary files.
    setenv("TMPDIR", "/no/such/directory", 1);
    const Ended ended =
        launch_shell(2,
                     "stat -L -c '%a %u %h' $HEDDLE_KEY_FILE; id -u; wc -c < $HEDDLE_KEY_FILE;"
                     "test $HEDDLE_RANK = 0 && echo $HEDDLE_KEY_FILE > $HEDDLE_TEST_DIRECTORY/key_file");
    unsetenv("TMPDIR");
    // Links to it: none. 64 digits and the end of the line.
    const std::string user = std::to_string(getuid());
    EXPECT_EQ(ended.output, "600 " + user + " 0\n" + user + "\n65\n");
    ASSERT_FALSE(read_file("key_file").empty());
    EXPECT_FALSE(std::filesystem::exists(read_file("key_file")));
}

TEST_F(NativeLaunch, SignalsArePassedOnAndTheKeyIsRemoved) {
    for (const int signal : {SIGTERM, SIGINT}) {
        const pid_t launcher = start_launcher();
        EXPECT_TRUE(std::filesystem::exists(read_file("key_file")));
        kill(launcher, signal);
        const int status = wait_for(launcher);
        ASSERT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
        EXPECT_TRUE(is_gone("child0"));
        EXPECT_TRUE(is_gone("child1"));
        EXPECT_FALSE(std::filesystem::exists(read_file("key_file")));
        for (const char* file : {"child0", "child1", "key_file"})
            std::filesystem::remove(directory_ + "/" + file);
    }
}

TEST_F(NativeLaunch, AKilledLauncherLeavesNoChildrenAndNoKey) {
    const std::string temporary = directory_ + "/temporary";
    std::filesystem::create_directory(temporary);
    setenv("TMPDIR", temporary.c_str(), 1);
    const pid_t launcher = start_launcher();
    unsetenv("TMPDIR");
    EXPECT_FALSE(is_gone("child0"));
    kill(launcher, SIGKILL);
    wait_for(launcher);
    EXPECT_TRUE(eventually([&] { return is_gone("child0") && is_gone("child1"); }));
    EXPECT_FALSE(std::filesystem::exists(read_file("key_file")));
    EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

// --- losing a node
// ---------------------------------------------------------------------------------------------------

TEST_F(NativeLaunch, WhenANodeIsKilledTheOthersNameItAndStop) {
    const Ended ended = launch(4, child_program("NativeLaunchChild.DISABLED_LosesNode2"));
    EXPECT_EQ(ended.code, 128 + SIGKILL);
    const std::string line = "heddle: node 2 was lost (connection closed); the run cannot go on\n";
    EXPECT_THAT(ended.errors,
                AllOf(HasSubstr("\n" + line), HasSubstr("[node 1] " + line), HasSubstr("[node 3] " + line)))
        << ended.errors;
    for (const char* innocent : {"node 0 was lost", "node 1 was lost", "node 3 was lost"})
        EXPECT_THAT(ended.errors, Not(HasSubstr(innocent)));
}

TEST_F(NativeLaunch, AnErrorInAWorkerEndsItsProcessWithItsMessage) {
    const Ended ended = launch(3, child_program("NativeLaunchChild.DISABLED_ThrowsInItsWorker"));
    EXPECT_EQ(ended.code, exit_code_failed);
    EXPECT_THAT(ended.errors, AllOf(HasSubstr("[node 1] heddle: node 1: the bucket has a hole"),
                                    HasSubstr("node 1 was lost")));
}

class NativeLoss : public NativeLaunch, public testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(Modules, NativeLoss, testing::Bool(),
                         [](const auto& single) { return single.param ? "single" : "separate"; });

TEST_P(NativeLoss, ALostNodeIsReportedToTheCallback) {
    const Key key = make_key();
    const std::string key_file = directory_ + "/key";
    write_key_file(key_file, key);
    const Rendezvous rendezvous(3, key);
    const pid_t victim =
        host::LocalStarter().start(1, child_program("NativeLaunchChild.DISABLED_WaitsToBeKilled"),
                                   {{environment::rank, "1"},
                                    {environment::nodes, "3"},
                                    {environment::rendezvous, rendezvous.address()},
                                    {environment::key_file, key_file}},
                                   {});
    std::array<std::vector<std::string>, 3> losses;
    std::array<std::atomic<bool>, 3> told{};
    std::array<std::string, 3> errors;
    Script script;
    std::atomic<bool> met{false};
    script.work = [&](Node& node, Context& worker) {
        // Every message may wake, so a loss is looked for now and then.
        while (node.id == 0 && !met) conformance::park(worker, never);
        if (node.id == 0) kill(victim, SIGKILL);
        while (!told[node.id]) conformance::park(worker, worker.backend->now(worker) + 1ms);
    };
    script.deliver = [&](Node& node, NodeId from, auto) {
        EXPECT_EQ(from, 1u);
        met = true;
        node.receiver().backend->unpark(node.receiver(), 0);
    };
    std::vector<std::thread> threads;
    for (const NodeId rank : {0, 2}) {
        threads.emplace_back([&, rank] {
            NativeOptions options;
            options.single_module = GetParam();
            options.membership = Membership{rank, 3, key, rendezvous.address(), rank, 3};
            options.on_lost = [&, rank](NodeId node, const std::string& reason) {
                losses[rank].push_back(std::to_string(node) + " " + reason);
                told[rank] = true;
            };
            ScriptedNode node(rank, 1, script);
            errors[rank] = error_of(
                [&] { NativeBackend(options).run([&](NodeId) -> runtime::NodeProgram& { return node; }); });
        });
    }
    for (std::thread& thread : threads) thread.join();
    wait_for(victim);
    for (const NodeId rank : {0, 2}) {
        EXPECT_THAT(losses[rank], testing::ElementsAre("1 connection closed"));
        EXPECT_THAT(errors[rank], HasSubstr("node 1 was lost (connection closed)"));
    }
}

}  // namespace heddle::native
