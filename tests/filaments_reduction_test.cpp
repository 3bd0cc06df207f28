// Tests reduction variables of filaments, natively, in simulation and in-process: values, operators, and that
// timing changes no bit of a result.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <optional>

#include "tests/filaments_testing.hpp"

namespace heddle::testing_filaments {
namespace {

using testing::HasSubstr;

class Reductions : public FilamentWorlds {};

INSTANTIATE_TEST_SUITE_P(Worlds, Reductions, testing::ValuesIn(testing_strands::worlds()),
                         [](const auto& world) { return world.param.name; });

constexpr int per_processor = 7;

/// A number that differs much from filament to filament, so that sums depend on their order.
double share(WorkerId of, int i) {
    return std::pow(1.7, static_cast<double>((of.node * 5 + of.core * 3 + static_cast<CoreId>(i) * 7) % 64)) -
           9e4;
}

/// What the reductions of a node gave, bit by bit.
struct Found {
    double sum, least, most;
    std::uint64_t bits;
    struct Position {
        double value;
        WorkerId where;
    } largest;
    int executions;
};

/// Of two the larger, and where it is: an operator of the program's own.
struct Larger {
    Found::Position operator()(const Found::Position& a, const Found::Position& b) const {
        return b.value > a.value ? b : a;
    }
};

class Sums : public TestProgram {
public:
    explicit Sums(Notes<Found>& notes) : notes_(notes) {}

    void add_share(Processor& self, int i) {
        const WorkerId id = self.worker().id;
        const double mine = share(id, i + executions_);
        self.value(sum_) += mine;
        self.value(least_) = std::min(self.value(least_), mine);
        self.value(most_) = std::max(self.value(most_), mine);
        self.value(bits_) |= std::uint64_t{1} << (id.node * 2 + id.core);
        if (self.value(largest_).value < mine) self.value(largest_) = {mine, id};
        if ((i + executions_) % 3 == 0) self.worker().compute({1e4 * i, 0}, {});
    }
    PostPhase combine(Filaments& fil) {
        fil.reduce(sum_, add);
        fil.reduce(least_, min);
        fil.reduce(most_, max);
        fil.reduce(bits_, [](std::uint64_t a, std::uint64_t b) { return a | b; });
        fil.reduce(largest_, Larger{});
        notes_.add({fil.value(sum_), fil.value(least_), fil.value(most_), fil.value(bits_),
                    fil.value(largest_), executions_});
        fil.value(sum_) = 0;
        fil.value(least_) = 1e300;
        fil.value(most_) = -1e300;
        fil.value(bits_) = 0;
        fil.value(largest_) = {-1e300, {}};
        return ++executions_ == 3 ? F_DONE : F_CONTINUE;
    }
    void main(Filaments& fil) override {
        auto& phase = fil.create_phase<&Sums::add_share, &Sums::combine>(*this);
        auto& pools = fil.create_pool_array(phase, per_processor);
        for (CoreId processor = 0; processor < fil.processors(); ++processor)
            for (int i = 0; i < per_processor; ++i) fil.create_filament(pools[processor], i);
        fil.start();
    }

private:
    Notes<Found>& notes_;
    Reduction<double> sum_{*this, "sum"};
    Reduction<double> least_{*this, "least", 1e300};
    Reduction<double> most_{*this, "most", -1e300};
    Reduction<std::uint64_t> bits_{*this, "bits"};
    Reduction<Found::Position> largest_{*this, "largest", {-1e300, {}}};
    int executions_ = 0;
};

/// The copies of a node in order of its processors, then the nodes along a tournament.
double expected_sum(NodeId nodes, CoreId cores, int execution) {
    std::vector<double> of_node(nodes);
    for (NodeId node = 0; node < nodes; ++node) {
        for (CoreId core = 0; core < cores; ++core) {
            double copy = 0;
            for (int i = 0; i < per_processor; ++i) copy += share({node, core}, i + execution);
            of_node[node] = core == 0 ? copy : of_node[node] + copy;
        }
    }
    for (NodeId distance = 1; distance < nodes; distance *= 2)
        for (NodeId node = 0; node + distance < nodes; node += 2 * distance)
            of_node[node] += of_node[node + distance];
    return of_node[0];
}

TEST_P(Reductions, CombineAllCopiesInAFixedOrder) {
    for (const NodeId wanted : {1, 2, 3, 6}) {
        for (const CoreId cores : {1U, 2U}) {
            const NodeId count = nodes(wanted);
            Notes<Found> notes;
            run<Sums>(count, cores, notes);
            const auto all = notes.take();
            ASSERT_EQ(all.size(), 3U * count);
            for (const Found& found : all) {
                double least = 1e300;
                double most = -1e300;
                WorkerId where{};
                std::uint64_t bits = 0;
                for (NodeId node = 0; node < count; ++node) {
                    for (CoreId core = 0; core < cores; ++core) {
                        bits |= std::uint64_t{1} << (node * 2 + core);
                        for (int i = 0; i < per_processor; ++i) {
                            const double value = share({node, core}, i + found.executions);
                            least = std::min(least, value);
                            if (value > most) where = {node, core};
                            most = std::max(most, value);
                        }
                    }
                }
                EXPECT_EQ(found.sum, expected_sum(count, cores, found.executions));
                EXPECT_EQ(found.least, least);
                EXPECT_EQ(found.most, most);
                EXPECT_EQ(found.bits, bits);
                EXPECT_EQ(found.largest.value, most);
                EXPECT_EQ(found.largest.where, where);
            }
        }
    }
}

/// A variable that is not reduced keeps the copies of the processors over executions.
class Keeps : public TestProgram {
public:
    explicit Keeps(int& wrong) : wrong_(wrong) {}

    void count(Processor& self) { self.value(count_) += 1 + static_cast<int>(self.id()); }
    PostPhase combine(Filaments& fil) {
        if (++executions_ < 4) return F_CONTINUE;
        const auto cores = static_cast<int>(fil.processors());
        if (fil.reduce(count_, add) != 4 * cores * (cores + 1) / 2 * static_cast<int>(fil.nodes())) ++wrong_;
        return F_DONE;
    }
    void main(Filaments& fil) override {
        auto& phase = fil.create_phase<&Keeps::count, &Keeps::combine>(*this);
        auto& pools = fil.create_pool_array(phase, 1);
        for (CoreId processor = 0; processor < fil.processors(); ++processor)
            fil.create_filament(pools[processor]);
        fil.start();
    }

private:
    int& wrong_;
    Reduction<int> count_{*this, "count"};
    int executions_ = 0;
};

TEST_P(Reductions, KeepWhatProcessorsHaveUntilTheyAreReduced) {
    int wrong = 0;
    run<Keeps>(nodes(2), 3, wrong);
    EXPECT_EQ(wrong, 0);
}

/// A filament is left between reading its copy and writing it.
class Interrupted : public TestProgram {
public:
    explicit Interrupted(Notes<int>& notes) : notes_(notes) {}

    void count(Processor& self, int i) {
        int& mine = self.value(count_);
        const int before = mine;
        if (i % 4 == 0) self.wait(last_[self.id()]);
        mine = before + 1;
        if (i == 11) last_[self.id()].complete(self.worker().node(), self.worker());
    }
    PostPhase combine(Filaments& fil) {
        notes_.add(fil.reduce(count_, add));
        return F_DONE;
    }
    void main(Filaments& fil) override {
        auto& phase = fil.create_phase<&Interrupted::count, &Interrupted::combine>(*this);
        auto& pools = fil.create_pool_array(phase, 4, 3);
        for (std::size_t pool = 0; pool < pools.size(); ++pool)
            for (std::size_t i = 0; i < 4; ++i) fil.create_filament(pools[pool], pool % 3 * 4 + (i + 1) % 4);
        fil.start();
    }

private:
    Notes<int>& notes_;
    std::array<runtime::Event, 2> last_;
    Reduction<int> count_{*this, "count"};
};

TEST_P(Reductions, LoseNothingWhereAFilamentIsLeftInBetween) {
    Notes<int> notes;
    const NodeId count = nodes(2);
    run<Interrupted>(count, 2, notes);
    EXPECT_EQ(notes.take(), std::vector<int>(count, static_cast<int>(24 * count)));
}

/// Variables that the main program makes and ends between phases.
class MadeLate : public TestProgram {
public:
    explicit MadeLate(Notes<int>& notes) : notes_(notes) {}

    void count(Processor& self, int i) { self.value(*sum_) += i; }
    void main(Filaments& fil) override {
        for (int round = 1; round <= 2; ++round) {
            sum_.emplace(*this, "sum");
            auto& phase = fil.create_phase<&MadeLate::count>(*this);
            auto& pools = fil.create_pool_array(phase, 1);
            for (std::size_t pool = 0; pool < pools.size(); ++pool) fil.create_filament(pools[pool], round);
            fil.start();
            notes_.add(fil.reduce(*sum_, add));
        }
        sum_.reset();
        auto& last = fil.create_phase<&MadeLate::nothing>(*this);
        fil.create_filament(fil.create_pool_array(last, 1)[0]);
        fil.start();
    }
    void nothing(Processor&) {}

private:
    Notes<int>& notes_;
    std::optional<Reduction<int>> sum_;
};

TEST_P(Reductions, MayBeMadeByTheMainProgram) {
    Notes<int> notes;
    run<MadeLate>(1, 2, notes);
    EXPECT_EQ(notes.take(), (std::vector{2, 4}));
}

/// Asks for a value, or reduces it, at the wrong time.
class Misuse : public TestProgram {
public:
    explicit Misuse(bool in_filament) : in_filament_(in_filament) {}

    void body(Processor& self) {
        if (in_filament_) self.filaments().reduce(sum_, add);
    }
    PostPhase combine(Filaments& fil) {
        fil.value(sum_) = 1;
        return F_DONE;
    }
    void main(Filaments& fil) override {
        fil.value(sum_) = 3;  // no filament has run
        auto& phase = fil.create_phase<&Misuse::body, &Misuse::combine>(*this);
        fil.create_filament(fil.create_pool_array(phase, 1)[0]);
        fil.start();
    }

private:
    bool in_filament_;
    Reduction<double> sum_{*this, "sum"};
};

TEST_P(Reductions, RefuseAReductionInsideAFilament) {
    EXPECT_THAT(
        error_of<Misuse>(1, failing_cores(), true),
        HasSubstr("on node 0 the main program reduces sum while filaments of phase body run; do that in the "
                  "main program or in post-phase code; filaments use Processor::value"));
}

TEST_P(Reductions, RefuseAValueOfWhichEachProcessorHasAnother) {
    EXPECT_THAT(
        error_of<Misuse>(1, failing_cores(), false),
        HasSubstr("on node 0 the main program asks for sum, of which each processor has its own value since "
                  "filaments ran; call reduce first"));
}

}  // namespace
}  // namespace heddle::testing_filaments
