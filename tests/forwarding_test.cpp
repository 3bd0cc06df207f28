// Tests messages over gateways: every size arrives whole and in order, and no more than a window of them is
// on its way.
#include "runtime/comm/forwarding.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "base/error.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "tests/networks_testing.hpp"

namespace heddle::runtime {
namespace {

struct Note {
    std::uint64_t number;
    std::uint64_t body_bytes;
};

/// What the nodes of a run have received, by receiver and sender.
struct Received {
    std::map<std::pair<NodeId, NodeId>, std::vector<std::uint64_t>> numbers;
    bool whole = true;
};

std::byte byte_of(NodeId from, std::uint64_t number, std::uint64_t place) {
    return static_cast<std::byte>(from * 31 + number * 7 + place * 13 + place / 251);
}

class Sender final : public Program {
public:
    Sender(const std::vector<std::uint64_t>& sizes, Received& received)
        : sizes_(sizes), received_(received) {}

    void begin(Worker& worker) override {
        if (worker.id.core != 0) return;
        const NodeId self = worker.id.node;
        for (std::uint64_t number = 0; number < sizes_.size(); ++number) {
            for (NodeId to = 0; to < worker.node().topology().nodes; ++to) {
                if (to == self) continue;
                const auto body = std::make_shared<Bytes>(sizes_[number]);
                for (std::uint64_t i = 0; i < body->size(); ++i) (*body)[i] = byte_of(self, number, i);
                post(worker, to, {number, body->size()}, body);
            }
        }
    }
    void arrived(NodeId self, NodeId from, const Note& note, std::span<const std::byte> content) {
        received_.numbers[{self, from}].push_back(note.number);
        bool whole = content.size() == note.body_bytes;
        for (std::uint64_t i = 0; whole && i < content.size(); ++i)
            whole = content[i] == byte_of(from, note.number, i);
        received_.whole = received_.whole && whole;
    }
    Answer answer() const override { return {}; }

private:
    static void post(Worker& worker, NodeId to, const Note& note, Body body);

    const std::vector<std::uint64_t>& sizes_;
    Received& received_;
};

const Handler note_handler("forwarding_test.note", Handler::Kind::work,
                           [](Node& node, NodeId from, auto message) {
                               Reader reader(message);
                               const auto note = reader.get<Note>();
                               const auto small = reader.get_rest();
                               const Body body = node.take_body();
                               static_cast<Sender&>(node.program())
                                   .arrived(node.id(), from, note,
                                            body ? std::span<const std::byte>(*body) : small);
                           });

void Sender::post(Worker& worker, NodeId to, const Note& note, Body body) {
    worker.outbox().post(to, note_handler, bytes_of(note), Enclosure{std::move(body), note.number});
}

Received run(NodeId nodes, std::shared_ptr<const NetworkRoutes> routes,
             const std::vector<std::uint64_t>& sizes, const inprocess::Faults& faults, std::uint64_t seed) {
    inprocess::Options options;
    options.nodes = nodes;
    options.cores = 2;
    options.seed = seed;
    options.faults = faults;
    options.routes = std::move(routes);
    inprocess::InprocessBackend backend(options);
    Received received;
    Execution(backend, Schedule{}, [&](NodeId) { return std::make_unique<Sender>(sizes, received); }).run();
    return received;
}

void expect_all(const Received& received, NodeId nodes, std::uint64_t messages) {
    EXPECT_TRUE(received.whole);
    ASSERT_EQ(received.numbers.size(), std::size_t{nodes} * (nodes - 1));
    for (const auto& [pair, numbers] : received.numbers) {
        ASSERT_EQ(numbers.size(), messages);
        for (std::uint64_t i = 0; i < messages; ++i)
            EXPECT_EQ(numbers[i], i) << pair.first << " " << pair.second;
    }
}

}  // namespace

TEST(Forwarding, EverySizeArrivesWholeAndInOrderOverALine) {
    const std::vector<std::uint64_t> sizes = {0, 1, 8191, 8192, 65'535, 65'536, 65'537, 3'000'000, 5};
    const Received received = run(4, testing_networks::line_of_networks(4), sizes, {}, 1);
    // Neighbours use the network itself, where bodies and small messages may overtake each other elsewhere.
    expect_all(received, 4, sizes.size());
}

TEST(Forwarding, SmallFragmentsAndWindowsInADisorderedWorldLoseNothing) {
    const std::vector<std::uint64_t> sizes = {0, 3, 700, 20, 9'000, 1, 12'345};
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        NetworkRoutes::Settings settings;
        settings.fragment_bytes = 100 + 50 * (seed % 3);
        settings.window_bytes = 200 * (1 + seed % 4);
        const Received received = run(4, testing_networks::line_of_networks(4, settings), sizes,
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
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        expect_all(run(2, routes, sizes, {.delay_max = 100, .reorders = true}, seed), 2, sizes.size());
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
