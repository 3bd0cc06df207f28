// Tests code that blocks, such as reads of a disk, natively, in simulation and in-process. It runs beside the
// workers; strands and tasks wait for it while other work goes on. It ends before what it uses is freed. In
// simulation the disk takes the time that its figures say.
#include "runtime/sources/io.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::io;

class Io : public Strands {};

INSTANTIATE_TEST_SUITE_P(Worlds, Io, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(Io, ReturnsWhatTheCodeReturns) {
    std::string text;
    int numbers = 0;
    run(1, 1, [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            text = io(self, 1e3, [] {
                std::ifstream file("/proc/self/comm");
                std::string line;
                std::getline(file, line);
                return line;
            });
        });
        // A task waits too, and its worker runs the strand meanwhile.
        runtime::io({worker, worker.base()}, 0, [&] { numbers = 7; });
    });
    EXPECT_NE(text, "");
    EXPECT_EQ(numbers, 7);
}

TEST_P(Io, ThrowsWhatTheCodeThrows) {
    std::atomic<int> caught{0};
    run(1, 2, [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            try {
                io(self, 1, [] { throw std::runtime_error("no such file"); });
            } catch (const std::runtime_error&) {
                ++caught;
            }
        });
    });
    EXPECT_EQ(caught, 1);
}

TEST_P(Io, ManyCallsEndEachOnce) {
    constexpr int strands = 40, rounds = 5;
    std::atomic<int> ran{0};
    std::atomic<int> returned{0};
    run_all(nodes(2), 2, [&](Worker& worker) {
        for (int i = 0; i < strands; ++i) {
            Strand::start(worker, [&](Strand& self) {
                for (int round = 0; round < rounds; ++round) {
                    io(self, 100, [&] { ++ran; });
                    ++returned;
                }
            });
        }
    });
    EXPECT_GE(ran, strands * rounds);  // on each node
    EXPECT_EQ(ran % (strands * rounds), 0);
    EXPECT_EQ(ran, returned);
}

TEST_P(Io, EndsBeforeTheStacksThatItUsesAreUnwound) {
    std::atomic<int> value{0};
    run(1, 2, [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            // Alive until it is unwound.
            struct Mine {
                std::atomic<int>& value;
                int own = 1;
                ~Mine() {
                    own = 0;
                    value += 10;
                }
            } mine{value};
            io(self, 1e6, [&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                value += mine.own;
            });
        });
        Strand::start(worker, [&](Strand& self) {
            self.worker().node().end_run(self.worker(), self.worker().outbox());
        });
    });
    EXPECT_TRUE(value == 11 || value == 0) << value;  // 0: the run had ended before the strand began
}

}  // namespace
}  // namespace heddle::testing_strands
