// Tests how the nodes of a run find each other: also if a node does not come, or if foreign programs connect
// to the port.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>

#include "host/wall_clock.hpp"
#include "runtime/native/frame.hpp"
#include "runtime/native/handshake.hpp"
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

namespace {

NativeOptions member(NodeId rank, NodeId nodes, const Key& key, const std::string& rendezvous) {
    NativeOptions options;
    options.membership = Membership{rank, nodes, key, rendezvous, rank, nodes};
    return options;
}

/// Runs one node that does nothing. Returns the Error's text.
std::string run_idle(const NativeOptions& options) {
    const Script script;
    ScriptedNode node(options.membership->rank, options.cores, script);
    return error_of(
        [&] { NativeBackend(options).run([&](NodeId) -> runtime::NodeProgram& { return node; }); });
}

/// One worker a node.
void run_together(NodeId nodes, const Script& script) {
    std::vector<std::unique_ptr<ScriptedNode>> programs;
    for (NodeId node = 0; node < nodes; ++node)
        programs.push_back(std::make_unique<ScriptedNode>(node, 1, script));
    conformance::run_native(nodes, 1, [&](NodeId node) -> runtime::NodeProgram& { return *programs[node]; });
}

std::vector<std::string> run_all(const std::vector<NativeOptions>& all) {
    std::vector<std::future<std::string>> running;
    for (const NativeOptions& options : all)
        running.push_back(std::async(std::launch::async, [&options] { return run_idle(options); }));
    std::vector<std::string> errors;
    for (auto& run : running) errors.push_back(run.get());
    return errors;
}

}  // namespace

TEST(NativeMeeting, OneRendezvousServesRunAfterRun) {
    const Key key = make_key();
    const Rendezvous rendezvous(3, key);
    for (int run = 0; run < 5; ++run) {
        const auto errors =
            run_all({member(0, 3, key, rendezvous.address()), member(1, 3, key, rendezvous.address()),
                     member(2, 3, key, rendezvous.address())});
        EXPECT_THAT(errors, testing::Each(""));
    }
}

// As where MPI carries the only network.
TEST(NativeMeeting, NodesThatListenNowhereMeet) {
    const Key key = make_key();
    const Rendezvous rendezvous(2, key);
    const auto meet_as = [&](NodeId rank) {
        return meet(*member(rank, 2, key, rendezvous.address()).membership, Agreement{}, {""}, 10s);
    };
    auto other = std::async(std::launch::async, meet_as, NodeId{1});
    const AddressTable nowhere(2, {""});
    EXPECT_EQ(meet_as(0), nowhere);
    EXPECT_EQ(other.get(), nowhere);
}

TEST(NativeMeeting, WhoWaitsIsToldWhoDidNotCome) {
    const Key key = make_key();
    const Rendezvous rendezvous(4, key, "127.0.0.1", 200ms);
    const auto errors =
        run_all({member(0, 4, key, rendezvous.address()), member(2, 4, key, rendezvous.address())});
    EXPECT_THAT(errors, testing::Each(HasSubstr("node 1, 3 did not come within 0.2 s")));
}

// As with a short transport.meeting_time and a long launch --meeting-time.
TEST(NativeMeeting, TheRendezvousSaysHowLongNodesWaitForEachOther) {
    const Key key = make_key();
    const Rendezvous rendezvous(2, key, "127.0.0.1", 60s);
    const auto meet_as = [&](NodeId rank, std::chrono::milliseconds time) {
        return meet(*member(rank, 2, key, rendezvous.address()).membership, Agreement{}, {"127.0.0.1:1"},
                    time);
    };
    auto early = std::async(std::launch::async, meet_as, NodeId{0}, 300ms);
    std::this_thread::sleep_for(2500ms);
    EXPECT_EQ(meet_as(1, 10s).size(), 2u);
    EXPECT_EQ(early.get().size(), 2u);
}

// Node 0 checks an answer before it comes for the next run, and the others have nothing to check.
TEST(NativeMeeting, LaterRunsWaitForTheCheckOfNode0) {
    const Key key = make_key();
    const Rendezvous rendezvous(2, key, "127.0.0.1", 1s);
    const auto meet_as = [&](NodeId rank) {
        return meet(*member(rank, 2, key, rendezvous.address()).membership, Agreement{}, {"127.0.0.1:1"},
                    10s);
    };
    for (const auto check : {0ms, 2500ms}) {
        auto other = std::async(std::launch::async, meet_as, NodeId{1});
        std::this_thread::sleep_for(check);
        EXPECT_EQ(meet_as(0).size(), 2u);
        EXPECT_EQ(other.get().size(), 2u);
    }
    EXPECT_THAT(error_of([&] { (void)meet_as(0); }), HasSubstr("node 1 did not come within 1 s"));
}

TEST(NativeMeeting, WhoWaitsIsToldThatAProcessHasEnded) {
    const Key key = make_key();
    Rendezvous rendezvous(2, key);
    auto error =
        std::async(std::launch::async, [&] { return run_idle(member(0, 2, key, rendezvous.address())); });
    rendezvous.node_ended(1);
    EXPECT_THAT(error.get(), HasSubstr("the process of node 1 has ended"));
}

TEST(NativeMeeting, TheFirstProcessThatEndedIsNamed) {
    const Key key = make_key();
    Rendezvous rendezvous(3, key);
    rendezvous.node_ended(1);
    rendezvous.node_ended(0);  // because node 1 has ended
    EXPECT_THAT(run_idle(member(2, 3, key, rendezvous.address())),
                HasSubstr("the process of node 1 has ended"));
}

TEST(NativeMeeting, NobodyAtTheRendezvousIsAnErrorAfterAWhile) {
    std::string address;
    {
        const Rendezvous gone(2, make_key());
        address = gone.address();
    }
    NativeOptions options = member(0, 2, make_key(), address);
    options.meeting_max = 100ms;
    EXPECT_THAT(run_idle(options), AllOf(HasSubstr(address), HasSubstr("Connection refused")));
}

TEST(NativeMeeting, WhoHasAnotherKeyDoesNotMeet) {
    const LogReader log;
    const Key key = make_key();
    const Rendezvous rendezvous(2, key);
    NativeOptions options = member(1, 2, make_key(), rendezvous.address());
    EXPECT_THAT(run_idle(options), HasSubstr("does not know the run's key"));
    EXPECT_TRUE(eventually([&] { return log.has("dropped a connection from 127.0.0.1:"); })) << log.text();
}

TEST(NativeMeeting, NodesThatProtectMessagesInDifferentWaysRefuseEachOther) {
    const LogReader log;
    const Key key = make_key();
    const Rendezvous rendezvous(2, key);
    NativeOptions first = member(0, 2, key, rendezvous.address());
    NativeOptions second = member(1, 2, key, rendezvous.address());
    second.protection = Protection::encryption;
    first.meeting_max = second.meeting_max = 1s;
    first.local = second.local = Local::tcp;
    const auto errors = run_all({first, second});
    EXPECT_THAT(errors[0], HasSubstr("node 1 did not connect to node 0"));
    EXPECT_THAT(errors[1], HasSubstr("transport.protection is encryption on node 1 and integrity on node 0"));
}

TEST(NativeMeeting, DifferentBinariesRefuseEachOther) {
    const LogReader log;
    const Key key = make_key();
    const Rendezvous rendezvous(2, key);
    NativeOptions old_binary = member(0, 2, key, rendezvous.address());
    NativeOptions new_binary = member(1, 2, key, rendezvous.address());
    old_binary.agreement.program = "handler a\nhandler c\ntask t (8 bytes in, 8 bytes out)\n";
    new_binary.agreement.program = "handler a\nhandler b\nhandler c\ntask t (8 bytes in, 8 bytes out)\n";
    for (const auto& [one, other, holder, lacker] :
         {std::tuple(old_binary, new_binary, 1, 0), std::tuple(new_binary, old_binary, 0, 1)}) {
        NativeOptions first = one, second = other;
        first.membership->rank = 0;
        second.membership->rank = 1;
        EXPECT_THAT(run_all({first, second}),
                    testing::Each(fmt::format("node 1 runs another program than node 0: node {} has the "
                                              "handler b, and node {} does not; start every node from the "
                                              "same binary",
                                              holder, lacker)));
    }
}

TEST(NativeMeeting, NodesWithDifferentExperimentsRefuseEachOther) {
    const Key key = make_key();
    const Rendezvous rendezvous(3, key);
    std::vector<NativeOptions> all;
    for (NodeId rank = 0; rank < 3; ++rank) {
        all.push_back(member(rank, 3, key, rendezvous.address()));
        all.back().agreement = {"handler a\n", 10, "seed = 1\nworkload.n = 10\nworkload.name = \"fib\"\n"};
    }
    all[2].agreement.experiment = 11;
    all[2].agreement.settings = "seed = 1\nworkload.n = 11\nworkload.name = \"fib\"\n";
    EXPECT_THAT(run_all(all), testing::Each("node 2 runs another experiment than node 0: workload.n is 10 on "
                                            "node 0 and 11 on node 2; start every node with the same files "
                                            "and settings"));
    // Files whose contents differ do not show in the settings.
    all[2].agreement.settings = all[0].agreement.settings;
    EXPECT_THAT(run_all(all), testing::Each(HasSubstr("a file that they read")));
}

TEST(NativeMeeting, AMessageThatIsTooLargeIsTheSendersError) {
    const Key key = make_key();
    const Rendezvous rendezvous(2, key);
    std::string error;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id == 0) error = error_of([&] { worker.backend->send(worker, 1, runtime::Bytes(1001)); });
    };
    std::vector<std::thread> threads;
    for (NodeId rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
            ScriptedNode node(rank, 1, script);
            NativeOptions options = member(rank, 2, key, rendezvous.address());
            options.frame_bytes_max = 1000;
            NativeBackend(options).run([&](NodeId) -> runtime::NodeProgram& { return node; });
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(error, HasSubstr("1001 bytes"));
}

TEST(NativeMeeting, ClocksOfNodesOnOneMachineAgree) {
    std::array<Time, 3> now{};
    std::array<Clock::time_point, 3> real{};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        now[node.id] = worker.backend->now(worker);
        real[node.id] = Clock::now();
    };
    run_together(3, script);
    // All threads have one steady clock, so the zeros can be compared. Pings err by half a journey at most;
    // what may come between the two readings is the system's.
    for (NodeId node = 1; node < 3; ++node) {
        const auto apart = (real[node] - now[node]) - (real[0] - now[0]);
        EXPECT_LT(std::abs(to_seconds(std::chrono::duration_cast<Time>(apart))), 0.1);
    }
}

// --- strangers
// -------------------------------------------------------------------------------------------------------

namespace {

/// A connection that says `bytes` and then waits to be dropped.
void say_and_wait(const std::string& address, std::span<const std::byte> bytes) {
    const Descriptor socket = connect_to(address, soon());
    (void)write_all(socket.get(), bytes, soon());
    std::byte answer;
    while (read_all(socket.get(), std::span(&answer, 1), soon()).empty()) continue;
}

wire::Hello hello_to(NodeId rank, NodeId nodes) {
    // The protocol's name and version, as any eavesdropper could read it.
    wire::Hello hello{};
    hello.magic = 0x32'65'6c'64'64'65'68'00;
    hello.nodes = nodes;
    hello.from = rank == 0 ? 1 : 0;
    hello.to = rank;
    return hello;
}

void attack(const std::string& address) {
    const auto bytes_of_object = [](const auto& object) { return std::as_bytes(std::span(&object, 1)); };
    say_and_wait(address, bytes_of(std::string(100'000, '\xff')));
    say_and_wait(address,
                 bytes_of(std::string("GET / HTTP/1.1\r\nHost: heddle\r\n\r\n") + std::string(200, ' ')));
    const FrameHeader oversized{0x4c'44'45'48, FrameKind::message, 1ULL << 60, 0, 0};
    const std::string padding(sizeof(wire::Hello) - sizeof oversized, '\0');
    std::string frame(reinterpret_cast<const char*>(&oversized), sizeof oversized);
    say_and_wait(address, bytes_of(frame + padding));
    for (const NodeId rank : {NodeId{0}, NodeId{1}, rendezvous_rank}) {
        // A hello for each node that might listen here, then a forged proof.
        const wire::Hello hello = hello_to(rank, 2);
        const wire::Proof proof{};
        std::string all(reinterpret_cast<const char*>(&hello), sizeof hello);
        all.append(reinterpret_cast<const char*>(&proof), sizeof proof);
        say_and_wait(address, bytes_of(all));
        const Descriptor truncated = connect_to(address, soon());
        (void)write_all(truncated.get(), bytes_of_object(hello).first(50), soon());
    }
    (void)connect_to(address, soon());  // closed at once
    std::vector<Descriptor> crowd;
    for (int i = 0; i < 100; ++i) crowd.push_back(connect_to(address, soon()));
    say_and_wait(address, {});  // says nothing: dropped for its silence, or for the next comer's sake
}

}  // namespace

TEST(NativeStrangers, AreDroppedWithAWarningAndHarmNothing) {
    const LogReader log;
    std::atomic<bool> running{false};
    std::atomic<bool> attacked{false};
    std::atomic<int> answers{0};
    int questions = 0;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id != 0) return;
        running = true;
        // Questions and answers all the time, and some after the last attack.
        for (int after = 0; after < 20; after += attacked ? 1 : 0) {
            worker.backend->send(worker, 1, conformance::pack(++questions));
            while (answers < questions) worker.backend->park(worker, never);
        }
    };
    script.deliver = [&](Node& node, NodeId from, std::span<const std::byte> message) {
        Context& me = node.receiver();
        const int number = conformance::unpack<int>(message);
        if (node.id == 1) return me.backend->send(me, from, conformance::pack(number));
        answers = number;
        me.backend->unpark(me, 0);
    };
    const std::uint64_t memory_before = host::peak_memory_bytes();
    std::thread attacker([&] {
        EXPECT_TRUE(eventually([&] { return running.load(); }));
        const auto addresses = listening_addresses();
        EXPECT_EQ(addresses.size(), 3u);  // two nodes and the rendezvous
        std::vector<std::future<void>> attacks;
        for (const std::string& address : addresses)
            attacks.push_back(std::async(std::launch::async, [&address] { attack(address); }));
        for (auto& one : attacks) one.get();
        attacked = true;
    });
    run_together(2, script);
    attacker.join();
    EXPECT_GE(questions, 20);
    EXPECT_EQ(answers, questions);
    for (const char* reason :
         {"it does not speak Heddle's protocol", "it does not know the run's key",
          "it belongs to another run", "it closed before it had authenticated",
          "it did not authenticate within 2 s", "too many others want to authenticate"}) {
        EXPECT_TRUE(log.has(reason)) << reason << "\n" << log.text();
    }
    EXPECT_THAT(log.text(), HasSubstr("dropped a connection from 127.0.0.1:"));
    // Some 300 connections to three listeners were dropped within a few seconds.
    EXPECT_LT(std::ranges::count(log.text(), '\n'), 60) << log.text();
    EXPECT_LT(host::peak_memory_bytes() - memory_before, 64U << 20);
}

// --- membership
// ------------------------------------------------------------------------------------------------------

namespace {

class NativeMembership : public testing::Test {
protected:
    NativeMembership() {
        directory_ = testing::TempDir() + "heddle-membership-" + std::to_string(getpid());
        std::filesystem::create_directories(directory_);
        key_file_ = directory_ + "/key";
        write_key_file(key_file_, key_);
        set(environment::rank, "1");
        set(environment::nodes, "4");
        set(environment::rendezvous, "127.0.0.1:4711");
        set(environment::key_file, key_file_);
    }
    ~NativeMembership() override {
        for (const char* variable :
             {environment::rank, environment::nodes, environment::rendezvous, environment::key_file,
              environment::local_rank, environment::local_count})
            unsetenv(variable);
        std::filesystem::remove_all(directory_);
    }
    static void set(const char* variable, const std::string& value) { setenv(variable, value.c_str(), 1); }
    static std::string error() {
        return error_of([] { (void)membership_from_environment(); });
    }

    Key key_ = make_key();
    std::string directory_;
    std::string key_file_;
};

}  // namespace

TEST_F(NativeMembership, IsReadFromTheEnvironment) {
    const auto membership = membership_from_environment();
    ASSERT_TRUE(membership);
    EXPECT_EQ(membership->rank, 1u);
    EXPECT_EQ(membership->nodes, 4u);
    EXPECT_EQ(membership->rendezvous, "127.0.0.1:4711");
    EXPECT_EQ(membership->credentials.key_with(0), key_);
    EXPECT_EQ(membership->local_rank, 1u) << "unless stated, all may be on this machine";
    EXPECT_EQ(membership->local_count, 4u);
}

TEST_F(NativeMembership, WithoutARankTheRunHasOneProcess) {
    unsetenv(environment::rank);
    EXPECT_FALSE(membership_from_environment());
}

TEST_F(NativeMembership, AVariableThatIsMissingOrMakesNoSenseIsNamed) {
    set(environment::nodes, "four");
    EXPECT_THAT(error(), HasSubstr("HEDDLE_NODES=four is not a number"));
    set(environment::nodes, "1");
    EXPECT_THAT(error(), HasSubstr("HEDDLE_RANK=1 although there are 1 nodes"));
    set(environment::nodes, "2");
    set(environment::rendezvous, "nowhere");
    EXPECT_THAT(error(), HasSubstr("\"nowhere\" is not an address"));
    unsetenv(environment::rendezvous);
    EXPECT_THAT(error(), HasSubstr("HEDDLE_RENDEZVOUS is not set"));
}

TEST_F(NativeMembership, AKeyThatOthersCanReadIsRefused) {
    ASSERT_EQ(chmod(key_file_.c_str(), 0644), 0);
    EXPECT_THAT(error(), AllOf(HasSubstr(key_file_), HasSubstr("open to others")));
}

TEST_F(NativeMembership, AKeyFileThatIsMissingOrMalformedIsNamed) {
    std::ofstream(key_file_) << "abc";
    EXPECT_THAT(error(), AllOf(HasSubstr(key_file_), HasSubstr("64 hexadecimal digits")));
    std::filesystem::remove(key_file_);
    EXPECT_THAT(error(), HasSubstr("cannot read the run's key"));
}

}  // namespace heddle::native
