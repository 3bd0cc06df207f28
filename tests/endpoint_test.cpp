// Tests messages between endpoints, natively, in simulation and in-process: matching, order, large ones,
// waiting for room, and errors.
#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "runtime/comm/endpoint.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Address;
using runtime::body_of;
using runtime::Endpoint;
using runtime::Event;
using runtime::Incoming;
using runtime::Parcel;
using runtime::value_of;
using ::testing::HasSubstr;

class Endpoints : public Strands {};

INSTANTIATE_TEST_SUITE_P(Worlds, Endpoints, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

/// Every node has an endpoint 1, and answers what it gets until it has answered a message of each other node.
TEST_P(Endpoints, AnswerEachOther) {
    const NodeId count = nodes(4);
    std::vector<std::uint64_t> sums(count, 0);
    run_all(count, 2, [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            const NodeId here = self.worker().id.node;
            Endpoint endpoint(self.worker().node(), 1);
            for (NodeId other = 0; other < count; ++other)
                endpoint.send(self, {other, 1}, 5, body_of(std::uint64_t{here} + 1));
            for (NodeId i = 0; i < count; ++i) {
                const Incoming message = endpoint.receive(self, {.tag = 5});
                endpoint.send(self, message.from, 6, body_of(value_of<std::uint64_t>(message.data) * 10));
            }
            for (NodeId i = 0; i < count; ++i)
                sums[here] += value_of<std::uint64_t>(endpoint.receive(self, {.tag = 6}).data);
        });
    });
    for (NodeId node = 0; node < count; ++node) EXPECT_EQ(sums[node], 10 * (node + 1) * count) << node;
}

/// Small and large messages of one sender, which take different ways, are received as they were sent.
TEST_P(Endpoints, KeepTheOrderOfASender) {
    constexpr int messages = 60;
    const NodeId count = nodes(2);
    const Address target{count - 1, 9};
    std::vector<int> order;
    run_all(count, 2, [&](Worker& worker) {
        if (worker.id.node == target.node) {
            Strand::start(worker, [&](Strand& self) {
                Endpoint endpoint(self.worker().node(), target.number);
                for (int i = 0; i < messages; ++i)
                    order.push_back(value_of<std::vector<int>>(endpoint.receive(self).data).front());
            });
        }
        if (worker.id.node != 0) return;
        Strand::start(worker, [&](Strand& self) {
            Endpoint endpoint(self.worker().node());
            Event all_left;
            std::atomic<int> left{0};
            const auto leave = [&](Worker& worker_now) {
                if (++left == messages / 3) all_left.complete(worker_now.node(), worker_now);
            };
            for (int i = 0; i < messages; ++i) {
                // 4 bytes to 160 KiB.
                const std::vector<int> values(i % 3 == 0 ? 1 : i % 3 == 1 ? 4000 : 40'000, i);
                if (i % 3 == 2) {
                    endpoint.start_send(self.worker(), target, 1, Parcel(body_of(values)), leave);
                } else {
                    endpoint.send(self, target, 1, body_of(values));
                }
                self.yield();
            }
            self.wait(all_left);
        });
    });
    ASSERT_EQ(order.size(), static_cast<std::size_t>(messages));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

/// More than there is room for is begun, before the receiver takes the first.
TEST_P(Endpoints, LeaveInTheOrderInWhichTheyWereBegun) {
    constexpr int messages = 40;
    const NodeId count = nodes(2);
    const Address target{count - 1, 9};
    std::vector<int> order;
    run_all(count, 2, [&](Worker& worker) {
        if (worker.id.node == target.node) {
            Strand::start(worker, [&](Strand& self) {
                Endpoint endpoint(self.worker().node(), target.number);
                (void)endpoint.receive(self, {.tag = 2});
                for (int i = 0; i < messages; ++i)
                    order.push_back(
                        value_of<std::vector<int>>(endpoint.receive(self, {.tag = 1}).data).front());
            });
        }
        if (worker.id.node != 0) return;
        Strand::start(worker, [&](Strand& self) {
            Endpoint endpoint(self.worker().node());
            Event all_left;
            std::atomic<int> left{0};
            const auto leave = [&](Worker& worker_now) {
                if (++left == messages) all_left.complete(worker_now.node(), worker_now);
            };
            endpoint.send(self, target, 2, body_of(0));
            for (int i = 0; i < messages; ++i)
                endpoint.start_send(self.worker(), target, 1, Parcel(body_of(std::vector<int>(20'000, i))),
                                    leave);
            self.wait(all_left);
        });
    });
    ASSERT_EQ(order.size(), static_cast<std::size_t>(messages));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(Endpoints, CarryLargeMessages) {
    const NodeId count = nodes(2);
    std::vector<std::uint32_t> values(1'500'000);
    std::iota(values.begin(), values.end(), 7U);
    bool equal = false;
    run_all(count, 2, [&](Worker& worker) {
        if (worker.id.node == 0) {
            Strand::start(worker, [&](Strand& self) {
                Endpoint endpoint(self.worker().node(), 1);
                endpoint.send(self, {count - 1, 2}, 0, body_of(values));
            });
        }
        if (worker.id.node == count - 1) {
            Strand::start(worker, [&](Strand& self) {
                Endpoint endpoint(self.worker().node(), 2);
                const Incoming message = endpoint.receive(self, {.from = Address{0, 1}});
                equal = value_of<std::vector<std::uint32_t>>(message.data) == values;
            });
        }
    });
    EXPECT_TRUE(equal);
}

/// Small, enclosed, announced and in parts; the content of the last one goes through two parts.
TEST_P(Endpoints, CarryBytesThatAreOnlyDeclared) {
    struct Sizes {
        std::uint64_t content, declared;
    };
    const std::vector<Sizes> all = {{0, 1},       {4, 100},        {100, 20'000},         {5, 100'000},
                                    {8191, 1},    {8192, 1},       {9000, 5000},          {9000, 50'000},
                                    {0, 1 << 20}, {10, 5'000'000}, {1'500'000, 1'000'000}};
    const NodeId count = nodes(2);
    std::size_t right = 0;
    run_all(count, 2, [&](Worker& worker) {
        if (worker.id.node == 0) {
            Strand::start(worker, [&](Strand& self) {
                Endpoint endpoint(self.worker().node(), 1);
                for (const Sizes& sizes : all)
                    endpoint.send(self, {count - 1, 2}, 0,
                                  Parcel(std::make_shared<runtime::Bytes>(sizes.content, std::byte{7}),
                                         sizes.declared));
            });
        }
        if (worker.id.node == count - 1) {
            Strand::start(worker, [&](Strand& self) {
                Endpoint endpoint(self.worker().node(), 2);
                for (const Sizes& sizes : all) {
                    const Parcel data = endpoint.receive(self).data;
                    const bool sevens =
                        std::ranges::all_of(data.bytes(), [](std::byte b) { return b == std::byte{7}; });
                    right += sevens && data.size() == sizes.content && data.declared() == sizes.declared;
                }
            });
        }
    });
    EXPECT_EQ(right, all.size());
}

/// A sender that is far ahead waits for room, so the receiver never holds more than a window of each sender.
TEST_P(Endpoints, LetASenderWaitForRoom) {
    constexpr int messages = 200;
    const NodeId count = nodes(2);
    std::atomic<int> sent{0};
    int most_ahead = 0;
    run_all(count, 2, [&](Worker& worker) {
        if (worker.id.node == 0) {
            Strand::start(worker, [&](Strand& self) {
                Endpoint endpoint(self.worker().node(), 1);
                const std::vector<std::uint64_t> data(2000);
                for (int i = 0; i < messages; ++i) {
                    endpoint.send(self, {count - 1, 2}, 0, body_of(data));
                    ++sent;
                }
            });
        }
        if (worker.id.node == count - 1) {
            Strand::start(worker, [&](Strand& self) {
                Endpoint endpoint(self.worker().node(), 2);
                for (int i = 0; i < messages; ++i) {
                    endpoint.receive(self);
                    most_ahead = std::max(most_ahead, sent - i);
                }
            });
        }
    });
    EXPECT_EQ(sent, messages);
    constexpr auto fit_window = static_cast<int>(Endpoint::window / (2000 * 8));
    EXPECT_LE(most_ahead, fit_window + 2);
}

/// Strings, vectors of strings, and a type that says itself how it travels.
struct Molecule {
    std::string name;
    double weight = 0;
    bool operator==(const Molecule&) const = default;
};

}  // namespace
}  // namespace heddle::testing_strands

template <>
struct heddle::runtime::Serialize<heddle::testing_strands::Molecule> {
    static void write(Writer& writer, const testing_strands::Molecule& molecule) {
        Serialize<std::string>::write(writer, molecule.name);
        writer.put(molecule.weight);
    }
    static testing_strands::Molecule read(Reader& reader) {
        std::string name = Serialize<std::string>::read(reader);
        return {std::move(name), reader.get<double>()};
    }
};

namespace heddle::testing_strands {
namespace {

TEST(Serialization, BringsBackWhatWasWritten) {
    const std::vector<Molecule> molecules = {{"water", 18.015}, {"", 0}, {"caffeine", 194.19}};
    EXPECT_EQ(value_of<std::vector<Molecule>>(Parcel(body_of(molecules))), molecules);
    const std::vector<std::string> words = {"a", "", std::string(100, 'x')};
    EXPECT_EQ(value_of<std::vector<std::string>>(Parcel(body_of(words))), words);
    const std::pair<int, std::string> pair{3, "three"};
    EXPECT_EQ((value_of<std::pair<int, std::string>>(Parcel(body_of(pair)))), pair);
}

TEST(Serialization, RefusesOtherBytes) {
    EXPECT_THROW((void)value_of<std::uint64_t>(Parcel(body_of(std::uint32_t{1}))), Error);
    EXPECT_THROW((void)value_of<std::uint16_t>(Parcel(body_of(std::uint32_t{1}))), Error);
    // A count that is far too large, of plain and of other values.
    runtime::Writer writer;
    writer.put_size(std::uint64_t{1} << 62U);
    EXPECT_THROW((void)value_of<std::vector<std::uint64_t>>(Parcel(writer.bytes())), Error);
    EXPECT_THROW((void)value_of<std::vector<std::string>>(Parcel(writer.bytes())), Error);
}

TEST(Parcels, AreEmptyWhenTheirBytesHaveGone) {
    const std::vector<std::byte> bytes(100, std::byte{7});
    for (const std::size_t size : {std::size_t{8}, bytes.size()}) {
        Parcel first{std::span(bytes).first(size)};
        Parcel second(std::move(first));
        EXPECT_EQ(first.bytes().size(), 0U);  // NOLINT(bugprone-use-after-move): this is what is tested
        EXPECT_EQ(second.bytes().size(), size);
        first = std::move(second);
        EXPECT_EQ(second.bytes().size(), 0U);  // NOLINT(bugprone-use-after-move)
        EXPECT_EQ(first.take_body()->size(), size);
        EXPECT_EQ(first.bytes().size(), 0U);
    }
    Parcel declared(nullptr, 5);
    const Parcel third(std::move(declared));
    EXPECT_EQ(third.declared(), 5U);
    EXPECT_EQ(declared.declared(), 0U);  // NOLINT(bugprone-use-after-move)
}

TEST_P(Endpoints, ARefusedAddressIsAnError) {
    const std::string error = error_of([&] {
        run(1, failing_cores(), [&](Worker& worker) {
            Strand::start(worker, [&](Strand& self) {
                Endpoint endpoint(self.worker().node());
                endpoint.send(self, {77, 1}, 0, body_of(1));
            });
        });
    });
    EXPECT_THAT(error, HasSubstr("a message for endpoint 1 of node 77, and there are 1 nodes"));
}

TEST_P(Endpoints, AReceiveOfWhatNeverComesIsADeadlock) {
    const std::string error = error_of([&] {
        run(failing_nodes(3), failing_cores(), [&](Worker& worker) {
            Strand::start(worker,
                          [&](Strand& self) {
                              Endpoint endpoint(self.worker().node());
                              endpoint.receive(self, {.from = Address{1, 3}, .tag = 9});
                          },
                          {"a reader"});
        });
    });
    EXPECT_THAT(error, HasSubstr("a reader waits for a message with tag 9 from endpoint 3 of node 1"));
}

/// Many strands on all nodes, each sends to random others by number, with random tags and sizes; each
/// receives what it is owed, some by wildcards. The sums of what was sent and received are equal.
TEST_P(Endpoints, ManyTalkToMany) {
    constexpr std::uint32_t per_node = 12;
    constexpr int rounds = 15;
    const NodeId count = nodes(3);
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> received{0};
    // In a round, strand i sends to i + step, and receives from i - step.
    const std::uint32_t all = per_node * count;
    const auto address = [&](std::uint32_t i) { return Address{i % count, i / count}; };
    run_all(count, 2, [&](Worker& worker) {
        for (std::uint32_t number = 0; number < per_node; ++number) {
            Strand::start(worker, [&, number](Strand& self) {
                Endpoint endpoint(self.worker().node(), number);
                const std::uint32_t i = number * count + self.worker().id.node;
                for (int round = 0; round < rounds; ++round) {
                    Random random(static_cast<std::uint64_t>(round));
                    const auto step = static_cast<std::uint32_t>(random.below(all));
                    const std::uint64_t size = random.below(3) == 0 ? 3000 : 3;
                    std::vector<std::uint64_t> data(size, i + static_cast<std::uint64_t>(round));
                    sent += std::accumulate(data.begin(), data.end(), std::uint64_t{0});
                    const auto tag = static_cast<std::uint64_t>(round);
                    endpoint.send(self, address((i + step) % all), tag, body_of(data));
                    runtime::Filter filter{.tag = tag};
                    if (round % 2 == 0) filter.from = address((i + all - step) % all);
                    const Incoming message = endpoint.receive(self, filter);
                    const auto values = value_of<std::vector<std::uint64_t>>(message.data);
                    received += std::accumulate(values.begin(), values.end(), std::uint64_t{0});
                }
            });
        }
    });
    EXPECT_EQ(sent, received);
    EXPECT_GT(sent, 0U);
}

}  // namespace
}  // namespace heddle::testing_strands
