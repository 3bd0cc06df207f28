// Tests tasks that are sent to a certain worker, natively, in simulation and in-process. A task runs there
// and nowhere else, and its result comes back.
#include "model/sent_task.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using model::TaskOn;

struct WhereAmI {
    static WorkerId run(model::Strand strand, std::uint32_t forks) {
        // It may fork: what it forks may go elsewhere.
        for (std::uint32_t i = 0; i < forks; ++i) strand.fork<WhereAmI>(0U);
        for (std::uint32_t i = 0; i < forks; ++i) strand.join<WhereAmI>();
        return strand.worker().id;
    }
};

struct SendsOn {
    static void run(model::Strand) {}
};

class SentTasks : public Strands {};

INSTANTIATE_TEST_SUITE_P(Worlds, SentTasks, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(SentTasks, RunOnTheirWorkers) {
    std::atomic<int> wrong{0};
    constexpr CoreId cores = 2;
    const NodeId count = nodes(3);
    const auto all = [&](Worker& worker, runtime::Caller caller) {
        std::vector<std::unique_ptr<TaskOn<WhereAmI>>> sent;
        std::vector<WorkerId> expected;
        for (std::uint32_t i = 0; i < 40; ++i) {
            expected.push_back({static_cast<NodeId>(i % count), static_cast<CoreId>(i / count % cores)});
            sent.push_back(std::make_unique<TaskOn<WhereAmI>>(worker, expected.back(), i % 4));
        }
        for (std::size_t i = 0; i < sent.size(); ++i)
            if (sent[i]->result(caller) != expected[i]) ++wrong;
        TaskOn<SendsOn>(caller.worker(), {count - 1, 0}).result(caller);
    };
    run_all(count, cores,
            [&](Worker& worker) { Strand::start(worker, [&](Strand& self) { all(self.worker(), self); }); });
    run(count, cores, [&](Worker& worker) { all(worker, {worker, worker.base()}); });
    EXPECT_EQ(wrong, 0);
}

TEST_P(SentTasks, AreRefusedForWorkersThatAreNotThere) {
    EXPECT_NE(error_of([&] {
                  run(failing_nodes(2), failing_cores(), [](Worker& worker) {
                      TaskOn<SendsOn> sent(worker, {7, 0});
                      sent.result({worker, worker.base()});
                  });
              }).find("worker 0 of node 7"),
              std::string::npos);
}

}  // namespace
}  // namespace heddle::testing_strands
