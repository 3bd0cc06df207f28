// Tests Strassen's multiplication: its parts against three plain loops, its additions against the literature,
// and the workload at many interleavings, natively on two workers and on two nodes.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "runtime/native/native_backend.hpp"
#include "tests/faulty_machine.hpp"
#include "tests/placement_testing.hpp"
#include "tests/strand_testing.hpp"
#include "workloads/dataflow_strassen.hpp"

namespace heddle {
namespace {

using testing_placement::Stated;
using workloads::strassen::Square;
using Kind = workloads::Verdict::Kind;

std::vector<double> plain_product(const Square& a, const Square& b) {
    const std::size_t n = a.rows();
    std::vector<double> c(n * n);
    for (std::size_t column = 0; column < n; ++column)
        for (std::size_t row = 0; row < n; ++row)
            for (std::size_t k = 0; k < n; ++k)
                c[column * n + row] += a.numbers()[k * n + row] * b.numbers()[column * n + k];
    return c;
}

TEST(Strassen, IsThePlainProduct) {
    for (const std::size_t rows : {1U, 2U, 4U, 8U, 24U, 64U}) {
        for (const std::size_t cutoff : {1U, 3U, 16U, 64U}) {
            if (rows % 3 == 0 && cutoff == 1) continue;  // 3 is odd
            Square a(rows), b(rows), c(rows);
            workloads::strassen::fill(rows, 0, a);
            workloads::strassen::fill(rows, 1, b);
            workloads::strassen::multiply(a, b, c, cutoff);
            const std::vector<double> expected = plain_product(a, b);
            ASSERT_TRUE(std::ranges::equal(c.numbers(), expected)) << rows << ", " << cutoff;
        }
    }
}

TEST(Strassen, NumbersAreIntegersFromMinusEightToEight) {
    Square square(64);
    workloads::strassen::fill(7, 0, square);
    std::vector<int> found(17);
    for (const double number : square.numbers()) {
        ASSERT_EQ(number, std::floor(number));
        ASSERT_LE(std::fabs(number), 8);
        ++found[static_cast<std::size_t>(number + 8)];
    }
    for (const int times : found) EXPECT_GT(times, 150);  // 241 on average
}

// Winograd's form takes 7^k products and 5 (7^k - 4^k) additions for 2^k rows (Higham: "Accuracy and
// Stability of Numerical Algorithms", section 23.2.2: 6 n^log2(7) - 5 n^2 together). Here a plain product
// adds to zero, too.
TEST(Strassen, CostsTheOperationsOfWinogradsForm) {
    for (const double k : {0, 1, 2, 5, 10}) {
        const double products = std::pow(7, k), numbers = std::pow(4, k);
        const auto rows = static_cast<std::size_t>(std::pow(2, k));
        EXPECT_EQ(workloads::strassen::cost_of_product(rows, 1).flops,
                  2 * products + 5 * (products - numbers));
    }
    EXPECT_EQ(workloads::strassen::cost_of_product(32, 32).flops, 2.0 * 32 * 32 * 32);
}

TEST(Strassen, ASquareThatIsNoneIsNotRead) {
    runtime::Writer writer;
    writer.put_size(std::size_t{1} << 40);
    writer.put(1.0);
    runtime::Reader reader(writer.bytes());
    EXPECT_EQ(runtime::Serialize<Square>::read(reader).rows(), 0);
    EXPECT_FALSE(reader.ok());
}

Stated stated(const std::string& rows, const std::string& cutoff, const std::string& depth) {
    return {"dataflow_strassen", {{"rows", rows}, {"cutoff", cutoff}, {"depth", depth}}};
}

TEST(DataflowStrassen, IsRightAtManyInterleavings) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const testing_faults::FaultyMachine machine = testing_faults::draw_machine(seed);
        inprocess::InprocessBackend backend(machine.options);
        const auto ran = testing_placement::run(
            backend, stated("16", "2", std::to_string(seed % 4)),
            testing_placement::cluster(machine.options.nodes, machine.options.cores), machine.schedule);
        ASSERT_TRUE(ran.right()) << "seed " << seed << ": " << ran.verdict.reason;
    }
}

TEST(DataflowStrassen, IsRightOnTwoWorkers) {
    for (int run = 0; run < 10; ++run) {
        native::NativeOptions options;
        options.cores = 2;
        native::NativeBackend backend(options);
        const auto ran =
            testing_placement::run(backend, stated("128", "8", "3"), testing_placement::cluster(1, 2), {});
        ASSERT_TRUE(ran.right()) << ran.verdict.reason;
    }
}

/// What node 0 of two finds.
runtime::RunResult run_on_two_nodes(const runtime::ProgramFactory& make) {
    const native::Key key = native::make_key();
    const native::Rendezvous rendezvous(2, key);
    std::array<runtime::RunResult, 2> results;
    std::vector<std::thread> threads;
    for (NodeId node = 0; node < 2; ++node) {
        threads.emplace_back([&, node] {
            native::NativeOptions options;
            options.membership = native::Membership{node, 2, key, rendezvous.address(), node, 2};
            native::NativeBackend backend(options);
            results[node] = runtime::Execution(backend, {}, make).run();
        });
    }
    for (std::thread& thread : threads) thread.join();
    return results.front();
}

TEST(DataflowStrassen, IsRightOnTwoRealNodes) {
    const auto workload = stated("64", "8", "2").make();
    workload->prepare(testing_placement::cluster(2, 1), {});
    for (int run = 0; run < 5; ++run) {
        const auto result = run_on_two_nodes([&](NodeId node) { return workload->program(node); });
        const workloads::Verdict verdict = workload->check(result);
        ASSERT_EQ(verdict.kind, Kind::right) << verdict.reason;
    }
}

// A division has ten tasks: two of factors, seven products, and one that combines them.
TEST(DataflowStrassen, HasTheTasksOfItsDepth) {
    EXPECT_EQ(workloads::strassen_closures({64, 8, 0}), 1);
    EXPECT_EQ(workloads::strassen_closures({64, 64, 3}), 1);
    EXPECT_EQ(workloads::strassen_closures({64, 32, 3}), 1 + 10);
    EXPECT_EQ(workloads::strassen_closures({64, 8, 2}), 1 + 10 + 7 * 10);
    EXPECT_EQ(workloads::strassen_closures({64, 8, 9}), 1 + 10 + 7 * 10 + 49 * 10);
}

TEST(DataflowStrassen, ANumberThatIsWrongIsNoticed) {
    const auto workload = stated("16", "4", "2").make();
    inprocess::InprocessBackend backend({});
    workload->prepare(testing_placement::cluster(1, 1), {});
    runtime::RunResult result =
        runtime::Execution(backend, {}, [&](NodeId id) { return workload->program(id); }).run();
    ASSERT_EQ(workload->check(result).kind, Kind::right);
    result.evidence.front()[100] ^= std::byte{1};
    EXPECT_EQ(workload->check(result).kind, Kind::wrong);
}

TEST(DataflowStrassen, RowsThatCannotBeHalvedAreRefused) {
    EXPECT_NO_THROW(stated("96", "3", "1").make());
    EXPECT_THROW(stated("96", "2", "1").make(), Error);
    EXPECT_THROW(stated("17", "16", "0").make(), Error);
}

}  // namespace
}  // namespace heddle
