// Tests messages over gateways: every size arrives whole and in order, and no more than a window of them is
// on its way.
#include "runtime/comm/forwarding.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "tests/forwarding_testing.hpp"
#include "tests/networks_testing.hpp"

namespace heddle::runtime {

using forwarding_testing::expect_all;
using forwarding_testing::Received;
using forwarding_testing::Sender;

namespace {

void run(Received& received, NodeId nodes, std::shared_ptr<const NetworkRoutes> routes,
         const std::vector<std::uint64_t>& sizes, const inprocess::Faults& faults, std::uint64_t seed) {
    inprocess::Options options;
    options.nodes = nodes;
    options.cores = 2;
    options.seed = seed;
    options.faults = faults;
    options.routes = std::move(routes);
    inprocess::InprocessBackend backend(options);
    Execution(backend, Schedule{}, [&](NodeId) { return std::make_unique<Sender>(sizes, received); }).run();
}

}  // namespace

TEST(Forwarding, EverySizeArrivesWholeAndInOrderOverALine) {
    const std::vector<std::uint64_t> sizes = {0, 1, 8191, 8192, 65'535, 65'536, 65'537, 3'000'000, 5};
    Received received;
    run(received, 4, testing_networks::line_of_networks(4), sizes, {}, 1);
    // Neighbours use the network itself, where bodies and small messages may overtake each other elsewhere.
    expect_all(received, 4, sizes.size());
}

TEST(Forwarding, SmallFragmentsAndWindowsInADisorderedWorldLoseNothing) {
    const std::vector<std::uint64_t> sizes = {0, 3, 700, 20, 9'000, 1, 12'345};
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        NetworkRoutes::Settings settings;
        settings.fragment_bytes = 100 + 50 * (seed % 3);
        settings.window_bytes = 200 * (1 + seed % 4);
        Received received;
        run(received, 4, testing_networks::line_of_networks(4, settings), sizes,
            {.delay_max = 50, .reorders = true, .wakes_percent = 5}, seed);
        EXPECT_TRUE(received.whole) << seed;
        for (const auto& [pair, numbers] : received.numbers) {
            ASSERT_EQ(numbers.size(), sizes.size()) << seed;
            const bool neighbours = pair.first + 1 == pair.second || pair.second + 1 == pair.first;
            EXPECT_TRUE(neighbours || std::is_sorted(numbers.begin(), numbers.end())) << seed;
        }
    }
}

TEST(Forwarding, TwoNetworksAtOnceKeepTheOrder) {
    NetworkRoutes::Settings settings;
    settings.fragment_bytes = 1000;
    settings.all_rails = true;
    const auto routes = std::make_shared<NetworkRoutes>(
        2, std::vector<JoinedNodes>{{"slow", {0, 1}, {}, 1e8}, {"fast", {0, 1}, {}, 1e9}}, settings);
    const std::vector<std::uint64_t> sizes = {100'000, 0, 50'000, 1};
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Received received;
        run(received, 2, routes, sizes, {.delay_max = 100, .reorders = true}, seed);
        expect_all(received, 2, sizes.size());
    }
}

/// Counts what is between the nodes: what they have sent, less what has arrived.
TEST(Forwarding, NoMoreThanAWindowIsUnderWay) {
    NetworkRoutes::Settings settings;
    settings.fragment_bytes = 1000;
    settings.window_bytes = 8000;
    const auto routes = testing_networks::line_of_networks(3, settings);
    inprocess::Options options;
    options.nodes = 3;
    options.cores = 1;
    options.routes = routes;
    // A message waits long before it is delivered, so that all that may be under way is.
    options.faults.delay_max = 100'000;
    inprocess::InprocessBackend backend(options);
    const std::vector<std::uint64_t> sizes = {400'000, 400'000};
    Received received;
    Execution(backend, Schedule{}, [&](NodeId) { return std::make_unique<Sender>(sizes, received); }).run();
    EXPECT_TRUE(received.whole);
    // From node 0 to 2, and back, each fragment once to node 1 and once from it, and the neighbours' own
    // messages, which have the network to themselves.
    constexpr std::uint64_t own = 8 * 400'000;
    const std::uint64_t forwarded = 2 * settings.window_bytes * 2;
    EXPECT_LE(backend.most_under_way_bytes(), own + forwarded + 100'000);
    EXPECT_GE(backend.most_under_way_bytes(), own);
}

TEST(Forwarding, AFragmentThatIsNoPartOfItsMessageIsRefused) {
    class Liar final : public Program {
    public:
        void begin(Worker& worker) override {
            if (worker.id.node != 0 || worker.id.core != 0) return;
            for (const Handler* handler : all_handlers()) {
                if (handler->name() != "forwarding.fragment") continue;
                const FragmentHeader header{0, 1, 0, 10, 0, 0, 8};
                const std::vector<std::byte> content(5);
                worker.outbox().post(1, *handler, bytes_of(header), Outbox::Urgency::now, content);
            }
        }
        Answer answer() const override { return {}; }
    };
    inprocess::Options options;
    options.nodes = 2;
    options.routes = testing_networks::line_of_networks(2);
    inprocess::InprocessBackend backend(options);
    try {
        Execution(backend, Schedule{}, [](NodeId) { return std::make_unique<Liar>(); }).run();
        FAIL() << "it was accepted";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("no part of its message"), std::string::npos)
            << error.what();
    }
}

}  // namespace heddle::runtime
