// Tests that a run that ends early destroys what its tasks hold, wherever they wait: arguments of those that
// never run, and results for which no caller waits any more. Values count how many of them are alive.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "model/earth.hpp"
#include "model/earth/earth_node.hpp"
#include "model/fork_join.hpp"
#include "model/sent_task.hpp"
#include "runtime/comm/channel.hpp"
#include "tests/seeds.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_leftovers {

inline std::atomic<int> alive{0};

/// A value with a destructor. With `travels` it lies on the heap, and else in the slot.
template <bool travels>
struct Item {
    explicit Item(std::uint64_t given) : value(given) { ++alive; }
    Item(const Item& other) : value(other.value) { ++alive; }
    Item& operator=(const Item&) = delete;
    ~Item() { --alive; }
    std::uint64_t value;
};

}  // namespace heddle::testing_leftovers

template <>
struct heddle::runtime::Serialize<heddle::testing_leftovers::Item<true>> {
    using Item = heddle::testing_leftovers::Item<true>;
    static void write(Writer& writer, const Item& item) { writer.put(item.value); }
    static Item read(Reader& reader) { return Item(reader.get<std::uint64_t>()); }
};

namespace heddle::testing_strands {
namespace {

using testing_leftovers::alive;
using testing_leftovers::Item;

/// How the program ends its run.
enum class End : std::uint8_t { asked, failure };
std::atomic<End> ending{End::asked};
std::atomic<int> ends{0};
std::atomic<std::uint32_t> ends_below{6};  ///< so deep in the tree

void end_run(Worker& worker) {
    ++ends;
    if (ending == End::failure) throw Error("the test fails here", "go on");
    worker.node().end_run(worker, worker.outbox());
}

/// A tree drawn from a seed, in which some task ends the run. Its results come from thieves before that.
template <bool travels>
struct Search {
    using Value = Item<travels>;
    static constexpr std::uint64_t work_units = 1;

    static Value run(model::Strand strand, Value path, std::uint32_t depth) {
        Random random(path.value);
        strand.work(random.below(200));
        if (depth > ends_below && random.below(30) == 0) end_run(strand.worker());
        if (depth == 10 || (depth > 4 && random.below(3) == 0)) return Value(1);
        strand.fork<Search>(Value(3 * path.value), depth + 1);
        strand.fork<Search>(Value(3 * path.value + 1), depth + 1);
        const Value last = strand.call<Search>(Value(3 * path.value + 2), depth + 1);
        const Value second = strand.join<Search>();
        return Value(last.value + second.value + strand.join<Search>().value);
    }
};

struct Nothing {
    static void run(model::Strand) {}
};

class SearchProgram final : public model::ForkJoinProgram {
public:
    SearchProgram(std::uint64_t seed, bool travels, std::uint32_t before)
        : seed_(seed), travels_(travels), before_(before) {}
    runtime::Work unit() const override { return {100, 0}; }
    void root(model::Strand strand) override {
        for (std::uint32_t i = 0; i < before_; ++i) {
            strand.fork<Nothing>();
            strand.join<Nothing>();
        }
        travels_ ? search<true>(strand) : search<false>(strand);
    }
    runtime::Answer answer() const override { return {}; }

private:
    template <bool travels>
    void search(model::Strand strand) const {
        for (std::uint64_t tree = 0; tree < 4; ++tree)
            strand.fork<Search<travels>>(Item<travels>(seed_ * 4 + tree), 0U);
        for (std::uint64_t tree = 0; tree < 4; ++tree) strand.join<Search<travels>>();
    }

    std::uint64_t seed_;
    bool travels_;
    std::uint32_t before_;  ///< forks that are joined: the gates may open
};

std::vector<runtime::Schedule> schedules() {
    using runtime::Pruning;
    using Amount = runtime::Stealing::Amount;
    std::vector<runtime::Schedule> all(7);
    all[1].stealing.amount = Amount::half;
    all[2].stealing.amount = Amount::donation;
    all[3].start = runtime::Start::tree;
    all[4].pruning.policy = Pruning::Policy::queue_length;
    all[5].pruning.policy = Pruning::Policy::node_length;
    all[6].stealing.victim = "lifeline";
    return all;
}

/// Runs every schedule on backends that `make_backend` makes of a seed, of several nodes where tasks travel.
void search(std::uint64_t seeds, std::uint32_t before,
            const std::function<std::unique_ptr<runtime::Backend>(std::uint64_t, NodeId)>& make_backend) {
    ends = 0;
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(seeds); ++seed) {
        for (auto& schedule : schedules()) {
            for (const bool travels : {false, true}) {
                alive = 0;
                schedule.seed = seed;
                ends_below = seed % 2 == 0 ? 0 : 6;
                try {
                    const auto backend = make_backend(seed, travels ? 3 : 1);
                    runtime::Execution(*backend, schedule, [&](NodeId) {
                        return std::make_unique<SearchProgram>(seed, travels, before);
                    }).run();
                } catch (const Error& error) {
                    ASSERT_EQ(ending, End::failure) << error.what();
                    ASSERT_NE(std::string(error.what()).find("the test fails here"), std::string::npos);
                }
                ASSERT_EQ(alive, 0) << "seed " << seed << ", " << (travels ? "on the heap" : "in the slot");
            }
        }
    }
    EXPECT_GT(ends, 0);
}

TEST(LeftoverTasks, InProcess) {
    for (const End how : {End::asked, End::failure}) {
        ending = how;
        for (const std::uint32_t before : {0U, 3000U}) {
            search(before == 0 ? 100 : 20, before, [](std::uint64_t seed, NodeId nodes) {
                inprocess::Options options;
                options.nodes = nodes;
                options.cores = 2;
                options.seed = seed;
                options.gate_open = seed % 2 == 0 || seed % 3 == 0;
                return std::make_unique<inprocess::InprocessBackend>(options);
            });
        }
    }
}

// A failed run of several workers ends the process.
TEST(LeftoverTasks, Native) {
    for (const End how : {End::asked, End::failure}) {
        ending = how;
        for (const std::uint32_t before : {0U, 3000U}) {
            search(20, before, [how](std::uint64_t seed, NodeId /*nodes*/) {
                native::NativeOptions options;
                options.cores = static_cast<CoreId>(how == End::failure ? 1 : 1 + seed % 3);
                return std::make_unique<native::NativeBackend>(options);
            });
        }
    }
}

#ifdef HEDDLE_SIM
TEST(LeftoverTasks, Simulated) {
    for (const End how : {End::asked, End::failure}) {
        ending = how;
        search(100, 0, [](std::uint64_t seed, NodeId nodes) {
            Platform platform;
            platform.nodes = nodes;
            platform.cores = 2;
            if (seed % 2 == 0) platform.overheads = {};
            return std::make_unique<sim::SimBackend>(platform, sim::SimOptions{});
        });
    }
}
#endif

// --- other sources

class LeftoverSources : public Strands {};

INSTANTIATE_TEST_SUITE_P(Worlds, LeftoverSources, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

struct Echo {
    static Item<true> run(model::Strand, Item<true> item) { return item; }
};

// Some of the tasks run, some wait at their workers, and no caller takes a result.
TEST_P(LeftoverSources, SentTasksAndTheirResults) {
    const NodeId count = nodes(2);
    for (std::uint32_t waits = 0; waits < 12; ++waits) {
        alive = 0;
        run(count, 2, [&](Worker& worker) {
            Strand::start(worker, [&](Strand& self) {
                std::vector<std::unique_ptr<model::TaskOn<Echo>>> sent;
                for (std::uint32_t i = 0; i < 12; ++i) {
                    const WorkerId to{static_cast<NodeId>(i % count), static_cast<CoreId>(i / count % 2)};
                    sent.push_back(std::make_unique<model::TaskOn<Echo>>(self.worker(), to, Item<true>(i)));
                }
                for (std::uint32_t i = 0; i < waits; ++i)
                    if (i % 2 == 0) sent[i]->result(self);
                Worker& now = self.worker();
                now.node().end_run(now, now.outbox());
                runtime::Channel<int> never(0);
                never.receive(self);
            });
        });
        ASSERT_EQ(alive, 0) << waits;
    }
}

TEST_P(LeftoverSources, SentTasksForNoWorker) {
    alive = 0;
    EXPECT_NE(error_of([&] {
                  run(failing_nodes(2), failing_cores(), [](Worker& worker) {
                      model::TaskOn<Echo>(worker, {7, 0}, Item<true>(1));
                  });
              }),
              "no error");
    EXPECT_EQ(alive, 0);
}

TEST_P(LeftoverSources, CodeThatStartsEarthAndStrandsThatNeverBegan) {
    alive = 0;
    run(1, 2, [&](Worker& worker) {
        const auto item = std::make_shared<Item<false>>(1);
        worker.node().end_run(worker, worker.outbox());
        for (int i = 0; i < 5; ++i) {
            model::earth::start(worker.node(), worker.node().receiver(), [item](model::earth::Em) {});
            Strand::start(worker, [item](Strand&) {});
        }
    });
    EXPECT_EQ(alive, 0);
}

// Codes that have run leave their places to those that one starts before it fails. It runs after the others,
// so that the gates may be open.
TEST_P(LeftoverSources, CodesThatWaitWhenOneFails) {
    for (const int run_before : {0, 3, 3000}) {
        alive = 0;
        const auto start = [](Worker& worker, std::function<void(model::earth::Em)> code) {
            model::earth::start(worker.node(), worker, std::move(code));
        };
        const auto error = error_of([&] {
            run(1, 1, [&](Worker& worker) {
                start(worker, [&](model::earth::Em em) {
                    Worker& here = em.worker();
                    start(here, [&](model::earth::Em failing) {
                        for (std::uint64_t i = 0; i < 2; ++i)
                            start(failing.worker(), [item = Item<false>(i)](model::earth::Em) {});
                        throw Error("the test fails here", "go on");
                    });
                    for (int i = 0; i < run_before; ++i)
                        start(here, [item = Item<false>(1)](model::earth::Em) {});
                });
            });
        });
        EXPECT_NE(error.find("the test fails here"), std::string::npos) << error;
        EXPECT_EQ(alive, 0) << run_before;
    }
}

// The first task waits for ever, above its forks.
TEST_P(LeftoverSources, RunsThatCannotGoOn) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    alive = 0;
    const auto error = error_of([&] {
        run(2, 1, [](Worker& worker) {
            model::Strand strand(worker);
            for (std::uint64_t i = 0; i < 6; ++i) strand.fork<Echo>(Item<true>(i));
            runtime::Channel<int> never(0);
            never.receive({worker, worker.base() + 6});
        });
    });
    EXPECT_NE(error, "no error");
    EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace heddle::testing_strands
