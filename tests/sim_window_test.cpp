// Tests the simulator's windows, spans of virtual time in which machines run independently: they change no
// result. A naive simulation with one heap for all machines ends the same. Two runs are the same event by
// event.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "host/thread_crew.hpp"
#include "sim/fair_links.hpp"
#include "sim/machine.hpp"
#include "sim/world.hpp"
#include "tests/seeds.hpp"
#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

/// What a worker does next. Times are odd numbers of picoseconds in the fine grain, and multiples of 100 ns
/// in the coarse one, where much happens at the same time.
struct Step {
    enum class Kind { charge, compute, send, park, unpark } kind;
    Time time{};
    NodeId to = 0;
    std::uint64_t bytes = 0;
};

struct Scenario {
    std::uint64_t seed = 1;
    NodeId nodes = 5;
    CoreId cores = 3;
    int steps = 60;
    bool coarse = false;
    std::uint64_t bytes_max = 3000;
    NodeId processes = 1;

    Platform platform() const {
        Platform platform = ideal(nodes, cores);
        platform.processes = processes;
        platform.shared_memory = {ns(coarse ? 100 : 313), 2e9};
        platform.overheads.message_enqueue = ns(coarse ? 100 : 61);
        platform.overheads.message_send = ns(coarse ? 100 : 401);
        platform.overheads.message_receive = ns(coarse ? 100 : 299);
        platform.overheads.wake_up = ns(coarse ? 200 : 1501);
        platform.network.gap = ns(coarse ? 100 : 77);
        return platform;
    }

    Step step(NodeId node, CoreId core, int number) const {
        Random random = Random(seed).split(node).split(core).split(static_cast<std::uint64_t>(number));
        Step step{static_cast<Step::Kind>(random.below(5)), {}, 0, 0};
        step.time = coarse ? ns(100 * static_cast<std::int64_t>(1 + random.below(30)))
                           : Time(static_cast<std::int64_t>(1 + random.below(3'000'000)));
        step.to = static_cast<NodeId>((node + 1 + random.below(nodes - 1)) % nodes);
        step.bytes = coarse ? 100 * random.below(bytes_max / 100) : random.below(bytes_max);
        if (step.kind == Step::Kind::unpark) step.to = static_cast<NodeId>(random.below(cores));
        return step;
    }

    /// What a handler does: charges, wakes a worker, and answers every third message that still may be
    /// answered.
    Time handler_time(std::uint64_t bytes) const {
        return ns(static_cast<std::int64_t>(coarse ? 100 : 37 + bytes % 91));
    }
    CoreId woken(std::uint64_t bytes) const { return static_cast<CoreId>(bytes % cores); }
    static bool answered(std::uint64_t bytes) { return bytes % 3 == 1 && bytes > 60; }
};

/// (time, core or number of cores for the receiver, number of the step or size of the message), node by node.
using Log = std::vector<std::vector<std::tuple<Time, CoreId, std::uint64_t>>>;

Log simulated(const Scenario& scenario, const SimOptions& options = {}, const Platform* other = nullptr) {
    Log log(scenario.nodes);
    run(
        other ? *other : scenario.platform(),
        [&](Script&, Context& context) {
            for (int i = 0; i < scenario.steps; ++i) {
                log[context.id.node].emplace_back(now(context), context.id.core, i);
                const Step step = scenario.step(context.id.node, context.id.core, i);
                switch (step.kind) {
                    case Step::Kind::charge:
                        context.charge(step.time);
                        break;
                    case Step::Kind::compute:
                        compute(context, busy(step.time));
                        break;
                    case Step::Kind::send:
                        send(context, step.to, step.bytes);
                        break;
                    case Step::Kind::park:
                        context.backend->park(context, now(context) + step.time);
                        break;
                    case Step::Kind::unpark:
                        context.charge(step.time);
                        context.backend->unpark(context, step.to);
                        break;
                }
            }
        },
        [&](Script&, Context& context, NodeId from, std::span<const std::byte> message) {
            log[context.id.node].emplace_back(now(context), context.id.core, message.size());
            context.charge(scenario.handler_time(message.size()));
            context.backend->unpark(context, scenario.woken(message.size()));
            if (Scenario::answered(message.size())) send(context, from, message.size() / 2);
        },
        options);
    return log;
}

/// The same, the plain way: one queue for all, every step an event; the links are shared instant by instant.
/// Small messages on a star only.
class Naive {
public:
    explicit Naive(const Scenario& scenario)
        : scenario_(scenario), platform_(scenario.platform()), nodes_(scenario.nodes), log_(scenario.nodes) {
        for (NodeId n = 0; n < scenario.nodes; ++n) {
            nodes_[n].workers.resize(scenario.cores);
            for (CoreId c = 0; c < scenario.cores; ++c) push(Time::zero(), Kind::resume, n, n, c);
            links_.add_link(1e9);  // from the card of that number
            links_.add_link(1e9);  // to it
        }
    }

    Log run() {
        for (;;) {
            const Time next = events_.empty() ? never : events_.top().time;
            if (next == never && links_.empty()) break;
            if (links_.next() <= next) {  // one instant of the network
                passed_.clear();
                links_.run(links_.next() + Time(1));
                for (const Passage& passage : passed_) {
                    const Message& message = *passage.message;
                    events_.push({passage.ends, Kind::arrival, message.from, message.sequence, message.to,
                                  message.size()});
                }
                continue;
            }
            const Event event = events_.top();
            events_.pop();
            act(event);
        }
        return log_;
    }

private:
    enum class Kind { arrival, delivery, resume, deadline, departure };
    struct Event {
        Time time{};
        Kind kind;
        NodeId source;
        std::uint64_t sequence;
        NodeId node;
        std::uint64_t subject;  // worker, bytes, or park
        bool operator<(const Event& other) const {
            return std::tie(time, kind, source, sequence) >
                   std::tie(other.time, other.kind, other.source, other.sequence);
        }
    };
    struct Worker {
        int next = 0;
        bool charged = false;  // the present step's time has passed
        bool parked = false;
        bool waking = false;
        bool permit = false;
        std::uint64_t parks = 0;
    };
    struct Node {
        std::vector<Worker> workers;
        std::uint64_t sequence = 0;
        std::uint64_t messages = 0;
        Time sender{};
        Time card{};  // of the machine of that number
        std::map<NodeId, Time> channels;
        Time receiver{};
        std::deque<std::pair<NodeId, std::uint64_t>> inbox;
    };

    void push(Time time, Kind kind, NodeId source, NodeId node, std::uint64_t subject) {
        events_.push({time, kind, source, nodes_[source].sequence++, node, subject});
    }

    NodeId machine(NodeId node) const { return node / scenario_.processes; }

    void send(NodeId from, Time clock, NodeId to, std::uint64_t bytes) {
        Node& node = nodes_[from];
        node.sender = std::max(node.sender, clock) + platform_.overheads.message_send;
        const std::uint64_t number = node.messages++;
        if (machine(from) != machine(to)) {
            events_.push({node.sender, Kind::departure, from, number, to, bytes});
            return;
        }
        Time& channel = node.channels[to];
        channel = std::max(node.sender, channel) + ns(static_cast<std::int64_t>(bytes)) / 2;
        events_.push({channel + platform_.shared_memory.latency, Kind::arrival, from, number, to, bytes});
    }

    /// The machine's card takes the message.
    void depart(const Event& event) {
        Node& card = nodes_[machine(event.source)];
        const Time start = std::max(event.time, card.card);
        card.card = start + platform_.network.gap;
        Message& message = messages_.emplace_back();
        message.bytes.resize(event.subject);
        message.from = event.source;
        message.to = event.node;
        message.sequence = event.sequence;
        Passage passage{start + us(2), &message,       event.source,
                        event.node,    event.sequence, static_cast<double>(event.subject)};
        passage.weight = 1 / 2e-6;
        passage.at_least = ns(static_cast<std::int64_t>(event.subject));
        passage.links = {2 * machine(event.source), 2 * machine(event.node) + 1};
        links_.begin(passage);
    }

    void unpark(NodeId n, Time clock, CoreId core) {
        Worker& worker = nodes_[n].workers[core];
        if (worker.parked) {
            worker.parked = false;
            worker.waking = true;
            push(clock + platform_.overheads.wake_up, Kind::resume, n, n, core);
        } else if (!worker.waking) {
            worker.permit = true;
        }
    }

    void receive(Node& node, NodeId n, Time time) {
        push(std::max(time, node.receiver) + platform_.overheads.message_receive, Kind::delivery, n, n, 0);
    }

    void act(const Event& event) {
        Node& node = nodes_[event.node];
        switch (event.kind) {
            case Kind::arrival:
                node.inbox.emplace_back(event.source, event.subject);
                if (node.inbox.size() == 1) receive(node, event.node, event.time);
                break;
            case Kind::departure:
                depart(event);
                break;
            case Kind::delivery: {
                const auto [from, bytes] = node.inbox.front();
                log_[event.node].emplace_back(event.time, scenario_.cores, bytes);
                node.receiver = event.time + scenario_.handler_time(bytes);
                unpark(event.node, node.receiver, scenario_.woken(bytes));
                if (Scenario::answered(bytes)) {
                    node.receiver += platform_.overheads.message_enqueue;
                    send(event.node, node.receiver, from, bytes / 2);
                }
                node.inbox.pop_front();
                if (!node.inbox.empty()) receive(node, event.node, event.time);
                break;
            }
            case Kind::deadline: {
                Worker& worker = node.workers[event.subject % scenario_.cores];
                if (!worker.parked || worker.parks != event.subject / scenario_.cores) break;
                worker.parked = false;
                go_on(event.node, static_cast<CoreId>(event.subject % scenario_.cores), event.time);
                break;
            }
            case Kind::resume:
                go_on(event.node, static_cast<CoreId>(event.subject), event.time);
                break;
        }
    }

    void go_on(NodeId n, CoreId core, Time clock) {
        Worker& worker = nodes_[n].workers[core];
        worker.waking = false;
        while (worker.next < scenario_.steps) {
            const Step step = scenario_.step(n, core, worker.next);
            if (!worker.charged) {
                log_[n].emplace_back(clock, core, worker.next);
                if (step.kind == Step::Kind::park) {
                    ++worker.next;
                    if (std::exchange(worker.permit, false)) continue;
                    worker.parked = true;
                    ++worker.parks;
                    events_.push({clock + step.time, Kind::deadline, n, worker.parks << 32 | core, n,
                                  worker.parks * scenario_.cores + core});
                    return;
                }
                worker.charged = true;
                const bool sends = step.kind == Step::Kind::send;
                push(clock + (sends ? platform_.overheads.message_enqueue : step.time), Kind::resume, n, n,
                     core);
                return;
            }
            if (step.kind == Step::Kind::send) send(n, clock, step.to, step.bytes);
            if (step.kind == Step::Kind::unpark) unpark(n, clock, static_cast<CoreId>(step.to));
            worker.charged = false;
            ++worker.next;
        }
    }

    Scenario scenario_;
    Platform platform_;
    std::vector<Node> nodes_;
    std::priority_queue<Event> events_;
    FairLinks links_{[this](const Passage& passage) { passed_.push_back(passage); }};
    std::deque<Message> messages_;
    std::vector<Passage> passed_;
    Log log_;
};

const SimOptions no_competition{.messages_compete_for_cores = false};

TEST(SimWindow, RandomProgramsEndAsWithOneHeapForAllNodes) {
    std::size_t messages = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const Scenario scenario{.seed = seed,
                                .nodes = static_cast<NodeId>(2 + seed % 7),
                                .cores = static_cast<CoreId>(1 + seed % 4)};
        const Log log = simulated(scenario, no_competition);
        ASSERT_EQ(log, Naive(scenario).run()) << "seed " << seed;
        for (const auto& node : log) {
            messages +=
                static_cast<std::size_t>(std::count_if(node.begin(), node.end(), [&](const auto& entry) {
                    return std::get<1>(entry) == scenario.cores;
                }));
        }
    }
    EXPECT_GT(messages, 1000U);
}

TEST(SimWindow, AlsoWhereMuchHappensAtTheSameTime) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const Scenario scenario{
            .seed = seed, .nodes = static_cast<NodeId>(2 + seed % 5), .cores = 4, .coarse = true};
        ASSERT_EQ(simulated(scenario, no_competition), Naive(scenario).run()) << "seed " << seed;
    }
}

// Nodes of a machine share its card, which takes messages in the order of departure, and write to each other
// through memory. The latency of memory is a sixth of the network's.
TEST(SimWindow, MachinesOfSeveralNodesEndAsWithOneHeapForAll) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const auto processes = static_cast<NodeId>(2 + seed % 3);
        const Scenario scenario{.seed = seed,
                                .nodes = processes * static_cast<NodeId>(1 + seed % 4),
                                .cores = static_cast<CoreId>(1 + seed % 4),
                                .coarse = seed % 2 == 0,
                                .processes = processes};
        ASSERT_EQ(simulated(scenario, no_competition), Naive(scenario).run()) << "seed " << seed;
    }
}

TEST(SimWindow, TheOrderInWhichMachinesOfSeveralNodesAreVisitedDoesNotMatter) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const auto crew = std::make_shared<host::ThreadCrew>(2);
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(25); ++seed) {
        const Scenario scenario{.seed = seed,
                                .nodes = 12,
                                .coarse = seed % 2 == 0,
                                .bytes_max = seed % 3 == 0 ? std::uint64_t{30000} : 900,
                                .processes = 3};
        const Log forwards = simulated(scenario, {.reverse_nodes = false});
        ASSERT_EQ(forwards, simulated(scenario, {.reverse_nodes = true})) << "seed " << seed;
        ASSERT_EQ(forwards, simulated(scenario, {.plain_windows = true})) << "seed " << seed;
        ASSERT_EQ(forwards, simulated(scenario, {.crew = crew})) << "seed " << seed;
    }
}

TEST(SimWindow, TheOrderInWhichNodesAreVisitedDoesNotMatter) {
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(25); ++seed) {
        // With large messages as well, and with nodes whose messages take time from busy cores.
        const Scenario scenario{.seed = seed, .nodes = 9, .coarse = seed % 2 == 0, .bytes_max = 30000};
        const Log forwards = simulated(scenario, {.reverse_nodes = false});
        ASSERT_EQ(forwards, simulated(scenario, {.reverse_nodes = true})) << "seed " << seed;
        ASSERT_EQ(forwards, simulated(scenario, {.reverse_nodes = false})) << "seed " << seed;
    }
}

// Three machines to a leaf switch: messages between the switches take longer. A machine goes on beyond the
// window if no machine of its group has written to it.
TEST(SimWindow, WhoGoesOnBeyondTheWindowDoesNotMatter) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const auto crew = std::make_shared<host::ThreadCrew>(2);
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(25); ++seed) {
        constexpr NodeId groups = 9;
        const bool large = seed % 5 == 0;
        const auto processes = static_cast<NodeId>(1 + seed / 2 % 2);
        const Scenario scenario{.seed = seed,
                                .nodes = 3 * groups * processes,
                                .cores = static_cast<CoreId>(1 + seed % 4),
                                .coarse = seed % 2 == 0,
                                .bytes_max = large ? std::uint64_t{30000} : 900,
                                .processes = processes};
        Platform platform = scenario.platform();
        ASSERT_EQ(platform.machines(), 3 * groups);
        platform.network.topology = heddle::Network::Topology::fat_tree;
        platform.network.shape = {3, groups};
        platform.network.cables = {1, 3};
        const Log log = simulated(scenario, {}, &platform);
        ASSERT_EQ(log, simulated(scenario, {.reverse_nodes = true}, &platform)) << "seed " << seed;
        ASSERT_EQ(log, simulated(scenario, {.crew = crew}, &platform)) << "seed " << seed;
        if (large) continue;  // a small message finds them as they were when the window began
        ASSERT_EQ(log, simulated(scenario, {.plain_windows = true}, &platform)) << "seed " << seed;
    }
}

// Latency zero leaves no lookahead: windows of one instant. Times of messages follow the formula all the
// same.
TEST(SimWindow, WithoutLookaheadNodesStillActInTheOrderOfTime) {
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(25); ++seed) {
        const Scenario scenario{.seed = seed, .nodes = 4, .bytes_max = 9000};
        Platform platform = scenario.platform();
        platform.network.latency = Time::zero();
        const Log log = simulated(scenario, {}, &platform);
        ASSERT_EQ(log, simulated(scenario, {.reverse_nodes = true}, &platform)) << "seed " << seed;
        for (const auto& node : log) {
            // A node's own events are logged in the order of time, so arrivals never come late.
            ASSERT_TRUE(std::is_sorted(node.begin(), node.end(), [](const auto& a, const auto& b) {
                return std::get<0>(a) < std::get<0>(b);
            }));
        }
    }
    Platform platform = ideal(2);
    platform.network.latency = Time::zero();
    std::vector<Time> hops;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0) send(context, 1, 10);
        },
        [&](Script&, Context& context, NodeId from, auto message) {
            hops.push_back(now(context));
            if (hops.size() < 10) send(context, from, hops.size() == 5 ? 5000 : message.size());
        });
    EXPECT_EQ(hops, (std::vector<Time>{ns(10), ns(20), ns(30), ns(40), ns(50), ns(5050), ns(10050), ns(15050),
                                       ns(20050), ns(25050)}));
}

// Everything takes whole microseconds: so large messages arrive when their receivers end a computation.
TEST(SimWindow, WithoutLookaheadALargeMessageMayComeAtTheInstantOfAnotherEvent) {
    Platform platform = ideal(4, 2);
    platform.network.latency = Time::zero();
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(25); ++seed) {
        std::vector<Time> last(platform.nodes);
        std::uint64_t arrivals = 0;
        run(
            platform,
            [&](Script&, Context& context) {
                Random random = Random(seed).split(context.id.node).split(context.id.core);
                for (int i = 0; i < 40; ++i) {
                    compute(context, busy(us(1 + static_cast<std::int64_t>(random.below(10)))));
                    if (random.below(4) > 0) continue;
                    const NodeId to = (context.id.node + 1 + static_cast<NodeId>(random.below(3))) % 4;
                    send(context, to, 1000 * (5 + random.below(10)));
                }
            },
            [&](Script&, Context& context, NodeId, auto) {
                EXPECT_GE(now(context), std::exchange(last[context.id.node], now(context)));
                ++arrivals;
            });
        EXPECT_GT(arrivals, 0U);
    }
}

TEST(SimWindow, WithoutLookaheadAMessageThatTakesNoTimeIsRefused) {
    Platform platform = ideal(2);
    platform.network.latency = Time::zero();
    platform.network.bandwidth = 1e18;
    const auto sends = [&] {
        run(platform, [](Script&, Context& context) {
            if (context.id.node == 0) send(context, 1, 1000);
        });
    };
    EXPECT_THAT(sends, ::testing::ThrowsMessage<Error>(
                           ::testing::HasSubstr("from node 0 to node 1 would take no time")));
    platform.network.latency = Time(1);
    EXPECT_NO_THROW(sends());
}

// What one lane sends another one receives, window by window: they need as many messages as are under way.
TEST(Mailrooms, ThatAreLevelledMakeNoMoreThanAreUnderWay) {
    Mailroom sender, receiver;
    std::vector<Message*> spare, sent;
    std::set<const Message*> all;
    for (int window = 0; window < 50; ++window) {
        for (int i = 0; i < 100; ++i) all.insert(sent.emplace_back(&sender.take()));
        for (Message* const message : sent) receiver.give_back(*message);
        sent.clear();
        for (Mailroom* const room : {&sender, &receiver}) room->pass_on(spare);
        for (Mailroom* const room : {&sender, &receiver}) room->restock(spare);
    }
    EXPECT_EQ(all.size(), 100U);
    EXPECT_EQ(sender.on_way() + receiver.on_way(), 0);
}

}  // namespace
}  // namespace heddle::sim::testing
