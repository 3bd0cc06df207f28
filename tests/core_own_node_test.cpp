// Tests active messages of a node to itself, natively, in simulation and in-process. Each is handled once,
// one at a time, in the order of sending, also if handlers send them. The run ends only when all are handled.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/run/execution.hpp"
#include "tests/conformance.hpp"

namespace heddle::runtime {

namespace {

constexpr std::uint32_t messages = 300;  ///< of each worker
constexpr std::size_t body_bytes = 20'000;

struct Numbered {
    CoreId core;
    std::uint32_t number;
};

class Talker final : public Program {
public:
    explicit Talker(CoreId cores) : next(cores, 0) {}
    void begin(Worker& worker) override;
    Answer answer() const override {
        return {{"handled", static_cast<double>(handled)},
                {"echoes", static_cast<double>(echoes)},
                {"bodies", static_cast<double>(bodies)},
                {"wrong", static_cast<double>(wrong)}};
    }

    // Not atomic: handlers run one at a time.
    std::vector<std::uint32_t> next;  ///< number that each worker sends next
    std::uint64_t handled = 0, echoes = 0, bodies = 0, wrong = 0;
    bool inside = false;
};

Talker& talker(Node& node) {
    return static_cast<Talker&>(node.program());
}

const Handler echo_handler("test.own.echo", Handler::Kind::work, [](Node& node, NodeId from, auto) {
    if (from != node.id() || talker(node).inside) ++talker(node).wrong;
    ++talker(node).echoes;
});

const Handler own_handler("test.own.message", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    Talker& program = talker(node);
    Numbered numbered{};
    std::memcpy(&numbered, message.data(), sizeof numbered);
    if (std::exchange(program.inside, true) || from != node.id()) ++program.wrong;
    if (numbered.number != program.next[numbered.core]++) ++program.wrong;
    if (const Body body = node.take_body()) {
        ++program.bodies;
        if (body->size() != body_bytes || (*body)[7] != std::byte{9}) ++program.wrong;
    }
    ++program.handled;
    node.receiver().charge(node.receiver().costs->sync);
    node.receiver_outbox().post(node.id(), echo_handler, {});
    program.inside = false;
});

void Talker::begin(Worker& worker) {
    const auto body = std::make_shared<Bytes>(body_bytes, std::byte{9});
    for (std::uint32_t i = 0; i < messages; ++i) {
        const Numbered numbered{worker.id.core, i};
        const auto bytes = std::as_bytes(std::span(&numbered, 1));
        const NodeId own = worker.id.node;
        if (i % 3 == 0) {
            worker.outbox().post(own, own_handler, bytes, Enclosure{body});
        } else {
            worker.outbox().post(own, own_handler, bytes,
                                 i % 3 == 1 ? Outbox::Urgency::now : Outbox::Urgency::gathered,
                                 std::as_bytes(std::span("more", i % 2 * 4)));
        }
    }
}

// --- a handler that fails

std::atomic<int> handled_after{0};
const Handler failing_handler("test.own.failing", Handler::Kind::work,
                              [](Node&, NodeId, auto) { throw Error("the handler has failed"); });
const Handler later_handler("test.own.later", Handler::Kind::work,
                            [](Node&, NodeId, auto) { ++handled_after; });

/// Catches the error of the handler, and sends more than may wait for a turn.
class Catcher final : public Program {
public:
    void begin(Worker& worker) override {
        if (worker.id.core != 0) return;
        EXPECT_THROW(worker.outbox().post(worker.id.node, failing_handler, {}, Outbox::Urgency::now), Error);
        for (std::uint32_t i = 0; i < messages; ++i)
            worker.outbox().post(worker.id.node, later_handler, {}, Outbox::Urgency::now);
    }
    Answer answer() const override { return {}; }
};

/// A message that is sent as the failed handler's body goes is handled later if the handlers have their turn.
class BodyWatcher final : public Program {
public:
    void begin(Worker& worker) override {
        if (worker.id.core != 0) return;
        bool in_turn = false;
        Body body(new Bytes(body_bytes), [&](const Bytes* bytes) {
            worker.outbox().post(worker.id.node, later_handler, {}, Outbox::Urgency::now);
            in_turn = handled_after == 0;
            delete bytes;
        });
        EXPECT_THROW(worker.node().deliver_here(worker, failing_handler, {}, std::move(body)), Error);
        EXPECT_TRUE(in_turn);
    }
    Answer answer() const override { return {}; }
};

template <class P>
void expect_that_it_ends(Backend& backend, int handled) {
    handled_after = 0;
    std::string error = "no error";
    try {
        Execution(backend, {}, [](NodeId) { return std::make_unique<P>(); }).run();
    } catch (const Error& failure) {
        error = failure.what();
    }
    EXPECT_EQ(error, "the handler has failed");
    EXPECT_EQ(handled_after, handled);
}

template <class P>
void expect_that_it_ends_everywhere(CoreId cores, int handled) {
    // With several workers a native process ends at once.
    native::NativeBackend alone({.cores = 1});
    expect_that_it_ends<P>(alone, handled);
    inprocess::Options options;
    options.cores = cores;
    inprocess::InprocessBackend fibers(options);
    expect_that_it_ends<P>(fibers, handled);
#ifdef HEDDLE_SIM
    Platform platform;
    platform.cores = cores;
    sim::SimBackend simulated(platform);
    expect_that_it_ends<P>(simulated, handled);
#endif
}

class OwnNode : public testing::TestWithParam<CoreId> {
protected:
    void run(Backend& backend) {
        const RunResult result =
            Execution(backend, {}, [&](NodeId) { return std::make_unique<Talker>(GetParam()); }).run();
        const double sent = static_cast<double>(messages) * GetParam();
        const double expected[] = {sent, sent, sent / 3, 0};
        for (std::size_t i = 0; i < std::size(expected); ++i)
            EXPECT_EQ(result.answer.at(i).value, expected[i]) << result.answer.at(i).name;
        EXPECT_EQ(result.total.messages, 0U);  // none between nodes
    }
};

INSTANTIATE_TEST_SUITE_P(Cores, OwnNode, testing::Values(1U, 2U, 4U));

}  // namespace

TEST_P(OwnNode, Natively) {
    for (int i = 0; i < 20; ++i) {
        native::NativeBackend backend({.cores = GetParam()});
        run(backend);
    }
}

TEST_P(OwnNode, AHandlerThatFailsKeepsNoTurn) {
    expect_that_it_ends_everywhere<Catcher>(GetParam(), static_cast<int>(messages));
}

TEST_P(OwnNode, TheBodyOfAHandlerThatFailsGoesWithinItsTurn) {
    expect_that_it_ends_everywhere<BodyWatcher>(GetParam(), 1);
}

TEST_P(OwnNode, InProcess) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        inprocess::Options options;
        options.cores = GetParam();
        options.seed = seed;
        options.gate_open = seed % 2 == 0;
        inprocess::InprocessBackend backend(options);
        run(backend);
    }
}

#ifdef HEDDLE_SIM
TEST_P(OwnNode, InSimulation) {
    Platform platform;
    platform.cores = GetParam();
    sim::SimBackend backend(platform);
    run(backend);
}
#endif

}  // namespace heddle::runtime
