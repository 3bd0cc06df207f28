// Runs the patterns of MPICH's multithreaded point-to-point tests (test/mpi/threads/pt2pt) with Heddle's
// messaging threads, natively, in simulation and in-process, by each carrier. In MPI the threads of a rank
// share its address. Here each thread has its own identifier, so a message to a rank goes to a thread of that
// process. Left out: probes, persistent and generalized requests, and a thread that waits for the requests of
// other threads, because the model has none of these.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tests/messaging_testing.hpp"

namespace heddle::messaging {
namespace {

class MessagingPatterns : public MessagingTest {};

INSTANTIATE_TEST_SUITE_P(Worlds, MessagingPatterns, testing::ValuesIn(messaging_worlds()),
                         [](const auto& world) { return world.param.name; });

constexpr Tag done_tag = 1'000'000;

std::vector<std::uint32_t> pattern(std::size_t length, std::uint32_t first) {
    std::vector<std::uint32_t> all(length);
    std::iota(all.begin(), all.end(), first);
    return all;
}

void await(Thread& self, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) EXPECT_TRUE(self.receive<bool>({.tag = done_tag}));
}

// --- threads: pairs of threads exchange messages of growing length, both ways

constexpr std::uint32_t lengths = 12;

void answers(Thread& self, ThreadId main) {
    Actual actual;
    for (std::uint32_t i = 0; i < lengths; ++i) {
        const auto values = self.receive<std::vector<std::uint32_t>>({.tag = i}, &actual);
        EXPECT_EQ(values, pattern(std::size_t{1} << i, i));
        self.send(actual.from, i + 100, values);
    }
    self.send(main, done_tag, true);
}

void asks(Thread& self, ThreadId partner, ThreadId main) {
    for (std::uint32_t i = 0; i < lengths; ++i) {
        self.send(partner, i, pattern(std::size_t{1} << i, i));
        EXPECT_EQ(self.receive<std::vector<std::uint32_t>>({.thread = partner, .tag = i + 100}),
                  pattern(std::size_t{1} << i, i));
    }
    self.send(main, done_tag, true);
}

TEST_P(MessagingPatterns, Threads) {
    run(2, 2, [](Thread& self) {
        constexpr std::uint32_t pairs = 4;
        for (std::uint32_t i = 0; i < pairs; ++i)
            self.create<asks>(0, self.create<answers>(last(self), self.id()), self.id());
        await(self, 2 * pairs);
    });
}

// --- threaded_sr: in each process one thread sends a large message while another one receives

void sends_large(Thread& self, ThreadId to, ThreadId main) {
    self.send(to, 0, pattern(200'000, self.process()));
    self.send(main, done_tag, true);
}

void receives_large(Thread& self, std::uint32_t first, ThreadId main) {
    EXPECT_EQ(self.receive<std::vector<std::uint32_t>>({.tag = 0}), pattern(200'000, first));
    self.send(main, done_tag, true);
}

TEST_P(MessagingPatterns, ThreadedSendAndReceive) {
    run(2, 2, [](Thread& self) {
        const ThreadId here = self.create<receives_large>(0, last(self), self.id());
        const ThreadId there = self.create<receives_large>(last(self), 0U, self.id());
        self.create<sends_large>(0, there, self.id());
        self.create<sends_large>(last(self), here, self.id());
        await(self, 4);
    });
}

// --- multisend: each thread of one process sends to a process of its own, many times

void sends_many(Thread& self, ThreadId to, ThreadId main) {
    std::vector<Handle> handles;
    std::vector<std::vector<std::uint32_t>> data;
    for (std::uint32_t i = 0; i < 50; ++i) data.push_back(pattern(100 + i, i));
    for (std::uint32_t i = 0; i < 50; ++i)
        handles.push_back(self.send_copy(to, i, data[i].data(), data[i].size() * sizeof(std::uint32_t)));
    for (Handle& handle : handles) self.test_handle(handle, Mode::blocking);
    self.send(main, done_tag, true);
}

/// Begins the receives, and ends them in the order in which they were begun.
void receives_many(Thread& self, ThreadId main) {
    std::vector<std::vector<std::uint32_t>> rooms;
    std::vector<Actual> actual(50);
    std::vector<Handle> handles;
    for (std::uint32_t i = 0; i < 50; ++i) rooms.emplace_back(100 + i);
    for (std::uint32_t i = 0; i < 50; ++i)
        handles.push_back(
            self.recv_copy({.tag = i}, rooms[i].data(), rooms[i].size() * sizeof(std::uint32_t), &actual[i]));
    for (std::uint32_t i = 0; i < 50; ++i) {
        self.test_handle(handles[i], Mode::blocking);
        EXPECT_EQ(actual[i].size, (100 + i) * sizeof(std::uint32_t));
        EXPECT_EQ(rooms[i], pattern(100 + i, i));
    }
    self.send(main, done_tag, true);
}

TEST_P(MessagingPatterns, SendsOfManyThreadsToManyProcesses) {
    run(4, 2, [](Thread& self) {
        std::uint32_t started = 0;
        for (ProcessId process = 0; process < self.processes(); ++process, started += 2)
            self.create<sends_many>(0, self.create<receives_many>(process, self.id()), self.id());
        await(self, started);
    });
}

// --- sendselfth: a thread sends to itself, and to another one of its process that begins to receive later

void receives_late(Thread& self, ThreadId main) {
    self.send(main, 7, true);
    for (int i = 0; i < 10; ++i) self.strand().yield();
    EXPECT_EQ(self.receive<std::vector<std::uint32_t>>({.thread = main, .tag = 3}), pattern(300'000, 5));
    self.send(main, done_tag, true);
}

TEST_P(MessagingPatterns, SendToItself) {
    run(1, 2, [](Thread& self) {
        const std::vector<std::uint32_t> data = pattern(300'000, 2);
        std::vector<std::uint32_t> room(data.size());
        Handle receive =
            self.recv_copy({.thread = self.id(), .tag = 1}, room.data(), room.size() * sizeof room[0]);
        Handle send = self.send_copy(self.id(), 1, data.data(), data.size() * sizeof data[0]);
        self.test_handle(receive, Mode::blocking);
        self.test_handle(send, Mode::blocking);
        EXPECT_EQ(room, data);
        const ThreadId other = self.create<receives_late>(0, self.id());
        EXPECT_TRUE(self.receive<bool>({.thread = other, .tag = 7}));
        self.send(other, 3, pattern(300'000, 5));
        await(self, 1);
    });
}

// --- mt_pt2pt: threads of two processes send and receive with handles, all at the same time, both ways

// By name: a dispatcher with few control blocks has no room for more than the messages themselves.
void exchanges(Thread& self, std::uint32_t number, bool first, ThreadId main) {
    const auto name = [&](bool of_first) {
        return (of_first ? "first " : "second ") + std::to_string(number);
    };
    self.publish(name(first));
    const ThreadId partner = self.find(name(!first));
    constexpr std::uint32_t window = 20;
    constexpr std::uint32_t length = 64;
    for (std::uint32_t round = 0; round < 3; ++round) {
        std::vector<std::vector<std::uint32_t>> rooms(window, std::vector<std::uint32_t>(length));
        std::vector<Handle> handles;
        for (std::uint32_t i = 0; i < window; ++i)
            handles.push_back(self.recv_copy({.thread = partner, .tag = round * window + i}, rooms[i].data(),
                                             length * sizeof(std::uint32_t)));
        for (std::uint32_t i = 0; i < window; ++i) {
            const auto data = pattern(length, number * 1000 + i);
            handles.push_back(
                self.send_copy(partner, round * window + i, data.data(), length * sizeof data[0]));
        }
        for (Handle& handle : handles) self.test_handle(handle, Mode::blocking);
        for (std::uint32_t i = 0; i < window; ++i) EXPECT_EQ(rooms[i], pattern(length, number * 1000 + i));
    }
    self.send(main, done_tag, true);
}

TEST_P(MessagingPatterns, ExchangesOfManyThreadsBothWays) {
    run(2, 2, [](Thread& self) {
        constexpr std::uint32_t pairs = 5;
        for (std::uint32_t i = 0; i < pairs; ++i) {
            self.create<exchanges>(0, i, true, self.id());
            self.create<exchanges>(last(self), i, false, self.id());
        }
        await(self, 2 * pairs);
    });
}

// --- mt_improbe and ibsend's queue: one thread takes what comes from all, whatever it is, and knows what it
// was

void sends_own(Thread& self, ThreadId to, std::uint32_t number) {
    for (std::uint32_t i = 0; i < 20; ++i) self.send(to, number * 20 + i, pattern(i * 40, number));
}

TEST_P(MessagingPatterns, WildcardsTellActualSourceTagAndSize) {
    run(3, 2, [](Thread& self) {
        constexpr std::uint32_t senders = 6;
        std::vector<ThreadId> ids;
        for (std::uint32_t i = 0; i < senders; ++i)
            ids.push_back(self.create<sends_own>(i % self.processes(), self.id(), i));
        std::vector<std::uint32_t> next(senders, 0);
        for (std::uint32_t i = 0; i < senders * 20; ++i) {
            Block block;
            Actual actual;
            Handle handle = self.recv_dma({}, &block, &actual);
            self.test_handle(handle, Mode::blocking);
            const auto sender = static_cast<std::uint32_t>(actual.tag / 20);
            ASSERT_LT(sender, senders);
            EXPECT_EQ(actual.from, ids[sender]);
            EXPECT_EQ(actual.tag, sender * 20 + next[sender]++);
            EXPECT_EQ(actual.size, block->size());
            EXPECT_EQ(runtime::value_of<std::vector<std::uint32_t>>(runtime::Parcel(block)),
                      pattern(actual.tag % 20 * 40, sender));
        }
    });
}

// --- alltoall: again and again each process starts a listener, which ends when each process has told it so

void listens(Thread& self, std::string name, std::uint32_t tellers, ThreadId owner) {
    self.publish(name);
    for (std::uint32_t i = 0; i < tellers; ++i) EXPECT_EQ(self.receive<int>({.tag = 111}), -1);
    self.withdraw(name);
    self.send(owner, done_tag, true);
}

void starts_listeners(Thread& self, std::uint32_t rounds, ThreadId main) {
    const Barrier all("all processes");
    for (std::uint32_t round = 0; round < rounds; ++round) {
        const auto name = [&](ProcessId process) {
            return std::to_string(round) + " in " + std::to_string(process);
        };
        self.create<listens>(self.process(), name(self.process()), self.processes(), self.id());
        for (ProcessId process = 0; process < self.processes(); ++process)
            self.send(self.find(name(process)), 111, -1);
        await(self, 1);
        all.wait(self);
    }
    self.send(main, done_tag, true);
}

TEST_P(MessagingPatterns, ListenersThatAreStartedAgainAndAgain) {
    run(3, 2, [](Thread& self) {
        const Barrier all(self, "all processes", self.processes());
        for (ProcessId process = 0; process < self.processes(); ++process)
            self.create<starts_listeners>(process, 25U, self.id());
        await(self, self.processes());
    });
}

// --- ibsend: 32 threads of each process send one message each, to the next process, where one thread takes
// what comes

enum class Way : std::uint8_t { in_one_call, copied, copied_and_changed, not_copied };

void sends_one(Thread& self, ThreadId to, Way way) {
    const auto data = pattern(256, self.process());
    if (way == Way::in_one_call) return self.send(to, 0, data);
    runtime::Bytes serialized = *runtime::body_of(data);
    Handle handle;
    if (way == Way::not_copied) {
        handle = self.send_dma(to, 0, std::make_shared<runtime::Bytes>(serialized));
    } else {
        handle = self.send_copy(to, 0, serialized.data(), serialized.size());
        if (way == Way::copied_and_changed) std::ranges::fill(serialized, std::byte{});
    }
    self.test_handle(handle, Mode::blocking);
}

void takes_from_all(Thread& self, std::uint32_t count, ProcessId before, ThreadId main) {
    for (std::uint32_t i = 0; i < count; ++i) {
        Actual actual;
        EXPECT_EQ(self.receive<std::vector<std::uint32_t>>({}, &actual), pattern(256, before));
        EXPECT_EQ(actual.from.process, before);
    }
    self.send(main, done_tag, true);
}

TEST_P(MessagingPatterns, ManyThreadsSendToOneOfTheNextProcess) {
    for (const Way way : {Way::in_one_call, Way::copied, Way::copied_and_changed, Way::not_copied}) {
        run(3, 2, [way](Thread& self) {
            constexpr std::uint32_t senders = 32;
            const ProcessId processes = self.processes();
            for (ProcessId process = 0; process < processes; ++process) {
                const ThreadId to =
                    self.create<takes_from_all>((process + 1) % processes, senders, process, self.id());
                for (std::uint32_t i = 0; i < senders; ++i) self.create<sends_one>(process, to, way);
            }
            await(self, processes);
        });
    }
}

// --- multisend2, multisend3: a thread for each other process sends messages of growing length, many of each;
// it waits for each, or for all of a length

constexpr std::uint32_t growing_lengths = 13;
constexpr std::uint32_t of_each_length = 5;

void sends_growing(Thread& self, ThreadId to, bool waits_for_each) {
    for (std::uint32_t i = 0; i < growing_lengths; ++i) {
        const auto data = pattern(std::size_t{1} << i, i);
        std::vector<Handle> handles;
        for (std::uint32_t j = 0; j < of_each_length; ++j) {
            handles.push_back(self.send_copy(to, i, data.data(), data.size() * sizeof data[0]));
            if (waits_for_each) self.test_handle(handles.back(), Mode::blocking);
        }
        for (Handle& handle : handles) self.test_handle(handle, Mode::blocking);
    }
}

void receives_growing(Thread& self, ThreadId main) {
    for (std::uint32_t i = 0; i < growing_lengths; ++i) {
        for (std::uint32_t j = 0; j < of_each_length; ++j) {
            std::vector<std::uint32_t> room(std::size_t{1} << i);
            Handle handle = self.recv_copy({.tag = i}, room.data(), room.size() * sizeof room[0]);
            self.test_handle(handle, Mode::blocking);
            EXPECT_EQ(room, pattern(room.size(), i));
        }
    }
    self.send(main, done_tag, true);
}

TEST_P(MessagingPatterns, GrowingMessagesOfManyThreadsToManyProcesses) {
    for (const bool waits_for_each : {true, false}) {
        run(4, 2, [waits_for_each](Thread& self) {
            for (ProcessId process = 0; process < self.processes(); ++process)
                self.create<sends_growing>(0, self.create<receives_growing>(process, self.id()),
                                           waits_for_each);
            await(self, self.processes());
        });
    }
}

// --- multisend4: each process has a thread for each process, itself included, and the two threads of a pair
// send and receive at the same time, step by step with all threads of their process

void exchanges_growing(Thread& self, std::string meeting, ThreadId main) {
    const Barrier barrier(std::move(meeting));
    const auto partner = self.receive<ThreadId>({.tag = done_tag + 1});
    for (std::uint32_t i = 0; i < growing_lengths; ++i) {
        barrier.wait(self);
        const auto data = pattern(std::size_t{1} << i, i);
        std::vector<std::uint32_t> room(data.size());
        Handle send = self.send_copy(partner, i, data.data(), data.size() * sizeof data[0]);
        Handle receive =
            self.recv_copy({.thread = partner, .tag = i}, room.data(), room.size() * sizeof room[0]);
        self.test_handle(receive, Mode::blocking);
        self.test_handle(send, Mode::blocking);
        EXPECT_EQ(room, data);
    }
    self.send(main, done_tag, true);
}

TEST_P(MessagingPatterns, ThreadsOfEachPairOfProcessesExchangeStepByStep) {
    run(3, 2, [](Thread& self) {
        const ProcessId processes = self.processes();
        std::vector<std::vector<ThreadId>> threads(processes);
        for (ProcessId process = 0; process < processes; ++process) {
            const std::string meeting = "process " + std::to_string(process);
            const Barrier barrier(self, meeting, processes);
            for (ProcessId other = 0; other < processes; ++other)
                threads[process].push_back(self.create<exchanges_growing>(process, meeting, self.id()));
        }
        for (ProcessId process = 0; process < processes; ++process)
            for (ProcessId other = 0; other < processes; ++other)
                self.send(threads[process][other], done_tag + 1, threads[other][process]);
        await(self, processes * processes);
    });
}

// --- mt_mpicancel: receives that are begun and given up take nothing from those that are begun later

void gives_up(Thread& self, ThreadId sender, ThreadId main) {
    for (std::uint32_t i = 0; i < 20; ++i) {
        std::uint32_t lost = 0;
        std::uint32_t value = 0;
        {
            const Handle given_up = self.recv_copy({.thread = sender}, &lost, sizeof lost);
            const Handle given_up_too = self.recv_copy({.tag = i}, &lost, sizeof lost);
        }
        Handle handle = self.recv_copy({.thread = sender, .tag = i}, &value, sizeof value);
        self.send(sender, i, true);  // only now may it send
        self.test_handle(handle, Mode::blocking);
        EXPECT_EQ(value, i + 1);
    }
    self.send(main, done_tag, true);
}

void sends_when_asked(Thread& self, ThreadId main) {
    for (std::uint32_t i = 0; i < 20; ++i) {
        Actual actual;
        EXPECT_TRUE(self.receive<bool>({.tag = i}, &actual));
        const std::uint32_t value = i + 1;
        Handle handle = self.send_copy(actual.from, i, &value, sizeof value);
        self.test_handle(handle, Mode::blocking);
    }
    self.send(main, done_tag, true);
}

TEST_P(MessagingPatterns, ReceivesThatAreGivenUpTakeNothing) {
    run(2, 2, [](Thread& self) {
        constexpr std::uint32_t pairs = 4;
        for (std::uint32_t i = 0; i < pairs; ++i)
            self.create<gives_up>(0, self.create<sends_when_asked>(last(self), self.id()), self.id());
        await(self, 2 * pairs);
    });
}

}  // namespace
}  // namespace heddle::messaging
