// Tests what filaments do about pages that their node does not have, on every backend with shared memory:
// pools that have faulted begin first, and a run with gaps fetches the pages of its own filaments.
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

/// Node 0 writes rows of a page each, and node 1 reads each second one.
class Strided : public TestProgram {
public:
    static constexpr std::int64_t rows = 16;

    explicit Strided(const PhaseOptions& options) : options_(options) {}

    void write(Processor& /*self*/, std::int64_t i) { memory_[place(i)] = place(i) + 1; }
    void writes(Ranges& ranges, std::int64_t i, std::uint64_t count) {
        ranges.writes(numbers_, place(i), count * row);
    }
    void read(Processor& /*self*/, std::int64_t i) { right_ += memory_[place(i)] == place(i) + 1; }
    void reads(Ranges& ranges, std::int64_t i, std::uint64_t count) {
        ranges.reads(numbers_, place(i), count * row);
    }
    void main(Filaments& fil) override {
        numbers_ = fil.memory().allocate<std::uint64_t>("numbers", rows * row, {.row = row});
        fil.seal();
        memory_ = fil.memory().at(numbers_);
        auto& first = fil.create_phase<&Strided::write, nullptr, &Strided::writes>(*this);
        auto& written = fil.create_pool_array(first, rows);
        for (std::int64_t i = 0; fil.my_node() == 0 && i < rows; ++i) fil.create_filament(written[0], i);
        fil.start();
        auto& second = fil.create_phase<&Strided::read, nullptr, &Strided::reads>(*this, options_);
        auto& wanted = fil.create_pool_array(second, rows);
        for (std::int64_t i = rows - 1; fil.my_node() == 1 && i >= 0; i -= 2)
            fil.create_filament(wanted[0], i);
        const std::uint64_t before = fil.memory().counts().requests;
        fil.start();
        if (fil.my_node() == 0) return;
        EXPECT_EQ(fil.memory().counts().requests - before, rows / 2);
        EXPECT_EQ(right_, options_.skip ? 0 : rows / 2);
    }

private:
    static constexpr std::uint64_t row = 512;
    static std::uint64_t place(std::int64_t i) { return static_cast<std::uint64_t>(i) * row; }

    PhaseOptions options_;
    dsm::Shared<std::uint64_t> numbers_;
    std::uint64_t* memory_ = nullptr;
    int right_ = 0;
};

TEST_P(SharedPools, FetchWhatTheFilamentsOfARunWithGapsDeclare) {
    for (const runtime::Trigger trigger : testing_dsm::triggers()) {
        for (const PhaseOptions& options : {PhaseOptions{}, {.at_once = 3}, {.skip = true}}) {
            runtime::Schedule schedule;
            schedule.memory.trigger = trigger;
            GetParam().run(2, 1, schedule, [&](NodeId) { return std::make_unique<Strided>(options); });
        }
    }
}

}  // namespace
}  // namespace heddle::testing_filaments
