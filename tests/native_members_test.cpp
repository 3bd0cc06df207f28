// Tests native nodes that join a run and leave it, below the scheduler. All members reach each other and no
// message is lost. Processes that do not belong to the run, or come too late, are told so.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include <memory>
#include <set>

#include "runtime/native/coordination.hpp"
#include "runtime/native/handshake.hpp"
#include "runtime/native/link.hpp"
#include "runtime/native/local_meeting.hpp"
#include "runtime/native/member_changes.hpp"
#include "runtime/native/udp_meeting.hpp"
#include "runtime/native/unix_socket.hpp"
#include "tests/native_members_testing.hpp"
#include "tests/native_udp_testing.hpp"

namespace heddle::native {

namespace {

using namespace std::chrono_literals;
using members::MemberRun;
using members::World;

struct Arm {
    std::string name;
    Local local;
    bool single;
    bool several = false;  ///< networks: TCP and, within the machine, shared memory
    bool udp = false;
};

class NativeMembers : public testing::TestWithParam<Arm> {
protected:
    static NativeOptions options() {
        NativeOptions options;
        options.local = GetParam().local;
        options.single_module = GetParam().single;
        if (GetParam().udp) options.udp.emplace();
        if (GetParam().several)
            options.networks = {{.address = "127.0.0.2", .from = "127.0.0.2", .local = Local::tcp},
                                {.local = Local::shared_memory, .in_machine = true}};
        return options;
    }

    static Identity identity_by_hand(const World& world, int socket) {
        const Protection protection = is_unix_socket(socket) ? Protection::local : Protection::integrity;
        return {2, world.capacity, Agreement{}.fingerprint(), {}, protection};
    }

    /// Where the nodes listen, which node 2 learns. Node 2 exists in the test alone.
    static AddressTable meet_by_hand(MemberRun& run, const World& world) {
        const Membership self{2, world.capacity, run.key(), run.rendezvous().address()};
        std::vector<std::string> listening = {"127.0.0.1:1"};
        if (GetParam().several) listening.push_back(fresh_local_address());
        return meet(self, Agreement{}, listening, 10s);
    }

    /// Node 2's connection to another node, over the first network.
    static Connection connect_by_hand(MemberRun& run, const World& world, const AddressTable& table,
                                      NodeId node) {
        const auto identify = [&](int socket) { return identity_by_hand(world, socket); };
        const std::string address = table[node].front();
        if (GetParam().local == Local::tcp)
            return introduce_until(address, run.key(), identify, node, soon());
        const std::string name = local_name(node, 0, address, Agreement{}.fingerprint());
        return introduce_until([&] { return connect_to_name(name, soon()); }, run.key(), identify, node,
                               soon());
    }

    /// The same, as far as a node that joins connects before it is ready.
    static std::unique_ptr<Link> link_by_hand(MemberRun& run, const World& world, const AddressTable& table,
                                              NodeId node) {
        Connection connection = connect_by_hand(run, world, table, node);
        const Session session = connection.session;
        const bool local = is_unix_socket(connection.socket.get());
        std::unique_ptr<Stream> stream;
        if (local) {
            stream = take_offer(std::move(connection), soon()).stream;
        } else if (GetParam().udp) {
            std::vector<UdpPeer> one;
            one.push_back(offer_datagrams(std::move(connection.socket), session, {}));
            stream = std::move(meet_by_datagrams(std::move(one), {}, soon()).front().stream);
        } else {
            stream = std::make_unique<SocketStream>(std::move(connection.socket));
        }
        return std::make_unique<Link>(std::move(stream), session, 1 << 20,
                                      local ? Protection::local : Protection::integrity);
    }

    static std::unique_ptr<Link> link_by_hand(MemberRun& run, const World& world) {
        return link_by_hand(run, world, meet_by_hand(run, world), 0);
    }

    /// What has come since the last call.
    static std::multiset<FrameKind> frames_of(Link& link) {
        std::multiset<FrameKind> frames;
        (void)link.receive(
            [&](FrameKind kind, std::span<const std::byte>, runtime::Body) { frames.insert(kind); });
        return frames;
    }

    /// Answers node 0's questions, with a clock that no machine has. Returns whether a frame of this kind has
    /// come.
    static bool answer_until(Link& link, FrameKind kind) {
        const auto frames = frames_of(link);
        for (std::size_t i = 0; i < frames.count(FrameKind::ping); ++i)
            link.post(FrameKind::pong, runtime::Bytes(sizeof(Clock::rep), std::byte{0xbe}), {});
        for (std::size_t i = 0; i < frames.count(FrameKind::count); ++i)
            link.post(FrameKind::counted, runtime::Bytes(sizeof(Counts), std::byte{0}), {});
        link.flush();
        return frames.contains(kind);
    }
};

std::vector<Arm> arms() {
    return {{"shared_memory", Local::shared_memory, false},
            {"unix_socket", Local::unix_socket, false},
            {"tcp", Local::tcp, false},
            {"shared_memory_single", Local::shared_memory, true},
            {"unix_socket_single", Local::unix_socket, true},
            {"tcp_single", Local::tcp, true},
            {"several", Local::tcp, false, true},
            {"several_single", Local::tcp, true, true},
            {"udp", Local::tcp, false, false, true},
            {"udp_single", Local::tcp, true, false, true}};
}

INSTANTIATE_TEST_SUITE_P(Ways, NativeMembers, testing::ValuesIn(arms()),
                         [](const auto& arm) { return arm.param.name; });

}  // namespace

TEST_P(NativeMembers, TwoNodesJoinAtOnceAndAllReachEachOther) {
    World world;
    MemberRun run(world, options());
    EXPECT_TRUE(eventually([&] { return run.talk(0, 1); }));
    run.start(3);
    run.start(2);
    for (NodeId a = 0; a < 4; ++a)
        for (NodeId b = 0; b < a; ++b)
            EXPECT_TRUE(eventually([&] { return run.talk(a, b); }, 20s)) << a << " and " << b;
    run.end();
    run.expect_all_well();
    // They read one clock, and begin in the run's time.
    for (const NodeId node : {2, 3})
        EXPECT_LT(std::abs(world.clock_ahead_ns[node].load()), 20'000'000) << node;
}

TEST_P(NativeMembers, NodesJoinARunThatOneNodeBegan) {
    World world;
    world.at_start = 1;
    world.capacity = 3;
    MemberRun run(world, options());
    run.start(2);
    EXPECT_TRUE(eventually([&] { return run.talk(0, 2); }, 20s));
    run.start(1);
    EXPECT_TRUE(eventually([&] { return run.talk(1, 2) && run.talk(0, 1); }, 20s));
    run.end();
    run.expect_all_well();
}

TEST_P(NativeMembers, ANodeLeavesAndTheRunGoesOn) {
    World world;
    world.at_start = 3;
    NativeOptions given = options();
    MemberRun run(world, given);
    run.start(3, [](NativeOptions& mine) { mine.leave_at = 1ms; });
    EXPECT_TRUE(eventually([&] { return run.has_ended(3); }, 20s));
    EXPECT_TRUE(world.has_left[3]);
    const std::uint64_t before = world.got[0][1];
    EXPECT_TRUE(eventually([&] { return world.got[0][1] > before + 10; }, 20s));
    run.end();
    run.expect_all_well();
}

TEST_P(NativeMembers, AProcessWithAnotherKeyIsRefusedAndTheRunGoesOn) {
    World world;
    MemberRun run(world, options());
    run.start(2, [](NativeOptions& mine) {
        mine.membership->credentials = make_key();
        mine.meeting_max = 500ms;
    });
    EXPECT_TRUE(eventually([&] { return run.has_ended(2); }, 20s));
    EXPECT_NE(run.error(2), "");
    run.start(3);
    EXPECT_TRUE(eventually([&] { return run.talk(3, 1); }, 20s));
    run.end();
    EXPECT_EQ(run.losses(), "");
    EXPECT_EQ(run.error(0) + run.error(1) + run.error(3), "");
}

TEST_P(NativeMembers, AProcessOfAnotherExperimentIsToldWhatDiffers) {
    World world;
    MemberRun run(world, options());
    run.start(2, [](NativeOptions& mine) {
        mine.agreement.experiment = 7;
        mine.agreement.settings = "workload.n = 12\n";
    });
    EXPECT_TRUE(eventually([&] { return run.has_ended(2); }, 20s));
    EXPECT_NE(run.error(2).find("node 2"), std::string::npos) << run.error(2);
    EXPECT_NE(run.error(2).find("workload.n"), std::string::npos) << run.error(2);
    run.end();
    EXPECT_EQ(run.losses(), "");
}

TEST_P(NativeMembers, ANumberIsTakenOnce) {
    World world;
    MemberRun run(world, options());
    run.start(2, [](NativeOptions& mine) { mine.leave_at = 1ms; });
    EXPECT_TRUE(eventually([&] { return run.has_ended(2); }, 20s));
    run.start(2);
    EXPECT_TRUE(eventually([&] { return run.error(2) != ""; }, 20s));
    EXPECT_NE(run.error(2).find("has come already"), std::string::npos) << run.error(2);
    run.end();
    EXPECT_EQ(run.losses(), "");
}

TEST_P(NativeMembers, OneThatComesAfterTheEndIsToldSo) {
    World world;
    MemberRun run(world, options());
    run.end();
    run.start(2);  // node 0 listens no more
    EXPECT_TRUE(eventually([&] { return run.has_ended(2); }, 20s));
    EXPECT_EQ(run.over(2), 1);
    run.rendezvous().node_ended(0);
    run.start(3);  // the rendezvous knows
    EXPECT_TRUE(eventually([&] { return run.has_ended(3); }, 20s));
    EXPECT_EQ(run.over(3), 1);
    run.end();
    run.expect_all_well();
}

// Some come to the rendezvous, some to node 0, some begin: none may hang, and none is a failure.
TEST_P(NativeMembers, OneThatComesAtTheEndJoinsOrIsToldSo) {
    for (int round = 0; round < 20; ++round) {
        World world;
        MemberRun run(world, options());
        run.start(2);
        run.start(3);
        std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
        run.end();
        run.expect_all_well();
    }
}

// One that has proved itself, and then says nothing: over a Unix socket it would have to answer an offer.
TEST_P(NativeMembers, OneThatStallsIsDroppedAndOthersJoin) {
    const LogReader log;
    World world;
    MemberRun run(world, options());
    Connection connection = connect_by_hand(run, world, meet_by_hand(run, world), 0);
    ASSERT_TRUE(connection.socket);
    run.start(3);
    EXPECT_TRUE(eventually([&] { return run.talk(0, 3) && run.talk(1, 3); }, 20s));
    connection.socket.reset();
    EXPECT_TRUE(eventually([&] { return log.has("the run goes on without it"); }, 20s)) << log.text();
    run.end();
    EXPECT_EQ(run.losses(), "");
    EXPECT_EQ(run.error(0) + run.error(1), "");
}

// It is ready to begin, but does not answer the question that node 0 asks then. It has not joined before node
// 0 tells it to begin. At the end no node waits until it acknowledges a goodbye.
TEST_P(NativeMembers, OneThatEndsOrStallsWhenItIsReadyIsNoLoss) {
    for (const bool ends : {true, false}) {
        const LogReader log;
        World world;
        MemberRun run(world, options());
        std::unique_ptr<Link> link = link_by_hand(run, world);
        link->post(FrameKind::ready, {}, {});
        EXPECT_EQ(link->flush(), Link::Flushed::all);
        EXPECT_TRUE(eventually([&] { return frames_of(*link).contains(FrameKind::ping); }, 20s));
        if (ends) {
            link.reset();
            EXPECT_TRUE(eventually([&] { return log.has("the run goes on without it"); }, 20s)) << log.text();
        }
        run.start(3);
        EXPECT_TRUE(eventually([&] { return run.talk(0, 3) && run.talk(1, 3); }, 20s));
        run.end();
        EXPECT_EQ(run.losses(), "");
        EXPECT_EQ(run.error(0) + run.error(1) + run.error(3), "");
        EXPECT_FALSE(log.has("has not acknowledged")) << log.text();
    }
}

// Node 0 has counted it: its end is a loss, also before it has sent anything else.
TEST_P(NativeMembers, OneThatEndsWhenItMayBeginIsALoss) {
    World world;
    MemberRun run(world, options());
    std::unique_ptr<Link> link = link_by_hand(run, world);
    link->post(FrameKind::ready, {}, {});
    EXPECT_TRUE(eventually([&] { return answer_until(*link, FrameKind::start); }, 20s));
    link.reset();
    EXPECT_TRUE(eventually([&] { return run.losses().find("node 2: ") != std::string::npos; }, 20s));
    run.end();
}

// What it sends to node 1 is late, so that node 1 knows from node 0 alone that it has joined. Node 1 waits
// for its goodbye.
TEST_P(NativeMembers, AtTheEndAllKnowWhichNodesHaveJoined) {
    World world;
    MemberRun run(world, options());
    const AddressTable table = meet_by_hand(run, world);
    std::unique_ptr<Link> lead = link_by_hand(run, world, table, 0);
    std::unique_ptr<Link> other = link_by_hand(run, world, table, 1);
    EXPECT_TRUE(eventually([&] { return frames_of(*other).contains(FrameKind::linked); }, 20s));
    lead->post(FrameKind::ready, {}, {});
    EXPECT_TRUE(eventually([&] { return answer_until(*lead, FrameKind::start); }, 20s));
    lead->post(FrameKind::done, {}, {});
    world.over = true;
    EXPECT_TRUE(eventually([&] { return answer_until(*lead, FrameKind::goodbye); }, 20s));
    EXPECT_TRUE(eventually([&] { return frames_of(*other).contains(FrameKind::goodbye); }, 20s));
    other.reset();
    EXPECT_TRUE(eventually([&] { return run.losses().find("node 2: ") != std::string::npos; }, 20s));
    lead.reset();
    run.end();
}

TEST_P(NativeMembers, FiftyJoinAndLeaveUnderTrafficAndNothingIsLost) {
    World world;
    world.capacity = 54;
    world.at_start = 4;
    MemberRun run(world, options());
    constexpr NodeId together = 3;
    for (NodeId node = world.at_start; node < world.capacity; ++node) {
        if (node >= world.at_start + together) {
            EXPECT_TRUE(eventually([&] { return run.has_ended(node - together); }, 60s)) << node;
        }
        run.start(node, [](NativeOptions& mine) {
            mine.leave_at = 1ms;
            mine.membership->local_count = 4;
        });
    }
    for (NodeId node = world.capacity - together; node < world.capacity; ++node)
        EXPECT_TRUE(eventually([&] { return run.has_ended(node); }, 60s)) << node;
    run.end();
    run.expect_all_well();
    for (NodeId node = world.at_start; node < world.capacity; ++node)
        EXPECT_TRUE(world.has_left[node]) << node;
}

TEST(NativeMembersByUdp, NodesJoinAndLeaveWhereDatagramsAreLost) {
    for (const bool single : {false, true}) {
        World world;
        world.capacity = 6;
        MemberRun run(world, by_udp(Faults{}, single));
        for (NodeId node = 2; node < world.capacity; ++node)
            run.start(node, [](NativeOptions& mine) { mine.leave_at = 1ms; });
        for (NodeId node = 2; node < world.capacity; ++node) {
            EXPECT_TRUE(eventually([&] { return run.has_ended(node); }, 60s)) << node;
            EXPECT_TRUE(world.has_left[node]) << node;
        }
        EXPECT_TRUE(eventually([&] { return run.talk(0, 1); }));
        run.end();
        run.expect_all_well();
    }
}

TEST(NativeMemberChanges, TheSignalAsksToLeaveOnce) {
    std::atomic<int> asked{0};
    MemberChanges changes([&] { ++asked; }, [](const StartRequest&) {});
    changes.begin({});
    raise(SIGUSR1);
    EXPECT_TRUE(eventually([&] { return asked == 1; }));
    raise(SIGUSR1);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(asked, 1);
}

// A handler on another thread may still write to the event. If its number were free, that would go to the
// file which has it next.
TEST(NativeMemberChanges, TheEventOfTheSignalIsNeverClosed) {
    int number = -1;
    {
        const LeaveSignal first;
        number = first.event().get();
        raise(SIGUSR1);
    }
    const host::Descriptor next = host::make_event();
    EXPECT_NE(next.get(), number);
    EXPECT_NE(fcntl(number, F_GETFD), -1);

    // The signal before was not meant for this one.
    const LeaveSignal second;
    pollfd entry{second.event().get(), POLLIN, 0};
    EXPECT_EQ(poll(&entry, 1, 0), 0);
    raise(SIGUSR1);
    EXPECT_EQ(poll(&entry, 1, 0), 1);
}

TEST(NativeMemberChanges, RequestsForNodesComeAtTheirTimeAndAtOnce) {
    std::mutex mutex;
    std::vector<NodeId> asked;
    MemberChanges changes([] {},
                          [&](const StartRequest& request) {
                              const std::lock_guard lock(mutex);
                              asked.push_back(request.node.value_or(100 + request.count));
                          });
    const Deadline now = Clock::now();
    changes.begin({.starts = {{now + 40ms, {1, 3}}, {now + 10ms, {1, 2}}}});
    changes.start({5, {}});
    EXPECT_TRUE(eventually([&] {
        const std::lock_guard lock(mutex);
        return asked.size() == 3;
    }));
    // The request at once comes first, unless this thread was held up for longer than a request's time.
    std::erase(asked, 105);
    EXPECT_EQ(asked, (std::vector<NodeId>{2, 3}));
}

TEST(NativeMemberChanges, ANodeAsksTheRendezvousForMore) {
    std::mutex mutex;
    std::vector<StartRequest> asked;
    const Key key = make_key();
    const Rendezvous rendezvous(Places(1, 4), key, "127.0.0.1", 10s, {}, [&](const StartRequest& request) {
        const std::lock_guard lock(mutex);
        asked.push_back(request);
    });
    const Membership self{0, 4, key, rendezvous.address()};
    ask_for_nodes(self, {2, {}}, soon());
    ask_for_nodes(self, {1, 3}, soon());
    EXPECT_TRUE(eventually([&] {
        const std::lock_guard lock(mutex);
        return asked.size() == 2;
    }));
    EXPECT_EQ(asked[0].count, 2u);
    EXPECT_FALSE(asked[0].node);
    EXPECT_EQ(asked[1].node, NodeId{3});
}

TEST(NativeMemberChanges, MpiHasNone) {
    EXPECT_NE(error_of([] { NativeBackend({.mpi = MpiOptions{}, .at_start = 1}); }).find("not by MPI"),
              std::string::npos);
}

}  // namespace heddle::native
