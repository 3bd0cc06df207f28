// Tests several networks natively, between nodes that are threads of this process. Each node has connections
// of its own, at its own address. Messages of all sizes arrive over the gateways of a line. Processes:
// native_networks_test.py.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include "base/recorder.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/native/rendezvous.hpp"
#include "tests/conformance.hpp"
#include "tests/forwarding_testing.hpp"
#include "tests/native_testing.hpp"
#include "tests/networks_testing.hpp"

namespace heddle::native {
namespace {

using runtime::forwarding_testing::expect_all;
using runtime::forwarding_testing::Received;

/// An address of this machine that only this process uses.
std::string own_address(int network) {
    return fmt::format("127.{}.{}.{}", 100 + getpid() % 100, getpid() / 100 % 250, 1 + network);
}

/// How many established connections have that address at this end, of all processes.
int connections_at(const std::string& address) {
    in_addr binary{};
    inet_pton(AF_INET, address.c_str(), &binary);
    const std::string wanted = fmt::format("{:08X}:", binary.s_addr);
    std::ifstream table("/proc/net/tcp");
    int count = 0;
    std::string line;
    std::getline(table, line);
    while (std::getline(table, line)) {
        std::istringstream words(line);
        std::string number, local, remote, state;
        words >> number >> local >> remote >> state;
        count += local.starts_with(wanted) && state == "01" ? 1 : 0;
    }
    return count;
}

MeshNetwork by_tcp(int network) {
    const std::string address = own_address(network);
    return {.address = address, .from = address, .local = Local::tcp};
}

MeshNetwork datagrams_on(int network) {
    MeshNetwork made = by_tcp(network);
    made.udp.emplace();
    return made;
}

MeshNetwork in_machine(Local local) {
    return {.local = local, .in_machine = true};
}

/// Runs the nodes; node 0 calls `at_first` when all are connected.
void run(NodeId nodes, const NativeOptions& common, const std::vector<std::uint64_t>& sizes,
         Received& received, const std::function<void()>& at_first = {}) {
    class Watched final : public runtime::forwarding_testing::Sender {
    public:
        Watched(const std::vector<std::uint64_t>& sizes, Received& received, std::function<void()> at_first)
            : Sender(sizes, received), at_first_(std::move(at_first)) {}
        void begin(runtime::Worker& worker) override {
            if (at_first_ && worker.id.node == 0) at_first_();
            Sender::begin(worker);
        }

    private:
        std::function<void()> at_first_;
    };
    const Key key = make_key();
    const Rendezvous rendezvous(nodes, key);
    std::vector<std::thread> threads;
    for (NodeId node = 0; node < nodes; ++node) {
        threads.emplace_back([&, node, mine = common]() mutable {
            mine.membership = Membership{node, nodes, key, rendezvous.address(), node, nodes};
            NativeBackend backend(mine);
            runtime::Execution(backend, runtime::Schedule{}, [&](NodeId) {
                return std::make_unique<Watched>(sizes, received, at_first);
            }).run();
        });
    }
    for (std::thread& thread : threads) thread.join();
}

const std::vector<std::uint64_t> all_sizes = {0,      1,      8191,      8192,      65'535,
                                              65'536, 65'537, 3'000'000, 64U << 20, 5};
const std::vector<std::uint64_t> fewer_sizes = {0, 1, 65'536, 65'537, 3'000'000, 5};

class NativeNetworks : public testing::TestWithParam<bool> {};

/// Notes how many bytes each message has, at its two ends. One thread at a time sends, and one delivers.
class SizeNotes final : public Recorder {
public:
    void begin(NodeId, CoreId, std::function<Time()>) override {}
    void entered(WorkerId, Activity, Time) override {}
    void sending(const MessageNote& message, Time, Time) override { sent.insert(message.bytes); }
    void receiving(const MessageNote&, Time) override {}
    void delivered(const MessageNote& message, Time) override { came.insert(message.bytes); }
    void finish(Time) override {}

    std::multiset<std::uint64_t> sent, came;
};

constexpr std::size_t wide_bytes = 32U << 20;  ///< more than a socket takes at once
constexpr NodeId wide_from = 1, wide_to = 0;

/// Node 1 sends a large body over one network, and small messages over the other one. Node 0 has room for the
/// body, and begins to read it when all small messages are under way.
class WideAndNarrow final : public runtime::NodeProgram {
public:
    WideAndNarrow(NodeId node, SizeNotes& notes, std::atomic<bool>& all_sent)
        : node_(node), room_(node == wide_to ? wide_bytes : 0), all_sent_(all_sent) {
        for (runtime::Context& context : contexts_) context.recorder = &notes;
    }
    runtime::Context& context(CoreId core) override { return contexts_[core]; }
    void work(CoreId) override {
        if (node_ != wide_from) return;
        runtime::Context& worker = contexts_[0];
        const auto body = std::make_shared<runtime::Bytes>(wide_bytes);
        worker.backend->send(worker, wide_to, runtime::Bytes(8), {body}, {0});
        for (std::size_t bytes = 1; bytes <= 20; ++bytes)
            worker.backend->send(worker, wide_to, runtime::Bytes(bytes), {}, {1});
        all_sent_ = true;
    }
    Room room(NodeId, std::span<const std::byte>, std::uint64_t bytes) override {
        EXPECT_EQ(bytes, wide_bytes);
        EXPECT_TRUE(eventually([this] { return all_sent_.load(); }));
        return {room_, {}};
    }
    void deliver(NodeId, std::span<const std::byte>, runtime::Body body) override { EXPECT_FALSE(body); }

private:
    NodeId node_;
    std::array<runtime::Context, 2> contexts_;
    runtime::Bytes room_;
    std::atomic<bool>& all_sent_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Modules, NativeNetworks, testing::Values(false, true), [](const auto& single) {
    return std::string(single.param ? "single" : "separate");
});

TEST_P(NativeNetworks, ALineOfTwoTcpAddressesAndSharedMemoryCarriesAllSizes) {
    Received received;
    run(4,
        {.routes = testing_networks::line_of_networks(4),
         .networks = {by_tcp(0), by_tcp(1), in_machine(Local::shared_memory)},
         .single_module = GetParam()},
        all_sizes, received, [] {
            // One connection for each of the two pairs, and both its ends are here.
            EXPECT_EQ(connections_at(own_address(0)), 2);
            EXPECT_EQ(connections_at(own_address(1)), 2);
        });
    expect_all(received, 4, all_sizes.size());
}

TEST_P(NativeNetworks, ALineOfUnixSocketsUdpAndTcpCarriesAllSizes) {
    Received received;
    run(4,
        {.routes = testing_networks::line_of_networks(4),
         .networks = {in_machine(Local::unix_socket), datagrams_on(1), by_tcp(0)},
         .single_module = GetParam()},
        fewer_sizes, received);
    expect_all(received, 4, fewer_sizes.size());
}

TEST_P(NativeNetworks, TwoNetworksAtOnceCarryTheFragmentsOfOneMessage) {
    NetworkRoutes::Settings settings;
    settings.fragment_bytes = 10'000;
    settings.all_rails = true;
    const auto routes = std::make_shared<NetworkRoutes>(
        2, std::vector<JoinedNodes>{{"slow", {0, 1}, {}, 1e8}, {"fast", {0, 1}, {}, 1e9}}, settings);
    Received received;
    run(2, {.routes = routes, .networks = {by_tcp(0), by_tcp(1)}, .single_module = GetParam()}, fewer_sizes,
        received, [] {
            EXPECT_EQ(connections_at(own_address(0)), 2);
            EXPECT_EQ(connections_at(own_address(1)), 2);
        });
    expect_all(received, 2, fewer_sizes.size());
}

// A process says in its hello at which address others find it: all that an address says of the machine has to
// fit.
TEST_P(NativeNetworks, TheBytesOfABodyAreNotedWithItsMessageAndNoOther) {
    SizeNotes notes;
    std::atomic<bool> all_sent{false};
    const auto routes = std::make_shared<NetworkRoutes>(
        2, std::vector<JoinedNodes>{{"wide", {0, 1}}, {"narrow", {0, 1}}}, NetworkRoutes::Settings{});
    std::array<std::unique_ptr<WideAndNarrow>, 2> nodes;
    conformance::run_native(
        2, 1,
        [&](NodeId node) -> runtime::NodeProgram& {
            nodes[node] = std::make_unique<WideAndNarrow>(node, notes, all_sent);
            return *nodes[node];
        },
        {.routes = routes, .networks = {by_tcp(0), by_tcp(1)}, .single_module = GetParam()});
    EXPECT_EQ(notes.sent.size(), 21U);
    EXPECT_EQ(notes.came, notes.sent);
}

TEST_P(NativeNetworks, ANetworkInTheMachineIsEnough) {
    for (const Local local : {Local::shared_memory, Local::unix_socket}) {
        const auto routes = std::make_shared<NetworkRoutes>(
            2, std::vector<JoinedNodes>{{"only", {0, 1}, std::chrono::microseconds(1), 1e9}},
            NetworkRoutes::Settings{});
        Received received;
        run(2, {.routes = routes, .networks = {in_machine(local)}, .single_module = GetParam()}, fewer_sizes,
            received);
        expect_all(received, 2, fewer_sizes.size());
    }
}

// Five nodes: two networks with a gateway, and one node in a third. Several pairs share each network.
TEST_P(NativeNetworks, SeveralNodesOfANetworkMeetOnEach) {
    const auto routes = std::make_shared<NetworkRoutes>(
        6,
        std::vector<JoinedNodes>{{"left", {0, 2, 4}, std::chrono::microseconds(1), 1e9},
                                 {"right", {1, 3, 4}, std::chrono::microseconds(1), 1e9},
                                 {"end", {3, 5}, std::chrono::microseconds(1), 1e9}},
        NetworkRoutes::Settings{});
    Received received;
    run(6,
        {.routes = routes,
         .networks = {by_tcp(0), in_machine(Local::shared_memory), datagrams_on(1)},
         .single_module = GetParam()},
        fewer_sizes, received);
    expect_all(received, 6, fewer_sizes.size());
}

// Gateways end before node 0 does. Without its gateway, a node that joins cannot ask whether the run goes on.
TEST(NativeNetworksOfMembers, ANodeWhoseGatewayHasEndedIsToldThatTheRunIsOver) {
    const Key key = make_key();
    Rendezvous rendezvous(Places(3, 4), key);
    const auto membership = [&](NodeId node) { return Membership{node, 4, key, rendezvous.address()}; };
    std::vector<std::thread> beginners;
    for (NodeId node = 0; node < 3; ++node)
        beginners.emplace_back([&, node] {
            std::vector<std::string> addresses(3);
            for (NodeId network = 0; network < 3; ++network)
                if (network == node || network + 1 == node) addresses[network] = "127.0.0.1:1";
            (void)meet(membership(node), Agreement{}, addresses, std::chrono::seconds(10));
        });
    for (std::thread& thread : beginners) thread.join();
    rendezvous.node_ended(2);
    NativeOptions options;
    options.routes = testing_networks::line_of_networks(4);
    options.networks = {by_tcp(0), by_tcp(1), by_tcp(2)};
    options.membership = membership(3);
    options.at_start = 3;
    int over = 0;
    options.on_over = [&] { ++over; };
    NativeBackend(options).run([](NodeId) -> runtime::NodeProgram& { throw Error("it has begun"); });
    EXPECT_EQ(over, 1);
}

// So a process that joins is told that it runs on the wrong machine, not that the run is over.
TEST(NativeNetworksInAMachine, AnAddressSaysOfWhichMachineItIs) {
    const std::string here = fresh_local_address();
    EXPECT_TRUE(is_of_this_machine(here));
    EXPECT_NE(here, fresh_local_address());
    EXPECT_LT(here.size(), sizeof wire::Hello::address) << here;
    EXPECT_FALSE(is_of_this_machine("machine-another:" + port_of(here)));
}

}  // namespace heddle::native
