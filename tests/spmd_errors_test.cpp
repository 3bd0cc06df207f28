// Tests that natively an error in a collective call, or while one goes on, ends the process with its message:
// it destroys no memory that other workers still use.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/relax.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/sources/timers.hpp"
#include "tests/spmd_programs.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

constexpr std::size_t elements = 1U << 22;  // to free them takes long enough
constexpr int tries = 10;

class SpmdErrors : public testing::Test {
protected:
    SpmdErrors() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }

    static void run(NodeId nodes, const SpmdOptions& options, const MainFunction::Body& body) {
        testing_strands::run_native_nodes(
            nodes, 2, [&](NodeId) { return std::make_unique<MainFunction>(options, body); });
    }
};

TEST_F(SpmdErrors, OfAThreadWhileItsSplitPhaseCallGoesOn) {
    const auto fail = [] {
        run(1, {.ranks = flat}, [](Spmd& self) {
            std::vector<double> in(elements, 1), out(elements);
            SplitCall call = self.start().all_reduce(std::plus<>(), in, out);
            if (self.thread_rank() == 1) return call.wait();
            runtime::sleep_for(self.strand(), std::chrono::milliseconds(3));
            throw Error("the program's own error");
        });
    };
    for (int i = 0; i < tries; ++i)
        EXPECT_EXIT(fail(), testing::ExitedWithCode(native::exit_code_failed), "the program's own error");
}

TEST_F(SpmdErrors, OfAnOperatorWhileHelpersCombine) {
    const auto fail = [] {
        std::array<std::vector<double>, 2> in, out;
        run(2, {}, [&](Spmd& self) {
            const bool leads = self.thread_rank() == 0;
            if (leads) {
                in[self.node()].assign(elements, 1);
                out[self.node()].resize(elements);
            }
            self.all_reduce_value(std::plus<>(), 0);
            const std::span<double> given(in[self.node()]), sums(out[self.node()]);
            const auto add_or_fail = [leads](double a, double b) {
                if (leads) throw Error("the operator's own error");
                return a + b;
            };
            self.all_reduce(add_or_fail, given, sums, "recursive_doubling");
        });
    };
    for (int i = 0; i < tries; ++i)
        EXPECT_EXIT(fail(), testing::ExitedWithCode(native::exit_code_failed), "the operator's own error");
}

/// Rank 1 combines with the array of rank 0, in its place, when the call of rank 0 fails.
TEST_F(SpmdErrors, OfAnOperatorWhileAnotherRankOfTheNodeReadsTheArray) {
    const auto fail = [] {
        std::atomic<bool> reads{false};
        run(1, {.ranks = flat}, [&](Spmd& self) {
            std::vector<double> in(elements, 1), out(elements);
            const auto add_or_fail = [&, fails = self.rank() == 0](double a, double b) {
                if (!fails) {
                    reads = true;
                    return a + b;
                }
                for (Patience patience; !reads; patience.wait()) {
                }
                throw Error("the operator's own error");
            };
            self.all_reduce(add_or_fail, in, out, "ring");
        });
    };
    for (int i = 0; i < tries; ++i)
        EXPECT_EXIT(fail(), testing::ExitedWithCode(native::exit_code_failed), "the operator's own error");
}

}  // namespace
}  // namespace heddle::spmd
