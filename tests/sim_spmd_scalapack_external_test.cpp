// Compares redistributions of matrices with ScaLAPACK's pdgemr2d, run by mpirun, element by element. Skipped
// if ScaLAPACK (package libscalapack-openmpi-dev) is not installed.
#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "model/spmd/redistribution.hpp"
#include "tests/cli_testing.hpp"
#include "tests/spmd_layouts.hpp"
#include "tests/spmd_programs.hpp"
#include "tests/spmd_timed.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

constexpr RankId processes = 4;

/// A block-cyclic layout: rows and columns of a block, and of the grid.
struct BlockCyclic {
    Index block[2];
    std::uint32_t grid[2];

    static BlockCyclic draw(Random& random) {
        BlockCyclic drawn{{1 + random.below(9), 1 + random.below(9)}, {1, 1}};
        drawn.grid[0] = static_cast<std::uint32_t>(1 + random.below(processes));
        drawn.grid[1] = static_cast<std::uint32_t>(1 + random.below(processes / drawn.grid[0]));
        return drawn;
    }
    Layout layout(const Index (&extent)[2]) const {
        return Layout({{extent[0], Distribution::cyclic(block[0]), grid[0]},
                       {extent[1], Distribution::cyclic(block[1]), grid[1]}});
    }
    std::string words() const { return fmt::format("{} {} {} {}", block[0], block[1], grid[0], grid[1]); }
};

struct Case {
    Index extent[2];
    BlockCyclic from, to;
};

class SpmdScalapack : public testing_cli::Folder {
protected:
    void SetUp() override {
        Folder::SetUp();
        const std::string source = HEDDLE_SOURCE_DIR "/tests/scalapack_redistribute.c";
        const std::string compile = fmt::format("mpicc -O1 {} -o {} -lscalapack-openmpi >{} 2>&1", source,
                                                program(), (folder / "said.txt").string());
        if (std::system("echo 'int main(void) { return 0; }' | mpicc -x c - -o /dev/null -lscalapack-openmpi "
                        ">/dev/null 2>&1") != 0)
            GTEST_SKIP() << "no ScaLAPACK (package libscalapack-openmpi-dev)";
        ASSERT_EQ(std::system(compile.c_str()), 0) << read(folder / "said.txt");
    }
    std::string program() const { return folder / "redistribute"; }

    /// What each process has in the end, by case.
    std::vector<std::vector<std::vector<std::uint64_t>>> by_scalapack(const std::vector<Case>& cases) const {
        std::string text;
        for (const Case& each : cases)
            text += fmt::format("{} {} {} {}\n", each.extent[0], each.extent[1], each.from.words(),
                                each.to.words());
        const std::string out = folder / "out";
        const std::string command = fmt::format(
            "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
            "OMPI_MCA_mpi_yield_when_idle=1 timeout 200 mpirun -n {} {} {} {} 2>&1",
            processes, program(), file("cases", text), out);
        EXPECT_EQ(std::system(command.c_str()), 0);
        std::vector<std::vector<std::vector<std::uint64_t>>> all(processes);
        for (RankId process = 0; process < processes; ++process) {
            std::ifstream stream(fmt::format("{}.{}", out, process));
            for (std::string line; std::getline(stream, line);) {
                std::istringstream words(line);
                all[process].emplace_back(std::istream_iterator<std::uint64_t>(words),
                                          std::istream_iterator<std::uint64_t>());
            }
        }
        return all;
    }
};

/// What each rank has in the end.
std::vector<std::vector<std::uint64_t>> redistributed(const Case& each) {
    const Layout from = each.from.layout(each.extent);
    const Redistribution call(from, each.to.layout(each.extent));
    std::vector<std::vector<std::uint64_t>> result(processes);
    sim::SimBackend backend(bandwidth_counts().platform(processes));
    runtime::Execution(backend, {}, [&](NodeId) {
        return std::make_unique<MainFunction>(SpmdOptions{}, [&](Spmd& self) {
            std::vector<std::uint64_t> in;
            if (self.rank() < from.nodes())
                for_each_index(from.extents(self.rank()), [&](const std::vector<Index>& at) {
                    const std::vector<Index> element = from.global(self.rank(), at);
                    in.push_back(element[0] * each.extent[1] + element[1]);
                });
            std::vector<std::uint64_t>& out = result[self.rank()];
            out.resize(call.output_elements(self.rank()));
            redistribute(self, call, in, out);
        });
    }).run();
    return result;
}

TEST_F(SpmdScalapack, HasTheSameElementsAtTheSamePlaces) {
    std::vector<Case> cases;
    Random random(1);
    for (int i = 0; i < 300; ++i)
        cases.push_back({{1 + random.below(60), 1 + random.below(60)},
                         BlockCyclic::draw(random),
                         BlockCyclic::draw(random)});
    const auto theirs = by_scalapack(cases);
    for (const auto& process : theirs) ASSERT_EQ(process.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto ours = redistributed(cases[i]);
        for (RankId process = 0; process < processes; ++process)
            ASSERT_EQ(ours[process], theirs[process][i])
                << cases[i].from.words() << " to " << cases[i].to.words() << ", process " << process;
    }
}

}  // namespace
}  // namespace heddle::spmd
