// Tests sync slots, split-phase operations and the detection of the end, on programs without joins. A run
// that ended too early would miss signals; a run that ended too late would deadlock.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "runtime/comm/sync_slot.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"

namespace heddle {
namespace {

using runtime::GlobalReference;
using runtime::Worker;

/// A slot that, each time its signals have come, has a worker of its node call a function.
struct SyncSlot : runtime::SyncSlot {
    using Run = std::function<void(Worker&)>;

    SyncSlot(std::uint32_t count, std::uint32_t reset_count, Run function)
        : runtime::SyncSlot(count, reset_count, &SyncSlot::enable), run(std::move(function)) {}

    static void enable(runtime::SyncSlot& slot, runtime::Node& node, runtime::Context& caller) {
        const auto* self = static_cast<SyncSlot*>(&slot);
        node.make_ready(caller, task, std::as_bytes(std::span(&self, 1)));
    }
    static void call(Worker& worker, runtime::Slot*, std::byte* payload) {
        const SyncSlot* self = nullptr;
        std::memcpy(&self, payload, sizeof self);
        self->run(worker);
    }
    static const runtime::TaskType task;

    Run run;
};

const runtime::TaskType SyncSlot::task("test.sync_slot", &SyncSlot::call, sizeof(SyncSlot*), 0, false,
                                       {.end = runtime::TaskType::End::detached});

constexpr NodeId nodes = 5;

/// The programs of all nodes live in one process here, so a test may look at each other's addresses as if
/// they had been sent.
template <class P>
std::vector<std::unique_ptr<P>> make_programs() {
    std::vector<std::unique_ptr<P>> programs;
    for (NodeId id = 0; id < nodes; ++id) programs.push_back(std::make_unique<P>());
    for (auto& program : programs) program->all = &programs;
    return programs;
}

template <class P>
class Borrowed final : public runtime::Program {
public:
    explicit Borrowed(P& program) : program_(program) {}
    void begin(Worker& worker) override { program_.begin(worker); }
    runtime::Answer answer() const override { return {{"value", program_.value}}; }

private:
    P& program_;
};

template <class P>
runtime::RunResult run(std::vector<std::unique_ptr<P>>& programs, std::uint64_t seed) {
    inprocess::InprocessBackend backend({nodes, 2, seed});
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    runtime::Execution execution(backend, schedule,
                                 [&](NodeId id) { return std::make_unique<Borrowed<P>>(*programs[id]); });
    return execution.run();
}

/// Every node puts its number, squared, into node 0's table; a slot there waits for all of them, three rounds
/// over.
struct Gather {
    std::vector<std::unique_ptr<Gather>>* all = nullptr;
    double value = 0;
    int rounds = 0;
    std::vector<std::uint64_t> table = std::vector<std::uint64_t>(nodes, 0);
    SyncSlot full{nodes, nodes, [this](Worker& worker) {
                      value +=
                          static_cast<double>(std::accumulate(table.begin(), table.end(), std::uint64_t{0}));
                      if (++rounds == 3) return;
                      for (NodeId id = 0; id < nodes; ++id) {
                          runtime::signal(worker, {id, &(*all)[id]->go});
                      }
                  }};
    SyncSlot go{1, 1, [this](Worker& worker) { contribute(worker); }};

    void contribute(Worker& worker) {
        Gather& first = *all->front();
        const std::uint64_t square = std::uint64_t{worker.id.node} * worker.id.node;
        runtime::put(worker, square, GlobalReference<std::uint64_t>(0, &first.table[worker.id.node]),
                     {0, &first.full});
    }
    void begin(Worker& worker) {
        if (worker.id.core == 0) contribute(worker);
    }
};

TEST(CoreSync, SlotWaitsForEveryNodeInEveryRound) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto programs = make_programs<Gather>();
        const auto result = run(programs, seed);
        ASSERT_EQ(programs.front()->rounds, 3) << "seed " << seed;
        ASSERT_EQ(result.answer.at(0).value, 3 * (0 + 1 + 4 + 9 + 16)) << "seed " << seed;
    }
}

/// Every worker fetches a block from the next node.
struct Fetch {
    std::vector<std::unique_ptr<Fetch>>* all = nullptr;
    double value = 0;
    std::vector<std::uint64_t> block = std::vector<std::uint64_t>(1000, 0);
    std::vector<std::uint64_t> copy = std::vector<std::uint64_t>(1000, 0);
    SyncSlot arrived{1, 0, [this](Worker&) {
                         value =
                             static_cast<double>(std::accumulate(copy.begin(), copy.end(), std::uint64_t{0}));
                     }};

    void begin(Worker& worker) {
        if (worker.id.core != 0) return;
        const NodeId next = (worker.id.node + 1) % nodes;
        runtime::get_bytes(worker, {next, reinterpret_cast<const std::byte*>((*all)[next]->block.data())},
                           block.size() * sizeof(std::uint64_t), reinterpret_cast<std::byte*>(copy.data()),
                           {worker.id.node, &arrived});
    }
};

TEST(CoreSync, GetBringsAWholeBlock) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        auto programs = make_programs<Fetch>();
        for (NodeId id = 0; id < nodes; ++id) {
            std::iota(programs[id]->block.begin(), programs[id]->block.end(), id * 1000);
        }
        run(programs, seed);
        for (NodeId id = 0; id < nodes; ++id) {
            const double first = 1000 * ((id + 1) % nodes);
            ASSERT_EQ(programs[id]->value, 1000 * first + 999 * 500) << "seed " << seed << ", node " << id;
        }
    }
}

/// A signal that travels: each arrival sends it on to the next node until it has made its hops. Several
/// travel at once, and the run is over only when all have arrived.
struct Hop {
    std::vector<std::unique_ptr<Hop>>* all = nullptr;
    double value = 0;
    int left = 40;
    SyncSlot here{1, 1, [this](Worker& worker) {
                      ++value;
                      if (left-- > 0) send_on(worker);
                  }};

    void send_on(Worker& worker) {
        const NodeId next = (worker.id.node + 2) % nodes;
        runtime::signal(worker, {next, &(*all)[next]->here});
    }
    void begin(Worker& worker) {
        if (worker.id.core == 0 && worker.id.node < 3) send_on(worker);
    }
};

TEST(CoreSync, RunEndsWhenTheLastSignalHasArrivedAndNotBefore) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto programs = make_programs<Hop>();
        const auto result = run(programs, seed);
        // Every signal sent is one arrival: the three first ones, and one for each that a node sent on.
        double sent_on = 0;
        for (const auto& program : programs) sent_on += std::min(40.0, program->value);
        ASSERT_EQ(result.answer.at(0).value, 3 + sent_on) << "seed " << seed;
        ASSERT_GE(result.answer.at(0).value, 43) << "seed " << seed;
    }
}

TEST(CoreSync, SmallMessagesToOneNodeTravelTogether) {
    struct Many {
        std::vector<std::unique_ptr<Many>>* all = nullptr;
        double value = 0;
        SyncSlot counted{1000, 0, [this](Worker&) { value = 1; }};
        void begin(Worker& worker) {
            if (worker.id != WorkerId{1, 0}) return;
            for (int i = 0; i < 1000; ++i) runtime::signal(worker, {0, &all->front()->counted});
        }
    };
    auto programs = make_programs<Many>();
    const auto result = run(programs, 1);
    EXPECT_EQ(programs.front()->value, 1);
    // 1,000 records of 8 + 24 bytes in messages of 4 KiB: 8 messages, beside those of the end.
    EXPECT_GE(result.nodes.at(1).active_messages, 1000);
    EXPECT_LE(result.nodes.at(1).messages, 20);
}

}  // namespace
}  // namespace heddle
