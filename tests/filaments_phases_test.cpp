// Tests phases, sequences and pools of filaments, natively, in simulation and in-process: each filament runs
// once an execution, with its arguments, in the stated order.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/random.hpp"
#include "runtime/sources/timers.hpp"
#include "tests/filaments_testing.hpp"

namespace heddle::testing_filaments {
namespace {

using testing::HasSubstr;

class Phases : public FilamentWorlds {};

INSTANTIATE_TEST_SUITE_P(Worlds, Phases, testing::ValuesIn(testing_strands::worlds()),
                         [](const auto& world) { return world.param.name; });

struct Visit {
    WorkerId worker;
    int i;
    int j;
};

/// A grid of filaments that note where they run, three times.
class Grid : public TestProgram {
public:
    Grid(int n, std::uint32_t pools, Notes<Visit>& notes) : n_(n), pools_(pools), notes_(notes) {}

    void visit(Processor& self, int i, int j) { notes_.add({self.worker().id, i, j}); }
    PostPhase again(Filaments& fil) {
        EXPECT_EQ(fil.strand().worker().id.core, 0U);
        return ++executions_ == 3 ? F_DONE : F_CONTINUE;
    }
    void main(Filaments& fil) override {
        auto& phase = fil.create_phase<&Grid::visit, &Grid::again>(*this);
        auto& pools = fil.create_pool_array(phase, static_cast<std::uint64_t>(n_ * n_), pools_);
        EXPECT_EQ(pools.size(), fil.processors() * pools_);
        for (const auto [i, pool] : block(0, n_, fil.nodes(), pools.size()).of(fil.my_node()))
            for (int j = 0; j < n_; ++j) fil.create_filament(pools[pool], i, j);
        fil.start();
        EXPECT_EQ(executions_, 3);
    }

private:
    int n_;
    std::uint32_t pools_;
    Notes<Visit>& notes_;
    int executions_ = 0;
};

TEST_P(Phases, RunEachFilamentOnceAnExecutionWhereItWasPut) {
    constexpr int n = 11;
    for (const NodeId wanted : {1, 3}) {
        for (const std::uint32_t pools : {1U, 3U}) {
            const NodeId count = nodes(wanted);
            constexpr CoreId cores = 2;
            Notes<Visit> notes;
            run<Grid>(count, cores, n, pools, notes);
            std::map<std::pair<int, int>, int> times;
            std::map<int, std::size_t> place;
            for (NodeId node = 0; node < count; ++node)
                for (const auto& [row, pool] : block(0, n, count, cores * pools).of(node))
                    place[static_cast<int>(row)] = node * cores + pool / pools;
            for (const Visit& visit : notes.take()) {
                ++times[{visit.i, visit.j}];
                EXPECT_EQ(visit.worker.node * cores + visit.worker.core, place[visit.i]);
            }
            EXPECT_EQ(times.size(), n * n);
            for (const auto& [filament, count_of] : times) EXPECT_EQ(count_of, 3);
        }
    }
}

/// Filaments of all kinds of plain arguments, in one pool: they run in the order of their making.
class Kinds : public TestProgram {
public:
    struct Point {
        short x;
        double y;
        friend bool operator==(const Point&, const Point&) = default;
    };
    Kinds(std::uint64_t seed, std::size_t& runs) : random_(seed), runs_(runs) {}

    void none(Processor&) { ++nones_; }
    void small(Processor&, std::uint8_t x) { small_.push_back(x); }
    void mixed(Processor&, Point point, char c, std::int64_t i) { mixed_.emplace_back(point, c, i); }
    void last_is_no_number(Processor&, int i, double x) { reals_.emplace_back(i, x); }

    void main(Filaments& fil) override {
        if (fil.my_node() != 0) return fil.start();
        auto& nones = fil.create_pool_array(fil.create_phase<&Kinds::none>(*this), 5);
        auto& small = fil.create_pool_array(fil.create_phase<&Kinds::small>(*this), 1000);
        auto& mixed = fil.create_pool_array(fil.create_phase<&Kinds::mixed>(*this), 1000);
        auto& reals = fil.create_pool_array(fil.create_phase<&Kinds::last_is_no_number>(*this), 3);
        for (int i = 0; i < 5; ++i) fil.create_filament(nones[0]);
        std::vector<std::uint8_t> expected_small;
        std::vector<std::tuple<Point, char, std::int64_t>> expected_mixed;
        for (int i = 0; i < 500; ++i) {
            // Few values, so that there are runs of every length, also to both ends of the numbers.
            expected_small.push_back(static_cast<std::uint8_t>(i < 300 ? i : random_.below(3) + 253));
            expected_mixed.emplace_back(
                Point{static_cast<short>(random_.below(2)), 0.5}, 'a',
                i % 50 == 0 ? -i : 3 * static_cast<std::int64_t>(random_.below(2)) + i);
            fil.create_filament(small[0], expected_small.back());
            std::apply([&](auto... values) { fil.create_filament(mixed[0], values...); },
                       expected_mixed.back());
        }
        for (int i = 0; i < 3; ++i) fil.create_filament(reals[0], i, 0.5 * i);
        runs_ = small[0].runs();
        fil.start();
        EXPECT_EQ(nones_, 5);
        EXPECT_EQ(small_, expected_small);
        EXPECT_EQ(mixed_, expected_mixed);
        EXPECT_EQ(reals_, (std::vector<std::pair<int, double>>{{0, 0}, {1, 0.5}, {2, 1}}));
    }

private:
    Random random_;
    std::size_t& runs_;
    int nones_ = 0;
    std::vector<std::uint8_t> small_;
    std::vector<std::tuple<Point, char, std::int64_t>> mixed_;
    std::vector<std::pair<int, double>> reals_;
};

TEST_P(Phases, GiveFilamentsTheirArgumentsInTheOrderOfTheirMaking) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::size_t runs = 0;
        run<Kinds>(1, 1, seed, runs);
        EXPECT_LT(runs, 202U);  // 0 to 255 is one, 0 to 43 another
    }
}

/// Rows of a grid: neighbours are one run, so are every third one, and no others.
class Rows : public TestProgram {
public:
    void row(Processor&, int i, int j) { sum_ += i * j; }
    void main(Filaments& fil) override {
        auto& phase = fil.create_phase<&Rows::row>(*this);
        auto& pools = fil.create_pool_array(phase, 1000, 4);
        for (int j = 3; j < 9; ++j) fil.create_filament(pools[0], 1, j);
        for (int j = 20; j > 0; j -= 3) fil.create_filament(pools[1], 1, j);
        for (const int j : {1, 2, 4, 5, 6}) fil.create_filament(pools[2], 1, j);
        for (const int i : {1, 2, 3}) fil.create_filament(pools[3], i, 1);
        EXPECT_EQ(pools[0].runs(), 1U);
        EXPECT_EQ(pools[1].runs(), 1U);
        EXPECT_EQ(pools[2].runs(), 2U);
        EXPECT_EQ(pools[3].runs(), 3U);
        fil.start();
        EXPECT_EQ(sum_, 33 + 77 + 18 + 6);
    }

private:
    std::int64_t sum_ = 0;
};

TEST_P(Phases, KeepNeighboursAsOneRun) {
    run<Rows>(1, 1);
}

/// Two phases in a sequence and one after it, in two starts.
class Sequences : public TestProgram {
public:
    explicit Sequences(Notes<int>& notes) : notes_(notes) {}

    void first(Processor& self) { note(self, 1); }
    void second(Processor& self) { note(self, 2); }
    void third(Processor& self) { note(self, 3); }
    PostPhase after_second(Filaments&) { return ++rounds_ == 2 ? F_DONE : F_CONTINUE; }

    void main(Filaments& fil) override {
        auto& first = fil.create_phase<&Sequences::first>(*this);
        auto& second = fil.create_phase<&Sequences::second, &Sequences::after_second>(*this);
        auto& third = fil.create_phase<&Sequences::third>(*this);
        fil.repeat_in_sequence(first, second);
        for (CoreId processor = 0; processor < fil.processors(); ++processor) {
            if (processor == 0) fil.create_filament(fil.create_pool_array(first, 1)[processor]);
            fil.create_filament(fil.create_pool_array(second, 1)[processor]);
        }
        fil.create_filament(fil.create_pool_array(third, 1)[0]);
        fil.start();
        notes_.add(-1);
        fil.start();  // nothing new
        auto& again = fil.create_phase<&Sequences::first>(*this);
        fil.create_filament(fil.create_pool_array(again, 1)[0]);
        notes_.add(-2);
        fil.start();
    }

private:
    void note(Processor& self, int what) {
        if (self.node() == 0) notes_.add(what);
    }
    Notes<int>& notes_;
    int rounds_ = 0;
};

TEST_P(Phases, RunInSequenceUntilPostPhaseCodeIsDone) {
    for (const NodeId wanted : {1, 4}) {
        Notes<int> notes;
        const NodeId count = nodes(wanted);
        run<Sequences>(count, 2, notes);
        std::vector<int> all = notes.take();
        std::erase_if(all, [](int note) { return note < 0; });
        EXPECT_EQ(all, (std::vector<int>{1, 2, 2, 1, 2, 2, 3, 1})) << count;
    }
}

/// No node begins an execution before all have ended the one before.
class Together : public TestProgram {
public:
    Together(std::atomic<int>& come, std::atomic<int>& early) : come_(come), early_(early) {}

    void come(Processor& self, int i) {
        const int all = static_cast<int>(self.filaments().nodes()) * 4;
        if (come_.load() < executions_ * all) ++early_;
        if (i % 2 == 0 && self.node() == 0) self.worker().compute({1e5, 0}, {});
        ++come_;
    }
    PostPhase again(Filaments&) { return ++executions_ == 8 ? F_DONE : F_CONTINUE; }
    void main(Filaments& fil) override {
        auto& phase = fil.create_phase<&Together::come, &Together::again>(*this);
        auto& pools = fil.create_pool_array(phase, 4);
        for (int i = 0; i < 4; ++i) fil.create_filament(pools[static_cast<std::size_t>(i) % pools.size()], i);
        fil.start();
    }

private:
    std::atomic<int>& come_;
    std::atomic<int>& early_;
    int executions_ = 0;
};

TEST_P(Phases, EndInABarrierBetweenNodes) {
    for (const NodeId wanted : {1, 2, 5}) {
        std::atomic<int> come{0};
        std::atomic<int> early{0};
        run<Together>(nodes(wanted), 2, come, early);
        EXPECT_EQ(early, 0);
        EXPECT_EQ(come, static_cast<int>(nodes(wanted)) * 4 * 8);
    }
}

constexpr std::uint32_t pools_each = 5;

/// Each pool notes its begin, waits for what the last pool of its processor completes, and notes its end.
class Order : public TestProgram {
public:
    explicit Order(Notes<std::pair<CoreId, int>>& notes) : notes_(notes) {}

    void body(Processor& self, int pool) {
        notes_.add({self.id(), pool});
        self.worker().compute({1e4, 0}, {});
        if (pool % 2 == 0 && pool + 1 < static_cast<int>(pools_each)) self.wait(events_[self.id()]);
        if (pool + 1 == static_cast<int>(pools_each))
            events_[self.id()].complete(self.worker().node(), self.worker());
        notes_.add({self.id(), 100 + pool});
    }
    void main(Filaments& fil) override {
        auto& phase = fil.create_phase<&Order::body>(*this);
        auto& pools = fil.create_pool_array(phase, 1, pools_each);
        for (std::size_t p = 0; p < pools.size(); ++p) fil.create_filament(pools[p], p % pools_each);
        fil.start();
    }

private:
    Notes<std::pair<CoreId, int>>& notes_;
    std::array<runtime::Event, 3> events_;
};

TEST_P(Phases, BeginPoolsInOrderAndLeaveThemOnlyWhereTheyWait) {
    for (const CoreId cores : {1, 3}) {
        Notes<std::pair<CoreId, int>> notes;
        run<Order>(1, cores, notes);
        const auto all = notes.take();
        for (CoreId core = 0; core < cores; ++core) {
            std::vector<int> of_core;
            for (const auto& [where, what] : all)
                if (where == core) of_core.push_back(what);
            // Pools 0 and 2 wait; 1, 3 and 4 are not left.
            // Both are woken at once.
            ASSERT_EQ(of_core.size(), 2 * pools_each);
            std::sort(of_core.end() - 2, of_core.end());
            EXPECT_EQ(of_core, (std::vector<int>{0, 1, 101, 2, 3, 103, 4, 104, 100, 102})) << core;
        }
    }
}

/// Runs of filaments, which note the strips that they are executed in.
class Strips : public TestProgram {
public:
    explicit Strips(std::vector<std::pair<int, std::uint64_t>>& strips) : strips_(strips) {}

    void alone(Processor&, int i) { strips_.emplace_back(i, 1); }
    void together(Processor&, int i, std::uint64_t count) { strips_.emplace_back(i, count); }
    void main(Filaments& fil) override {
        auto& phase = fil.create_phase<&Strips::alone, nullptr, nullptr, &Strips::together>(*this);
        auto& pools = fil.create_pool_array(phase, 1000);
        for (int i = 0; i < 150; ++i) fil.create_filament(pools[0], i);
        for (const int apart : {200, 202, 204}) fil.create_filament(pools[0], apart);
        fil.create_filament(pools[0], 300);
        fil.start();
    }

private:
    std::vector<std::pair<int, std::uint64_t>>& strips_;
};

TEST_P(Phases, ExecuteNeighboursInShortStrips) {
    std::vector<std::pair<int, std::uint64_t>> strips;
    run<Strips>(1, 1, strips);
    using Strip = std::pair<int, std::uint64_t>;
    EXPECT_THAT(strips, testing::ElementsAre(Strip{0, 64}, Strip{64, 64}, Strip{128, 22}, Strip{200, 1},
                                             Strip{202, 1}, Strip{204, 1}, Strip{300, 1}));
}

// --- errors

class Overfull : public TestProgram {
public:
    explicit Overfull(std::uint64_t capacity) : capacity_(capacity) {}
    void body(Processor&, int) {}
    void main(Filaments& fil) override {
        auto& phase = fil.create_phase<&Overfull::body>(*this);
        auto& pools = fil.create_pool_array(phase, capacity_);
        for (std::uint64_t i = 0; i <= capacity_; ++i) fil.create_filament(pools[0], static_cast<int>(i));
    }

private:
    std::uint64_t capacity_;
};

TEST_P(Phases, RefuseMoreFilamentsThanAPoolHolds) {
    EXPECT_THAT(
        error_of<Overfull>(1, 1, 3U),
        HasSubstr("pool 0 of phase body on node 0 holds 3 filaments, which is its capacity; raise the "
                  "capacity in create_pool_array"));
    EXPECT_THAT(error_of<Overfull>(1, 1, 0U), HasSubstr("holds 0 filaments, which is its capacity"));
}

class NoSuchPool : public TestProgram {
public:
    void body(Processor&, int) {}
    void main(Filaments& fil) override {
        auto& phase = fil.create_phase<&NoSuchPool::body>(*this);
        fil.create_filament(fil.create_pool_array(phase, 3, 2)[2 * fil.processors()], 1);
    }
};

TEST_P(Phases, RefuseAPoolThatIsNotThere) {
    EXPECT_THAT(error_of<NoSuchPool>(1, 1), HasSubstr("pool 2 of an array of 2 for phase body on node 0"));
}

/// Nodes of odd number do something else.
class Apart : public TestProgram {
public:
    enum class How { phases, decision, end, filament, creation, sequence, closed, pools, none_at_once };
    explicit Apart(How how) : how_(how) {}

    void body(Processor& self) {
        if (how_ == How::filament) self.filaments().barrier();
        if (how_ == How::creation) self.filaments().create_filament(*pool_);
    }
    void other(Processor&) {}
    PostPhase again(Filaments& fil) {
        return ++executions_ == 2 || (how_ == How::decision && fil.my_node() == 1) ? F_DONE : F_CONTINUE;
    }
    void main(Filaments& fil) override {
        const bool odd = fil.my_node() % 2 == 1;
        auto& phase = fil.create_phase<&Apart::body, &Apart::again>(*this);
        auto& pool = fil.create_pool_array(phase, 2)[0];
        pool_ = &pool;
        fil.create_filament(pool);
        if (how_ == How::sequence) fil.repeat_in_sequence(fil.create_phase<&Apart::body>(*this));
        if (how_ == How::phases && odd) fil.create_phase<&Apart::other>(*this);
        if (how_ == How::none_at_once) fil.create_phase<&Apart::body>(*this, {.at_once = 0});
        fil.start();
        if (how_ == How::closed) fil.create_filament(pool);
        if (how_ == How::pools) fil.create_pool_array(phase, 1);
        if (how_ == How::end && !odd) fil.barrier();
    }

private:
    How how_;
    Pool<& Apart::body>* pool_ = nullptr;
    int executions_ = 0;
};

TEST_P(Phases, RefuseNodesThatComeApart) {
    if (GetParam().ends_process || GetParam().one_node) return;
    EXPECT_THAT(
        error_of<Apart>(2, 2, Apart::How::phases),
        HasSubstr("the main programs of nodes 0 and 1 have come apart, because they have made different "
                  "phases: node 0 starts its phases after 0 executions"));
    EXPECT_THAT(
        error_of<Apart>(2, 2, Apart::How::decision),
        HasSubstr("node 0 comes to a barrier after 2 executions of phases, and node 1 has ended its main "
                  "program after 1 executions of phases; make the same phases"));
    EXPECT_THAT(error_of<Apart>(3, 2, Apart::How::end),
                HasSubstr("nodes 0 and 1 have come apart: node 0 comes"));
}

TEST_P(Phases, RefuseAFilamentThatDoesWhatTheMainProgramDoes) {
    EXPECT_THAT(
        error_of<Apart>(1, failing_cores(), Apart::How::filament),
        HasSubstr("on node 0 the main program comes to a barrier while filaments of phase body run; do "
                  "that in the main program"));
    EXPECT_THAT(
        error_of<Apart>(1, failing_cores(), Apart::How::creation),
        HasSubstr("on node 0 the main program creates a filament while filaments of phase body run; do "
                  "that in the main program"));
}

TEST_P(Phases, RefuseASequenceThatNeverEnds) {
    EXPECT_THAT(error_of<Apart>(1, 1, Apart::How::sequence),
                HasSubstr("no phase of a sequence on node 0 has"));
}

TEST_P(Phases, RefuseFilamentsOfAPhaseThatIsOver) {
    EXPECT_THAT(
        error_of<Apart>(1, 1, Apart::How::closed),
        HasSubstr("a filament for pool 0 of phase body on node 0, which is closed; make a new phase"));
}

TEST_P(Phases, RefusePoolsOfAPhaseThatIsOver) {
    EXPECT_THAT(error_of<Apart>(1, 1, Apart::How::pools),
                HasSubstr("pools for phase body on node 0, which is closed; make a new phase"));
}

TEST_P(Phases, RefuseToExecuteNoFilamentAtOnce) {
    EXPECT_THAT(error_of<Apart>(1, 1, Apart::How::none_at_once),
                HasSubstr("phase body on node 0 executes no filament at once"));
}

}  // namespace
}  // namespace heddle::testing_filaments
