// For tests: random exchanges of threads. Each thread sends messages of all sizes to drawn threads with drawn
// tags. It receives by sender, by tag, by both or by neither. Every message must come once and whole. It must
// come after those of its sender that the receive would have taken before it. Endpoints or dispatchers carry
// the messages, as drawn.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "model/messaging.hpp"
#include "runtime/run/execution.hpp"
#include "tests/faulty_machine.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_messaging {

using namespace messaging;

/// What a message is, drawn from its sender's number and its own.
struct Letter {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Tag tag = 0;
    std::uint32_t number = 0;  ///< among those of its sender
    std::uint32_t bytes = 0;   ///< at least those of this head

    runtime::Bytes written() const {
        runtime::Bytes all(bytes);
        const auto head = runtime::bytes_of(*this);
        std::ranges::copy(head, all.begin());
        for (std::size_t i = head.size(); i < all.size(); ++i)
            all[i] = static_cast<std::byte>(i * 31 + number);
        return all;
    }
};

struct Drawn {
    std::uint32_t threads = 0;
    std::vector<std::vector<Letter>> sent;      ///< by each thread, in order
    std::vector<std::vector<Letter>> received;  ///< by each thread, of all senders
    std::optional<DispatcherSettings> dispatcher;
    /// Control blocks are few, so receives that name a message might wait for ever.
    bool only_any = false;
};

inline Drawn draw(std::uint64_t seed) {
    Random random = Random(seed).split(11);
    Drawn drawn;
    drawn.threads = static_cast<std::uint32_t>(2 + random.below(5));
    drawn.sent.resize(drawn.threads);
    drawn.received.resize(drawn.threads);
    for (std::uint32_t from = 0; from < drawn.threads; ++from) {
        const std::uint64_t count = random.below(12);
        for (std::uint32_t number = 0; number < count; ++number) {
            Letter letter{from, static_cast<std::uint32_t>(random.below(drawn.threads)), random.below(3),
                          number, 0};
            const std::uint64_t more = random.below(8) == 0 ? random.below(100'000) : random.below(200);
            letter.bytes = static_cast<std::uint32_t>(sizeof(Letter) + more);
            drawn.sent[from].push_back(letter);
            drawn.received[letter.to].push_back(letter);
        }
    }
    if (seed % 3 == 0) return drawn;
    DispatcherSettings dispatcher;
    dispatcher.fragment_bytes = 50 + random.below(random.below(2) == 0 ? 3000 : 100'000);
    dispatcher.fragments = 1U << 20U;
    drawn.only_any = seed % 3 == 1;
    dispatcher.control_blocks = drawn.only_any ? static_cast<std::uint32_t>(1 + random.below(6)) : 100;
    dispatcher.send_buffers = static_cast<std::uint32_t>(1 + random.below(10));
    if (random.below(3) == 0) dispatcher.wake = DispatcherSettings::Wake::all;
    dispatcher.retry = std::chrono::microseconds(random.below(20));
    drawn.dispatcher = dispatcher;
    return drawn;
}

/// What has gone wrong, over all threads of a run.
struct Wrongs {
    std::atomic<std::uint64_t> received{0};
    std::atomic<std::uint64_t> wrong{0};
};

class Talker {
public:
    Talker(Thread& self, const Drawn& drawn, std::uint32_t number, std::vector<ThreadId> ids, Wrongs& wrongs,
           std::uint64_t seed)
        : self_(self),
          mine_(drawn.received[number]),
          ids_(std::move(ids)),
          wrongs_(wrongs),
          random_(Random(seed).split(100 + number)),
          anything_(drawn.only_any) {
        for (const Letter& letter : drawn.sent[number]) to_send_.push_back(letter);
    }

    void run() {
        std::vector<Handle> sends;
        std::deque<Receiving> receives;
        std::size_t begun = 0;
        while (!to_send_.empty() || begun < mine_.size() || !receives.empty()) {
            const std::uint64_t what = random_.below(3);
            if (what == 0 && !to_send_.empty()) {
                sends.push_back(send(to_send_.front()));
                to_send_.pop_front();
            } else if (what == 1 && begun < mine_.size() && receives.size() < 4) {
                receives.push_back(begin(wanted()));
                ++begun;
            } else if (!receives.empty()) {
                // In their order: so the earlier of two with one filter has the earlier message.
                if (!to_send_.empty() && !self_.test_handle(receives.front().handle, Mode::non_blocking))
                    continue;
                end(receives.front());
                receives.pop_front();
            }
        }
        for (Handle& handle : sends) self_.test_handle(handle, Mode::blocking);
    }

private:
    struct Receiving {
        Handle handle;
        std::unique_ptr<Block> block = std::make_unique<Block>();
        std::unique_ptr<Actual> actual = std::make_unique<Actual>();
    };

    Handle send(const Letter& letter) {
        runtime::Bytes bytes = letter.written();
        if (random_.below(2) == 0)
            return self_.send_copy(ids_[letter.to], letter.tag, bytes.data(), bytes.size());
        return self_.send_dma(ids_[letter.to], letter.tag,
                              std::make_shared<runtime::Bytes>(std::move(bytes)));
    }

    /// A filter that one of the letters matches which no receive was begun for: sender and tag are those of a
    /// letter to come. A receive of anything may take any letter, so from then on all do.
    From wanted() {
        if (anything_ || random_.below(6) == 0) {
            anything_ = true;
            return {};
        }
        std::size_t left = random_.below(mine_.size() - asked_.size());
        for (std::size_t i = 0; i < mine_.size(); ++i) {
            if (std::ranges::find(asked_, i) != asked_.end()) continue;
            if (left-- != 0) continue;
            asked_.push_back(i);
            return {.thread = ids_[mine_[i].from], .tag = mine_[i].tag};
        }
        return {};
    }

    Receiving begin(const From& from) {
        Receiving receiving;
        receiving.handle = self_.recv_dma(from, receiving.block.get(), receiving.actual.get());
        return receiving;
    }

    void end(Receiving& receiving) {
        self_.test_handle(receiving.handle, Mode::blocking);
        const runtime::Bytes& bytes = **receiving.block;
        Letter letter;
        bool right = bytes.size() >= sizeof letter;
        if (right) std::memcpy(&letter, bytes.data(), sizeof letter);
        right = right && letter.written() == bytes && receiving.actual->from == ids_[letter.from] &&
                receiving.actual->tag == letter.tag && receiving.actual->size == bytes.size() &&
                std::ranges::any_of(mine_, [&](const Letter& one) {
                    return one.from == letter.from && one.number == letter.number;
                });
        // Of one sender and tag in the order in which they were sent.
        auto& latest = latest_[{letter.from, letter.tag}];
        right = right && latest <= letter.number;
        latest = letter.number + 1;
        ++wrongs_.received;
        if (!right) ++wrongs_.wrong;
    }

    Thread& self_;
    const std::vector<Letter>& mine_;
    std::vector<ThreadId> ids_;
    Wrongs& wrongs_;
    Random random_;
    std::deque<Letter> to_send_;
    std::vector<std::size_t> asked_;
    bool anything_;
    std::map<std::pair<std::uint32_t, Tag>, std::uint32_t> latest_;
};

/// All in one process of the system: threads find what was drawn, and report, here.
class Exchange final : public MessagingProgram {
public:
    Exchange(std::uint64_t seed, const Drawn& drawn, Wrongs& wrongs)
        : seed_(seed), drawn_(drawn), wrongs_(wrongs) {}

    std::optional<DispatcherSettings> dispatcher() const override { return drawn_.dispatcher; }
    void main(Thread& self) override {
        for (std::uint32_t i = 0; i < drawn_.threads; ++i)
            self.create<talk>(static_cast<ProcessId>((seed_ + i) % self.processes()), i);
        // A thread ends when its own are done, but others may still send to it only what it receives.
    }
    runtime::Answer answer() const override { return {}; }

    static void talk(Thread& self, std::uint32_t number) {
        const auto& program = self.program<Exchange>();
        self.publish(name(number));
        std::vector<ThreadId> ids;
        for (std::uint32_t i = 0; i < program.drawn_.threads; ++i) ids.push_back(self.find(name(i)));
        Talker(self, program.drawn_, number, std::move(ids), program.wrongs_, program.seed_).run();
    }

private:
    static std::string name(std::uint32_t number) { return "talker " + std::to_string(number); }

    std::uint64_t seed_;
    const Drawn& drawn_;
    Wrongs& wrongs_;
};

/// `run(make)` runs the program in some world.
template <class Run>
void expect_each_once(std::uint64_t seed, const Run& run) {
    const Drawn drawn = draw(seed);
    Wrongs wrongs;
    try {
        run([&](NodeId) { return std::make_unique<Exchange>(seed, drawn, wrongs); });
    } catch (const Error& error) {
        FAIL() << "seed " << seed << ": " << error.what();
    }
    std::uint64_t all = 0;
    for (const auto& received : drawn.received) all += received.size();
    ASSERT_EQ(wrongs.received, all) << "seed " << seed;
    ASSERT_EQ(wrongs.wrong, 0U) << "seed " << seed;
}

/// Seeds from 1 on, each with interleavings and faults of its own.
inline void expect_each_once_in_process(std::uint64_t seeds) {
    for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFatalFailure(); ++seed) {
        const testing_faults::FaultyMachine machine = testing_faults::draw_machine(seed);
        expect_each_once(seed, [&](const auto& make) {
            inprocess::InprocessBackend backend(machine.options);
            runtime::Execution(backend, machine.schedule, make).run();
        });
    }
}

inline void expect_each_once_natively(std::uint64_t seeds) {
    for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFatalFailure(); ++seed) {
        expect_each_once(seed, [&](const auto& make) {
            testing_strands::run_native_nodes(static_cast<NodeId>(seed % 3 + 1), 2, make);
        });
    }
}

#ifdef HEDDLE_SIM
inline void expect_each_once_in_simulation(std::uint64_t seeds) {
    for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFatalFailure(); ++seed) {
        Platform platform;
        platform.nodes = static_cast<NodeId>(seed % 5 + 1);
        platform.cores = static_cast<CoreId>(seed % 3 + 1);
        expect_each_once(seed, [&](const auto& make) {
            sim::SimBackend backend(platform, {});
            runtime::Execution(backend, {}, make).run();
        });
    }
}
#endif

}  // namespace heddle::testing_messaging
