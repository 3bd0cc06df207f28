// Tests threads that send messages by identifiers and names, natively, in simulation and in-process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/messaging_testing.hpp"

namespace heddle::messaging {
namespace {

using testing::HasSubstr;

class Messaging : public MessagingTest {};

INSTANTIATE_TEST_SUITE_P(Worlds, Messaging, testing::ValuesIn(messaging_worlds()),
                         [](const auto& world) { return world.param.name; });

// --- creation, identifiers, names

void tells_who_it_is(Thread& self, ThreadId creator, std::string text) {
    EXPECT_EQ(self.id().process, self.process());
    self.send(creator, 5, text);
    self.send(creator, 6, self.id());
}

TEST_P(Messaging, ThreadsAreCreatedOnEveryProcess) {
    run(3, 2, [](Thread& self) {
        for (ProcessId process = 0; process < self.processes(); ++process) {
            const std::string text(1000 * (process + 1), 'x');
            const ThreadId made = self.create<tells_who_it_is>(process, self.id(), text);
            EXPECT_EQ(made.process, process);
            Actual actual;
            EXPECT_EQ(self.receive<std::string>({.thread = made}, &actual), text);
            EXPECT_EQ(actual.from, made);
            EXPECT_EQ(actual.tag, 5U);
            EXPECT_EQ(self.receive<ThreadId>({.thread = made, .tag = 6}), made);
        }
    });
}

TEST_P(Messaging, IdentifiersAreNotUsedAgain) {
    run(2, 2, [](Thread& self) {
        std::vector<std::pair<ProcessId, std::uint32_t>> all{{self.id().process, self.id().thread}};
        for (int i = 0; i < 30; ++i) {
            const ThreadId made = self.create<tells_who_it_is>(last(self), self.id(), std::string("x"));
            self.receive<std::string>({.thread = made, .tag = 5});
            self.receive<ThreadId>({.thread = made, .tag = 6});
            all.emplace_back(made.process, made.thread);
        }
        std::ranges::sort(all);
        EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
    });
}

void echo(Thread& self, std::string name, int rounds) {
    self.publish(name);
    Actual actual;
    for (int i = 0; i < rounds; ++i) {
        const auto value = self.receive<int>({}, &actual);
        self.send(actual.from, actual.tag, value + 1);
    }
}

TEST_P(Messaging, ThreadsAreFoundByName) {
    run(3, 2, [](Thread& self) {
        for (ProcessId process = 0; process < self.processes(); ++process)
            self.create<echo>(process, "echo " + std::to_string(process), 2);
        for (ProcessId process = self.processes(); process-- > 0;) {
            const std::string name = "echo " + std::to_string(process);
            for (int i = 0; i < 2; ++i) {
                const ThreadId to = self.find(name);
                EXPECT_EQ(to.process, process);
                self.send(to, process, 41 + i);
                EXPECT_EQ(self.receive<int>({.thread = to, .tag = process}), 42 + i);
            }
        }
    });
}

/// Takes the name, tells the next one in the round to take it, and ends.
void takes_name(Thread& self, int left, ThreadId main) {
    self.publish("the one");
    self.send(main, 1, self.id());
    const auto go = self.receive<bool>();
    EXPECT_TRUE(go);
    if (left == 0) return;
    self.create<takes_name>((self.process() + 1) % self.processes(), left - 1, main);
}

// The main thread has found the name before, and its process has kept it.
TEST_P(Messaging, ANameThatMovesIsFoundWhereItIs) {
    run(3, 2, [](Thread& self) {
        constexpr int moves = 20;
        self.create<takes_name>(last(self), moves, self.id());
        for (int i = 0; i <= moves; ++i) {
            const auto now = self.receive<ThreadId>({.tag = 1});
            EXPECT_EQ(self.find("the one"), now);
            EXPECT_EQ(self.find("the one"), now);
            self.send(now, 2, true);
        }
    });
}

/// Has the name, and withdraws it when another thread has taken it over.
void hands_over(Thread& self, ThreadId main) {
    self.publish("server");
    self.send(main, 1, true);
    self.receive<bool>({.thread = main});
    self.withdraw("server");
    self.send(main, 1, true);
}

TEST_P(Messaging, ANameThatWasTakenOverIsNotWithdrawn) {
    run(3, 2, [](Thread& self) {
        const ThreadId first = self.create<hands_over>(last(self), self.id());
        self.receive<bool>({.thread = first, .tag = 1});
        self.publish("server");
        EXPECT_EQ(self.find("server"), self.id());
        self.send(first, 2, true);
        self.receive<bool>({.thread = first, .tag = 1});
        EXPECT_EQ(self.find("server"), self.id());
        self.withdraw("server");
        self.publish("server");  // its home has forgotten it meanwhile
        EXPECT_EQ(self.find("server"), self.id());
    });
}

// --- asynchronous sends and receives

using Numbers = std::vector<std::uint64_t>;

Numbers numbers(std::size_t count, std::uint64_t first) {
    Numbers all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
}

/// Gets messages of all sizes by receives that were begun in the order of the tags, and tells their sum.
void receives_copies(Thread& self, ThreadId main, std::vector<std::uint64_t> sizes) {
    std::vector<Numbers> room;
    std::vector<Handle> handles;
    std::vector<Actual> actual(sizes.size());
    for (const std::uint64_t size : sizes) room.emplace_back(size + 1, 0);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        handles.push_back(self.recv_copy({.thread = main, .tag = i}, room[i].data(),
                                         room[i].size() * sizeof(std::uint64_t), &actual[i]));
        EXPECT_TRUE(handles.back());
    }
    self.send(main, 99, true);
    // The last first.
    for (std::size_t i = sizes.size(); i-- > 0;) {
        while (!self.test_handle(handles[i], Mode::non_blocking)) {
        }
        EXPECT_FALSE(handles[i]);
        EXPECT_TRUE(self.test_handle(handles[i], Mode::blocking));
        EXPECT_EQ(actual[i].from, main);
        EXPECT_EQ(actual[i].tag, i);
        EXPECT_EQ(actual[i].size, sizes[i] * sizeof(std::uint64_t));
        room[i].resize(sizes[i]);
        EXPECT_EQ(room[i], numbers(sizes[i], i));
    }
    self.send(main, 100, true);
}

TEST_P(Messaging, SendCopyAndRecvCopyWithHandles) {
    run(2, 2, [](Thread& self) {
        const std::vector<std::uint64_t> sizes{0, 1, 100, 5000, 50'000, 300'000};
        const ThreadId to = self.create<receives_copies>(last(self), self.id(), sizes);
        self.receive<bool>({.tag = 99});
        std::vector<Handle> handles;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            Numbers data = numbers(sizes[i], i);
            handles.push_back(self.send_copy(to, i, data.data(), data.size() * sizeof(std::uint64_t)));
            data.assign(data.size(), 0);  // copied, so it may be changed at once
        }
        for (Handle& handle : handles) self.test_handle(handle, Mode::blocking);
        self.receive<bool>({.tag = 100});
    });
}

std::atomic<const void*> sent_block{nullptr};

void receives_block(Thread& self, ThreadId main, bool here) {
    Block block;
    Actual actual;
    Handle handle = self.recv_dma({.tag = 7}, &block, &actual);
    self.test_handle(handle, Mode::blocking);
    ASSERT_TRUE(block);
    EXPECT_EQ(actual.size, block->size());
    for (std::size_t i = 0; i < block->size(); ++i) ASSERT_EQ((*block)[i], static_cast<std::byte>(i));
    if (here) {
        EXPECT_EQ(block->data(), sent_block.load());
    }
    self.send(main, 8, true);
}

TEST_P(Messaging, BlocksOfAProcessAreNotCopied) {
    run(2, 2, [](Thread& self) {
        runtime::Bytes bytes(200'000);
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
        const Block block = std::make_shared<runtime::Bytes>(std::move(bytes));
        sent_block = block->data();
        for (const ProcessId process : {ProcessId{0}, last(self)}) {
            const ThreadId to = self.create<receives_block>(process, self.id(), process == 0);
            Handle handle = self.send_dma(to, 7, block);
            self.test_handle(handle, Mode::blocking);
            self.receive<bool>({.tag = 8});
        }
    });
}

void sends_and_ends(Thread& self, ThreadId main) {
    for (std::uint64_t i = 0; i < 20; ++i) {
        const Numbers data = numbers(20'000, i);
        self.send_copy(main, i, data.data(), data.size() * sizeof(std::uint64_t));
    }
}

TEST_P(Messaging, WhatAThreadHasSentLeavesAfterItsEnd) {
    run(2, 2, [](Thread& self) {
        const ThreadId from = self.create<sends_and_ends>(last(self), self.id());
        Numbers room(20'000);
        for (std::uint64_t i = 0; i < 20; ++i) {
            Handle handle =
                self.recv_copy({.thread = from, .tag = i}, room.data(), room.size() * sizeof(std::uint64_t));
            self.test_handle(handle, Mode::blocking);
            EXPECT_EQ(room, numbers(20'000, i));
        }
    });
}

/// A receive that is given up takes no message, not even if it matches.
TEST_P(Messaging, AReceiveMayBeGivenUp) {
    run(1, 2, [](Thread& self) {
        int given_up = 0;
        int taken = 0;
        {
            Handle handle = self.recv_copy({}, &given_up, sizeof given_up);
            EXPECT_FALSE(self.test_handle(handle, Mode::non_blocking));
        }
        self.send(self.id(), 1, 42);
        Handle handle = self.recv_copy({}, &taken, sizeof taken);
        self.test_handle(handle, Mode::blocking);
        EXPECT_EQ(taken, 42);
        EXPECT_EQ(given_up, 0);
    });
}

// --- errors

void ends_at_once(Thread& self, ThreadId main) {
    self.send(main, 1, true);
}

TEST_P(Messaging, AMessageForAThreadThatHasEndedIsAnError) {
    const std::string text = error([](Thread& self) {
        const ThreadId dead = self.create<ends_at_once>(last(self), self.id());
        self.receive<bool>({.thread = dead});
        for (int i = 0; i < 1000; ++i) {  // it ends a little later
            self.send(dead, 17, i);
            self.strand().yield();
        }
    });
    EXPECT_THAT(text, HasSubstr("a message with tag 17"));
    EXPECT_THAT(text, testing::AnyOf(HasSubstr("which is closed"), HasSubstr("which has ended")));
}

TEST_P(Messaging, AMessageThatIsTooLongIsAnError) {
    EXPECT_THAT(error([](Thread& self) {
                    const std::uint64_t two[2] = {1, 2};
                    self.send_copy(self.id(), 4, two, sizeof two);
                    std::uint64_t one = 0;
                    Handle handle = self.recv_copy({}, &one, sizeof one);
                    self.test_handle(handle, Mode::blocking);
                }),
                HasSubstr("receives a message of 16 bytes with tag 4 where it has room for 8"));
}

void waits_for(Thread& self, ThreadId other) {
    self.receive<int>({.thread = other, .tag = 12});
}

TEST_P(Messaging, ThreadsThatWaitForEachOtherEndTheRun) {
    const std::string text = error([](Thread& self) {
        const ThreadId other = self.create<waits_for>(last(self), self.id());
        self.receive<int>({.thread = other, .tag = 11});
    });
    EXPECT_THAT(text, HasSubstr("thread 0 of process 0 (main, endpoint 3000000000) waits for a message with "
                                "tag 11 from "));
    EXPECT_THAT(text, HasSubstr("(waits_for, endpoint 300000000"));
}

TEST_P(Messaging, AThreadIsCreatedOnAProcessThatThereIs) {
    EXPECT_THAT(error([](Thread& self) { self.create<ends_at_once>(77, self.id()); }),
                HasSubstr("a thread should start on process 77, and there are"));
}

/// Homes of names and resources stay, also if all other nodes leave before these are first used.
TEST(MessagingMembers, NamesAndResourcesOutliveNodesThatLeave) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(seed);
        inprocess::Options options;
        options.nodes = 3;
        options.at_start = 3;
        options.seed = seed;
        for (const NodeId node : {1U, 2U})
            options.member_events.push_back({std::chrono::microseconds(1), node, false});
        inprocess::InprocessBackend backend(options);
        int found = 0;
        const auto main = [&](Thread& self) {
            runtime::sleep_for(self.strand(), std::chrono::microseconds(500));
            for (int i = 0; i < 20; ++i) {
                const std::string name = "name " + std::to_string(i);
                self.publish(name);
                if (self.find(name) == self.id()) ++found;
                const Barrier barrier(self, name, 1);
                barrier.wait(self);
            }
        };
        runtime::Execution execution(backend, {}, [&](NodeId) { return std::make_unique<MainThread>(main); });
        const auto result = execution.run();
        EXPECT_EQ(found, 20);
        for (const NodeId node : {1U, 2U}) EXPECT_NE(result.members.at(node).ended, Time::zero());
    }
}

}  // namespace
}  // namespace heddle::messaging
