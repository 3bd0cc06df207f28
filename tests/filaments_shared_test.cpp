// Tests what filaments do about pages that their node does not have, on every backend with shared memory:
// pools that have faulted begin first.
#include <gmock/gmock.h>

#include <map>

#include "tests/dsm_testing.hpp"
#include "tests/filaments_testing.hpp"

namespace heddle::testing_filaments {
namespace {

class SharedPools : public testing::TestWithParam<testing_dsm::World> {};

INSTANTIATE_TEST_SUITE_P(Worlds, SharedPools, testing::ValuesIn(testing_dsm::worlds()),
                         [](const auto& world) { return world.param.name; });

struct Begun {
    int execution;
    int pool;
};

/// Two nodes with a page each, which both write. Pools 0 to 3 of a node touch nothing, except one, which
/// reads the other node's page: pool 2 on node 0, pool 3 on node 1.
class Readers : public TestProgram {
public:
    static constexpr int executions = 4;

    explicit Readers(std::array<Notes<Begun>, 2>& notes) : notes_(notes) {}

    void body(Processor& self, int pool) {
        notes_[self.node()].add({execution_, pool});
        if (pool == 2 + static_cast<int>(self.node())) found_ += memory_[(1 - self.node()) * page];
    }
    void ranges(Ranges& ranges, int pool, std::uint64_t /*one*/) {
        const auto node = static_cast<int>(node_);
        if (pool == 2 + node) ranges.reads(numbers_, static_cast<std::uint64_t>(1 - node) * page, 1);
    }
    PostPhase next(Filaments& fil) {
        fil.barrier();
        ++execution_;
        write(fil);
        fil.barrier();
        return execution_ == executions ? F_DONE : F_CONTINUE;
    }
    void main(Filaments& fil) override {
        node_ = fil.my_node();
        numbers_ = fil.memory().allocate<std::uint64_t>("numbers", 2 * page);
        fil.seal();
        memory_ = fil.memory().at(numbers_);
        write(fil);
        auto& phase =
            fil.create_phase<&Readers::body, &Readers::next, &Readers::ranges>(*this, {.at_once = 1});
        auto& pools = fil.create_pool_array(phase, 1, 4);
        for (int pool = 0; pool < 4; ++pool) fil.create_filament(pools[static_cast<std::size_t>(pool)], pool);
        fil.start();
        EXPECT_EQ(found_, 0U + 1 + 2 + 3);
    }

private:
    static constexpr std::uint64_t page = 512;

    void write(Filaments& fil) {
        const auto checkout = fil.memory().touch(fil.strand(), {dsm::writing(numbers_, node_ * page, 1)});
        memory_[node_ * page] = static_cast<std::uint64_t>(execution_);
    }

    std::array<Notes<Begun>, 2>& notes_;
    dsm::Shared<std::uint64_t> numbers_;
    std::uint64_t* memory_ = nullptr;
    NodeId node_ = 0;
    int execution_ = 0;
    std::uint64_t found_ = 0;
};

TEST_P(SharedPools, ThatHaveFaultedBeginFirst) {
    for (const runtime::Trigger trigger : testing_dsm::triggers()) {
        runtime::Schedule schedule;
        schedule.memory.trigger = trigger;
        std::array<Notes<Begun>, 2> notes;
        GetParam().run(2, 1, schedule, [&](NodeId) { return std::make_unique<Readers>(notes); });
        for (int node = 0; node < 2; ++node) {
            std::map<int, std::vector<int>> order;
            for (const Begun& begun : notes[static_cast<std::size_t>(node)].take())
                order[begun.execution].push_back(begun.pool);
            ASSERT_EQ(order.size(), Readers::executions);
            const std::vector<int> first{0, 1, 2, 3};
            const std::vector<int> later = node == 0 ? std::vector{2, 0, 1, 3} : std::vector{3, 0, 1, 2};
            // With accesses checked, a pool waits before its filament begins, and runs when its page comes.
            if (trigger == runtime::Trigger::checked) continue;
            EXPECT_EQ(order[0], first) << node;
            for (int execution = 1; execution < Readers::executions; ++execution)
                EXPECT_EQ(order[execution], later) << node << " in execution " << execution;
        }
    }
}

}  // namespace
}  // namespace heddle::testing_filaments
