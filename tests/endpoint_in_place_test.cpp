// Tests large messages whose bytes a sender lends and whose place a receiver says, natively, in
// simulation and in-process.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/relax.hpp"
#include "runtime/comm/endpoint.hpp"
#include "runtime/comm/loan.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Endpoint;
using runtime::Event;
using runtime::Incoming;
using runtime::Loan;
using runtime::Parcel;
using ::testing::HasSubstr;

class InPlace : public Strands {
protected:
    void SetUp() override {
        if (nodes(2) < 2) GTEST_SKIP() << "all messages stay on the node";
    }
    static constexpr std::size_t count = 330'001;  // 2.6 MB: three parts

    /// Node 0 sends so many numbers to node 1, lent or not, and overwrites them as soon as they have left.
    void send(Worker& worker, bool lent, const std::vector<std::uint64_t>& head = {42}) {
        Strand::start(worker, [=, this](Strand& self) {
            Endpoint endpoint(self.worker().node(), 1);
            std::vector<double> numbers(count);
            std::iota(numbers.begin(), numbers.end(), 1.0);
            const auto bytes = std::as_bytes(std::span(numbers));
            runtime::LargeMessage message{.head = std::as_bytes(std::span(head))};
            if (lent) {
                message.lent = std::make_shared<Loan>(self.worker().node(), bytes);
            } else {
                message.data = Parcel(bytes);
            }
            Event has_left;
            endpoint.start_send(self.worker(), {1, 2}, 3, std::move(message),
                                [&](Worker& after) { has_left.complete(after.node(), after); });
            self.wait(has_left);
            std::ranges::fill(numbers, -1.0);
        });
    }

    static bool are_right(std::span<const double> numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (numbers[i] != static_cast<double>(i) + 1) return false;
        return numbers.size() == count;
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, InPlace, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(InPlace, ALentMessageGoesWhereItsReceiverSays) {
    for (const bool lent : {false, true}) {
        std::vector<double> numbers(count + 2);
        std::uint64_t placed = 0;
        run_all(2, 2, [&](Worker& worker) {
            if (worker.id.node == 0) return send(worker, lent);
            Strand::start(worker, [&](Strand& self) {
                Endpoint endpoint(self.worker().node(), 2);
                auto receive = endpoint.begin_receive(self.worker(), {.tag = 3});
                const Incoming message =
                    endpoint.end_receive(self, receive, [&](const Parcel& head, std::uint64_t bytes) {
                        std::uint64_t said = 0;
                        EXPECT_EQ(head.size(), sizeof said);
                        std::memcpy(&said, head.bytes().data(), sizeof said);
                        EXPECT_EQ(said, 42U);
                        EXPECT_EQ(bytes, count * sizeof(double));
                        return std::as_writable_bytes(std::span(numbers).subspan(1, count));
                    });
                placed = message.large->placed;
                EXPECT_EQ(message.data.size(), 0U);
            });
        });
        EXPECT_EQ(placed, count * sizeof(double));
        EXPECT_TRUE(are_right(std::span(numbers).subspan(1, count)));
        EXPECT_EQ(numbers.front(), 0);
        EXPECT_EQ(numbers.back(), 0);
    }
}

TEST_P(InPlace, ALentMessageWithoutAPlaceComesWhole) {
    bool right = false;
    run_all(2, 2, [&](Worker& worker) {
        if (worker.id.node == 0) return send(worker, true);
        Strand::start(worker, [&](Strand& self) {
            Endpoint endpoint(self.worker().node(), 2);
            const Incoming message = endpoint.receive(self);
            std::vector<double> numbers(message.data.size() / sizeof(double));
            std::memcpy(numbers.data(), message.data.bytes().data(), message.data.size());
            right = are_right(numbers) && message.large->head.size() == 8 && message.large->placed == 0;
        });
    });
    EXPECT_TRUE(right);
}

TEST_P(InPlace, AReceiverMayRefuseAHead) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const auto run = [&] {
        run_all(2, 2, [&](Worker& worker) {
            if (worker.id.node == 0) return send(worker, true);
            Strand::start(worker, [&](Strand& self) {
                Endpoint endpoint(self.worker().node(), 2);
                auto receive = endpoint.begin_receive(self.worker());
                (void)endpoint.end_receive(
                    self, receive,
                    [](const Parcel&, std::uint64_t) -> std::span<std::byte> { throw Error("not that"); });
            });
        });
    };
    EXPECT_THAT(error_of(run), HasSubstr("not that"));
}

/// The message stays with its sender, and may be received elsewhere.
TEST_P(InPlace, AReceiverMayRefuseAHeadAndThenTakeIt) {
    const std::vector<std::uint64_t> head(20, 42);  // more than a parcel has in place
    std::vector<double> numbers(count);
    std::vector<std::size_t> heads;
    run_all(2, 2, [&](Worker& worker) {
        if (worker.id.node == 0) return send(worker, true, head);
        Strand::start(worker, [&](Strand& self) {
            Endpoint endpoint(self.worker().node(), 2);
            auto receive = endpoint.begin_receive(self.worker());
            const auto place = [&](const Parcel& its, std::uint64_t) {
                heads.push_back(its.bytes().size());
                if (heads.size() == 1) throw Error("not there");
                EXPECT_EQ(std::memcmp(its.bytes().data(), head.data(), head.size() * 8), 0);
                return std::as_writable_bytes(std::span(numbers));
            };
            EXPECT_THROW((void)endpoint.end_receive(self, receive, place), Error);
            (void)endpoint.end_receive(self, receive, place);
        });
    });
    EXPECT_EQ(heads, (std::vector<std::size_t>{160, 160}));
    EXPECT_TRUE(are_right(numbers));
}

TEST_P(InPlace, WithdrawnBytesAreNotReadAndReplacedOnesElsewhere) {
    run_all(2, 1, [&](Worker& worker) {
        if (worker.id.node != 0) return;
        Strand::start(worker, [&](Strand& self) {
            const std::vector<std::byte> bytes(10);
            const auto lend = [&] { return std::make_shared<Loan>(self.worker().node(), bytes); };
            const auto withdrawn = lend();
            withdrawn->take_back(self.worker());
            EXPECT_FALSE(withdrawn->read());
            const auto read = lend();
            EXPECT_EQ((*read->read())->data(), bytes.data());  // and it is returned at once
            read->take_back(self.worker());
            read->wait_for_return(self);
            EXPECT_FALSE(read->replace({}));
            const auto copied = lend();
            const auto copy = std::make_shared<runtime::Bytes>(10);
            EXPECT_TRUE(copied->replace(copy));
            EXPECT_EQ((*copied->read())->data(), copy->data());
            copied->wait_for_return(self);
        });
    });
}

/// A message that lends its bytes, from one strand of a node to another.
class InPlaceHere : public Strands {
protected:
    /// `lend(self, loan)` when `read(self, message)` has begun, which takes the bytes. Each on a worker of
    /// its own, if there are several.
    void exchange(CoreId cores, const std::function<void(Strand&, Loan&)>& lend,
                  const std::function<void(Strand&, Incoming&)>& read) {
        std::atomic<bool> reads{false};
        const std::vector<std::byte> bytes(10);
        run(1, cores, [&](Worker& worker) {
            const auto sender = [&](Strand& self) {
                Endpoint from(self.worker().node(), 1);
                const auto loan = std::make_shared<Loan>(self.worker().node(), bytes);
                Event has_left;
                from.start_send(self.worker(), {0, 2}, 3, runtime::LargeMessage{.head = {}, .lent = loan},
                                [&](Worker& after) { has_left.complete(after.node(), after); });
                wait_until(self, [&] { return reads.load(); });
                lend(self, *loan);
                self.wait(has_left);
            };
            const auto receiver = [&](Strand& self) {
                Endpoint to(self.worker().node(), 2);
                Incoming message = to.receive(self);
                EXPECT_EQ(message.large->borrowed.data(), bytes.data());
                reads = true;
                read(self, message);
                message.large->give_back(self.worker());
            };
            Strand::start(worker, sender, {.name = "the sender", .pinned_to = 0});
            Strand::start(worker, receiver, {.name = "the receiver", .pinned_to = cores - 1});
        });
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, InPlaceHere, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(InPlaceHere, BytesAreNotTakenBackWhileTheirReceiverReadsThem) {
    std::atomic<bool> takes{false};
    std::atomic<bool> taken{false};
    bool taken_early = false;
    exchange(
        2,
        [&](Strand& self, Loan& loan) {
            takes = true;
            loan.take_back(self.worker());
            taken = true;
        },
        [&](Strand&, Incoming&) {
            // In worlds whose workers take turns the sender does nothing meanwhile.
            Patience patience;
            for (int i = 0; i < 100'000 && !takes; ++i) patience.wait();
            for (int i = 0; i < 10'000; ++i) patience.wait();
            taken_early = taken;
        });
    EXPECT_FALSE(taken_early);
}

/// The sender cannot wait for a receiver that takes turns with it.
TEST_P(InPlaceHere, BytesThatWereTakenBackAreNotRead) {
    const CoreId cores = GetParam().ends_process ? 1 : 2;
    bool taken = false;
    bool refused = false;
    exchange(
        cores,
        [&](Strand& self, Loan& loan) {
            loan.take_back(self.worker());
            taken = true;
        },
        [&](Strand& self, Incoming& message) {
            EXPECT_NO_THROW(message.large->loan->expect_lent());
            wait_until(self, [&] { return taken; });
            try {
                message.large->loan->expect_lent();
            } catch (const Error& error) {
                refused = true;
                EXPECT_THAT(error.what(), HasSubstr("before its message was read"));
            }
        });
    EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace heddle::testing_strands
