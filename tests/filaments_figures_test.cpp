// Tests Figures 1 and 2 of the HyFi paper on the four machines of its Figure 3. Rows, processors and pools
// are those that the paper's text gives. The result is the sequential program's, bit by bit.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "examples/own_filaments/figures.hpp"
#include "tests/filament_workloads_testing.hpp"
#include "tests/filaments_testing.hpp"

namespace heddle::testing_filaments {
namespace {

using testing::Each;
using testing::ElementsAre;

/// What a node's program had where Figure 3 shows it.
struct Seen {
    NodeId node;
    int start_row, end_row;
    std::vector<int> proc_ids;
    std::vector<std::uint64_t> pool_sizes;
    int capacity;
    int sweeps;
    std::vector<double> rows;
};

class SeenJacobi final : public hyfi::Jacobi {
public:
    SeenJacobi(int size, double tolerance, Notes<Seen>& notes) : Jacobi(size, tolerance), notes_(notes) {}

    void main(Filaments& fil) override {
        Jacobi::main(fil);
        Seen seen{fil.my_node(), start_row, end_row, proc_ids, pool_sizes, num_fil_per_processor, sweeps, {}};
        for (int i = start_row; i <= end_row; ++i)
            for (int j = 0; j < n; ++j) seen.rows.push_back(new_[i][j]);
        notes_.add(seen);
    }

private:
    Notes<Seen>& notes_;
};

struct Known {
    std::vector<double> rows;
    int sweeps = 0;
};
Known sequential(int n, double epsilon) {
    const auto at = [n](int i, int j) { return static_cast<std::size_t>((i + 1) * n + j); };
    std::vector<double> old(static_cast<std::size_t>((n + 2) * n));
    std::fill_n(old.begin(), n, 1.0);
    std::vector<double> now = old;
    Known known;
    for (;;) {
        double maxdiff = 0;
        for (int i = 0; i < n; ++i) {
            for (int j = 1; j < n - 1; ++j) {
                now[at(i, j)] =
                    (old[at(i - 1, j)] + old[at(i + 1, j)] + old[at(i, j - 1)] + old[at(i, j + 1)]) * 0.25;
                maxdiff = std::max(maxdiff, std::fabs(now[at(i, j)] - old[at(i, j)]));
            }
        }
        ++known.sweeps;
        if (maxdiff < epsilon) break;
        std::swap(old, now);
    }
    known.rows.assign(now.begin() + n, now.end() - n);
    return known;
}

class Figures : public testing::TestWithParam<MemoryWorld> {
protected:
    static std::vector<Seen> run(NodeId nodes, CoreId cores, int n, double epsilon) {
        Notes<Seen> notes;
        GetParam().run(nodes, cores, {},
                       [&](NodeId) { return std::make_unique<SeenJacobi>(n, epsilon, notes); });
        auto all = notes.take();
        std::sort(all.begin(), all.end(), [](const Seen& a, const Seen& b) { return a.node < b.node; });
        return all;
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, Figures, testing::ValuesIn(testing_dsm::worlds()),
                         [](const auto& world) { return world.param.name; });

/// The text has a 4 x 4 matrix. The code leaves out the border columns, so a row has two filaments here.
TEST_P(Figures, PutRowsAndFilamentsWhereTheTextSays) {
    const auto uniprocessor = run(1, 1, 4, 1e-3);
    ASSERT_EQ(uniprocessor.size(), 1U);
    EXPECT_EQ(uniprocessor[0].start_row, 0);
    EXPECT_EQ(uniprocessor[0].end_row, 3);
    EXPECT_THAT(uniprocessor[0].proc_ids, ElementsAre(0, 0, 0, 0));
    EXPECT_THAT(uniprocessor[0].pool_sizes, ElementsAre(8));
    EXPECT_EQ(uniprocessor[0].capacity, 16);

    const auto multiprocessor = run(1, 4, 4, 1e-3);
    ASSERT_EQ(multiprocessor.size(), 1U);
    EXPECT_EQ(multiprocessor[0].start_row, 0);
    EXPECT_EQ(multiprocessor[0].end_row, 3);
    EXPECT_THAT(multiprocessor[0].proc_ids, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(multiprocessor[0].pool_sizes, ElementsAre(2, 2, 2, 2));
    EXPECT_EQ(multiprocessor[0].capacity, 4);

    const auto multicomputer = run(4, 1, 4, 1e-3);
    ASSERT_EQ(multicomputer.size(), 4U);
    for (const Seen& seen : multicomputer) {
        EXPECT_EQ(seen.start_row, static_cast<int>(seen.node));
        EXPECT_EQ(seen.end_row, static_cast<int>(seen.node));
        EXPECT_THAT(seen.proc_ids, ElementsAre(0));
        EXPECT_THAT(seen.pool_sizes, ElementsAre(2));
        EXPECT_EQ(seen.capacity, 4);
    }

    const auto hybrid = run(2, 2, 4, 1e-3);
    ASSERT_EQ(hybrid.size(), 2U);
    for (const Seen& seen : hybrid) {
        EXPECT_EQ(seen.start_row, seen.node == 0 ? 0 : 2);
        EXPECT_EQ(seen.end_row, seen.node == 0 ? 1 : 3);
        EXPECT_THAT(seen.proc_ids, ElementsAre(0, 1));
        EXPECT_THAT(seen.pool_sizes, ElementsAre(2, 2));
        EXPECT_EQ(seen.capacity, 4);
    }
}

TEST_P(Figures, RunUnchangedOnAllFourMachines) {
    for (const int n : {4, 16}) {
        const Known known = sequential(n, 1e-3);
        EXPECT_GT(known.sweeps, 5);
        for (const Machine& machine : {Machine{1, 1}, {1, 4}, {4, 1}, {2, 2}}) {
            std::vector<double> rows;
            for (const Seen& seen : run(machine.nodes, machine.cores, n, 1e-3)) {
                EXPECT_EQ(seen.sweeps, known.sweeps);
                rows.insert(rows.end(), seen.rows.begin(), seen.rows.end());
            }
            EXPECT_EQ(rows, known.rows) << machine.nodes << " x " << machine.cores;
        }
    }
}

}  // namespace
}  // namespace heddle::testing_filaments
