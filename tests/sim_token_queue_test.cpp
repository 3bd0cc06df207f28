// Simulates the token queue that a node's workers share: its operations take turns, so it limits the node's
// speed. Also the cost that each other node adds to a look for messages.
#include <gtest/gtest.h>

#include "sim/sim_backend.hpp"
#include "tests/earth_testing.hpp"

namespace heddle {
namespace {

using namespace test;
using runtime::TokenQueues;
using std::chrono::microseconds;

constexpr int tokens = 1000;

struct PlaceParameters {
    Sptr done;
};

/// Nothing but one microsecond of work.
struct Piece : Threaded<Piece, PlaceParameters> {
    void init(Em em) {
        em.compute({1e4, 0}, [] {});
        em.sync(done);
        em.terminate();
    }
};

struct Pieces : Threaded<Pieces> {
    void init(Em em) {
        for (int i = 0; i < tokens; ++i) em.token<Piece>(em.to_sptr(all));
    }
    void end(Em em) { em.terminate(); }
    Fiber<&Pieces::end> all{*this, tokens};
};

Platform platform_of(NodeId nodes, CoreId cores) {
    Platform platform;
    platform.nodes = nodes;
    platform.cores = cores;
    platform.core_speed = 1e10;
    platform.overheads = {};
    return platform;
}

double makespan_us(CoreId cores, Time token) {
    Platform platform = platform_of(1, cores);
    platform.overheads.token = token;
    sim::SimBackend backend(platform);
    Notes shared;
    const auto result = run_on(backend, {1, cores, 1, "random", false, TokenQueues::node}, shared,
                               [](Em em) { em.invoke<Pieces>(0); });
    EXPECT_EQ(unterminated(result), 0);
    return to_seconds(result.makespan) * 1e6;
}

// A token is put and taken once each, by operations of `token`. Worker 0 puts them all, one after the other.
TEST(SimTokenQueue, OneWorkerPaysForEachOperation) {
    EXPECT_NEAR(makespan_us(1, microseconds(2)), tokens * (2 + 2 + 1), 0.01 * tokens);
}

// Two workers' operations never overlap: 2 tokens x `token`, however many workers there are, and little more
// where the work of a token fits beside another's operations.
TEST(SimTokenQueue, OperationsTakeTurns) {
    for (const CoreId cores : {2U, 4U}) {
        const double found = makespan_us(cores, microseconds(2));
        EXPECT_GE(found, tokens * (2 + 2)) << cores;
        EXPECT_LT(found, tokens * (2 + 2) * 1.01) << cores;
    }
    EXPECT_LT(makespan_us(4, Time::zero()), tokens / 4 * 1.01);  // without a price no worker waits
}

/// How long a message of node 0 to node 1 takes there and back.
double round_trip_us(NodeId nodes, Time poll_peer, bool single) {
    struct Reader : Threaded<Reader> {
        std::int64_t copy;
        void init(Em em) {
            static std::int64_t value = 7;
            em.get_sync(Global<std::int64_t>(1, &value), copy, came);
        }
        void note(Em em) {
            notes(em).add(em.worker().backend->now(em.worker()) / std::chrono::nanoseconds(1));
            em.terminate();
        }
        Fiber<&Reader::note> came{*this, 1};
    };
    Platform platform = platform_of(nodes, 1);
    platform.overheads.poll_peer = poll_peer;
    sim::SimOptions options;
    options.single_module = single;
    sim::SimBackend backend(platform, options);
    Notes shared;
    run_on(backend, {nodes, 1, 1, "none"}, shared, [](Em em) { em.invoke<Reader>(0); });
    return static_cast<double>(shared.values.at(0)) / 1e3;
}

// Request and reply are received once each, after one look through all others; and before the reply node 0
// has received what each other node says when it has nothing to do (termination detection).
TEST(SimTokenQueue, EachOtherNodeAddsToALookForMessages) {
    for (const NodeId nodes : {2U, 3U}) {
        const double others = nodes - 1;
        const double free = round_trip_us(nodes, Time::zero(), false);
        const double found = round_trip_us(nodes, microseconds(10), false) - free;
        EXPECT_NEAR(found, (2 + others) * 10 * others, 0.1) << nodes << " nodes";
    }
    // A worker that polls pays it at each poll, also where nothing has come.
    EXPECT_GE(round_trip_us(3, microseconds(10), true), round_trip_us(3, Time::zero(), true) + 2 * 10 * 2);
}

}  // namespace
}  // namespace heddle
