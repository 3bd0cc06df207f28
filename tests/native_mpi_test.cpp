// Tests nodes that are ranks of MPI. Each test starts this program under mpirun with a disabled test, which
// every rank runs. Skipped if MPI was not built in, or if there is no mpirun.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "host/wall_clock.hpp"
#include "tests/conformance.hpp"
#include "tests/native_testing.hpp"

namespace heddle::conformance {

namespace {

/// Runs the disabled test on all ranks. Returns the exit code of mpirun, or -1.
int run_ranks(int ranks, const std::string& test, std::string& said) {
    // More ranks than cores, and as root: Open MPI wants to be told. Others have no such doubts.
    std::string command =
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
        "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe timeout 120 mpirun -n " +
        std::to_string(ranks);
    for (const std::string& word : native::child_program(test)) command += " '" + word + "'";
    command += " --gtest_color=no";
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return -1;
    for (int c = 0; (c = fgetc(pipe)) != EOF;) said.push_back(static_cast<char>(c));
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class NativeMpi : public testing::Test {
protected:
    void SetUp() override {
        if (native::mpi_version().empty()) GTEST_SKIP() << "built without MPI";
        if (std::system("mpirun --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
    }
};

/// What a rank does. Ends MPI, so that mpirun takes the process for one that has ended well.
class MpiRank : public testing::Test {
protected:
    void TearDown() override {
        if (!HasFailure()) native::leave_mpi(0);
    }

    native::NativeOptions options() const {
        native::NativeOptions options;
        options.membership = self;
        options.mpi.emplace();
        return options;
    }

    void run(const Script& script, const native::NativeOptions& options) const {
        ScriptedNode node(self.rank, options.cores, script);
        native::NativeBackend(options).run([&](NodeId) -> runtime::NodeProgram& { return node; });
    }

    const native::Membership self = native::join_mpi();
};

/// Of messages and of bodies: batches, single frames, and more than MPI sends eagerly.
const std::vector<std::size_t> sizes{0, 1, 4095, 4096, 32768, 1048576, 3'000'001};

}  // namespace

TEST_F(MpiRank, DISABLED_SendsAllSizesToAll) {
    for (int round = 0; round < 2; ++round) {
        std::vector<std::vector<std::size_t>> seen(self.nodes);
        runtime::Body last;
        Script script;
        script.work = [&](Node&, Context& worker) {
            for (const std::size_t size : sizes) {
                for (NodeId to = 0; to < self.nodes; ++to) {
                    if (to == self.rank) continue;
                    worker.backend->send(worker, to, pattern(size, size));
                    worker.backend->send(worker, to, pack(size),
                                         {.body = std::make_shared<Bytes>(pattern(size, size + 1))});
                }
            }
        };
        script.receive_body = [&](Node&, runtime::Body body) { last = std::move(body); };
        script.deliver = [&](Node&, NodeId from, std::span<const std::byte> message) {
            if (!last) {
                EXPECT_TRUE(std::ranges::equal(message, pattern(message.size(), message.size())));
                seen[from].push_back(message.size());
                return;
            }
            const auto size = unpack<std::size_t>(message);
            EXPECT_EQ(*std::exchange(last, nullptr), pattern(size, size + 1));
            EXPECT_EQ(seen[from].back(), size) << "out of order";
        };
        run(script, options());
        for (NodeId from = 0; from < self.nodes; ++from)
            EXPECT_EQ(seen[from], from == self.rank ? std::vector<std::size_t>{} : sizes);
    }
}

TEST_F(NativeMpi, RanksSendAllSizesToAllInOrderInOneRunAfterAnother) {
    for (const int ranks : {2, 4}) {
        std::string said;
        EXPECT_EQ(run_ranks(ranks, "MpiRank.DISABLED_SendsAllSizesToAll", said), 0) << said;
        std::size_t passed = 0;
        for (std::size_t at = 0; (at = said.find("[  PASSED  ] 1 test.", at)) != std::string::npos; ++at)
            ++passed;
        EXPECT_EQ(passed, static_cast<std::size_t>(ranks)) << said;
    }
}

// 400 MiB to a rank that takes a millisecond for each: without flow control most of them would wait here.
TEST_F(MpiRank, DISABLED_SendsToASlowRank) {
    constexpr int count = 400;
    int got = 0;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        for (int i = 0; i < count && node.id == 0; ++i)
            worker.backend->send(worker, 1, Bytes(8, std::byte{}),
                                 {std::make_shared<Bytes>(std::size_t{1} << 20, std::byte{1})});
    };
    script.receive_body = [](Node&, const runtime::Body&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    script.deliver = [&](Node&, NodeId, auto) { ++got; };
    native::NativeOptions few = options();
    few.window = 4U << 20;
    const std::uint64_t before = host::peak_memory_bytes();
    run(script, few);
    EXPECT_EQ(got, self.rank == 1 ? count : 0);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they take more than the program does
    EXPECT_LT(host::peak_memory_bytes() - before, 100U << 20);
#else
    (void)before;
#endif
}

TEST_F(NativeMpi, ASlowRankCostsTheSenderNoMemory) {
    std::string said;
    EXPECT_EQ(run_ranks(2, "MpiRank.DISABLED_SendsToASlowRank", said), 0) << said;
}

TEST_F(MpiRank, DISABLED_RunsAProgramOfItsOwn) {
    native::NativeOptions own = options();
    own.agreement.program = self.rank == 0 ? "handler a\n" : "handler a\nhandler b\n";
    EXPECT_THAT(native::error_of([&] { run({}, own); }),
                testing::HasSubstr("node 1 runs another program than node 0: node 1 has the handler b, and "
                                   "node 0 does not; start every node from the same binary"));
}

TEST_F(NativeMpi, RanksOfDifferentProgramsRefuseEachOther) {
    std::string said;
    EXPECT_EQ(run_ranks(2, "MpiRank.DISABLED_RunsAProgramOfItsOwn", said), 0) << said;
}

TEST_F(MpiRank, DISABLED_OneFails) {
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id == 1) throw Error("a failure that was planned");
        for (;;) worker.backend->park(worker, never);
    };
    run(script, options());
}

TEST_F(NativeMpi, ARankThatFailsEndsAll) {
    std::string said;
    const int code = run_ranks(3, "MpiRank.DISABLED_OneFails", said);
    EXPECT_EQ(code, native::exit_code_failed) << said;
    EXPECT_THAT(said, testing::HasSubstr("node 1: a failure that was planned"));
}

}  // namespace heddle::conformance
