// For tests: interprets the steps of all ranks of a collective call one after the other, without a runtime,
// with queues for messages.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

#include "tests/spmd_testing.hpp"

namespace heddle::spmd::testing_spmd {

/// Whether the count is that of a block for each rank.
inline bool has_blocks(Operation operation) {
    return operation >= Operation::reduce_scatter && operation != Operation::scan;
}

class Collected final : public Steps {
public:
    void reserve(Index elements) override { scratch = std::max(scratch, elements); }

    std::vector<Step> all;
    Index scratch = 0;

private:
    void take(const Step& step) override { all.push_back(step); }
};

/// In Hockney's model, which the closed forms are made for: a message of n elements takes a + n b, and a rank
/// sends one after the other. Meanwhile it receives: what comes at one time takes one a. Local work takes no
/// time.
struct Cost {
    static constexpr std::uint64_t a = 1'000'000'000;
    std::uint64_t sum = 0;  ///< with b = 1

    static Cost of(std::uint64_t messages, std::uint64_t elements) { return {messages * a + elements}; }
    auto operator<=>(const Cost&) const = default;
};

/// By all ranks together.
struct Sent {
    std::uint64_t messages = 0;
    std::uint64_t elements = 0;

    bool operator==(const Sent&) const = default;
    friend void PrintTo(const Sent& sent, std::ostream* to) {  // NOLINT(readability-identifier-naming)
        *to << sent.messages << " messages, " << sent.elements << " elements";
    }
};

struct Interpreted {
    std::vector<std::vector<Value>> outputs;
    std::uint64_t messages = 0;
    std::uint64_t elements = 0;
    Cost time{};
};

/// The ranks take turns, each until it waits for a message that is not there.
class Interpreter {
public:
    /// What a rank does with a send.
    enum class Sends : std::uint8_t {
        buffered,    ///< it goes on, and the message leaves after those before it
        synchronous  ///< before its next send it waits for the receive of this one
    };

    Interpreter(const Algorithm& algorithm, const Task& task, Sends sends = Sends::buffered)
        : task_(task), sends_(sends) {
        for (RankId rank = 0; rank < task.ranks; ++rank) {
            Machine machine;
            Collected steps;
            algorithm.steps({rank, task.ranks, task.root, task.count, task.segment, task.levels.get()},
                            steps);
            machine.steps = std::move(steps.all);
            machine.arrays[0] = input_of(task, rank);
            machine.arrays[1] = initial_output(task, rank);
            machine.arrays[2].resize(steps.scratch);
            machines_.push_back(std::move(machine));
        }
    }

    Interpreted run() {
        for (bool moves = true; moves;) {
            moves = false;
            for (RankId rank = 0; rank < task_.ranks; ++rank)
                while (machines_[rank].next < machines_[rank].steps.size() && step(rank)) moves = true;
        }
        for (Machine& machine : machines_) {
            EXPECT_EQ(machine.next, machine.steps.size()) << "a rank waits for a message";
            result_.time = std::max({result_.time, machine.now, machine.sender_free});
            result_.outputs.push_back(std::move(machine.arrays[1]));
        }
        for (const auto& [ranks, queue] : queues_) EXPECT_TRUE(queue.empty()) << "a message was not received";
        return std::move(result_);
    }

private:
    struct Message {
        std::vector<Value> values;
        Cost arrives;
    };
    struct Machine {
        std::vector<Step> steps;
        std::size_t next = 0;
        std::uint64_t not_received = 0;  ///< its sends
        std::vector<Value> arrays[3];
        Cost now;
        Cost sender_free;
        Cost receiver_free;
    };

    static std::span<Value> at(Machine& machine, const Range& range) {
        std::vector<Value>& array = machine.arrays[static_cast<std::size_t>(range.array)];
        if (range.begin > array.size() || range.count > array.size() - range.begin) {
            ADD_FAILURE() << "a range " << range.begin << " + " << range.count << " of " << array.size();
            return {};
        }
        return std::span(array).subspan(range.begin, range.count);
    }
    void combine(std::span<Value> into, std::span<const Value> from, bool other_first) const {
        ASSERT_EQ(into.size(), from.size());
        for (std::size_t i = 0; i < into.size(); ++i)
            into[i] = other_first ? task_.apply(from[i], into[i]) : task_.apply(into[i], from[i]);
    }

    /// False if it must wait.
    bool step(RankId rank) {
        Machine& machine = machines_[rank];
        const Step step = machine.steps[machine.next];
        switch (step.kind) {
            case Step::Kind::send: {
                // Signals are never so large that they are announced.
                if (sends_ == Sends::synchronous && machine.not_received > 0 &&
                    task_.operation != Operation::barrier)
                    return false;
                ++machine.not_received;
                EXPECT_LT(step.peer, task_.ranks);
                EXPECT_NE(step.peer, rank);
                const std::span<Value> data = at(machine, step.from);
                machine.sender_free.sum =
                    std::max(machine.now, machine.sender_free).sum + Cost::a + data.size();
                queues_[{rank, step.peer}].push_back(
                    {std::vector<Value>(data.begin(), data.end()), machine.sender_free});
                ++result_.messages;
                result_.elements += data.size();
                break;
            }
            case Step::Kind::receive:
            case Step::Kind::combine: {
                auto& queue = queues_[{step.peer, rank}];
                if (queue.empty()) return false;
                --machines_[step.peer].not_received;
                const std::vector<Value> message = std::move(queue.front().values);
                machine.receiver_free.sum =
                    std::max(queue.front().arrives.sum, machine.receiver_free.sum + message.size());
                machine.now = std::max(machine.now, machine.receiver_free);
                queue.pop_front();
                const std::span<Value> target = at(machine, step.to);
                EXPECT_EQ(message.size(), target.size());
                if (message.size() != target.size()) break;
                if (step.kind == Step::Kind::combine) {
                    combine(target, message, step.other_first);
                } else {
                    std::ranges::copy(message, target.begin());
                }
                break;
            }
            case Step::Kind::copy:
                EXPECT_EQ(step.to.count, step.from.count);
                std::ranges::copy(at(machine, step.from), at(machine, step.to).begin());
                break;
            case Step::Kind::fold:
                combine(at(machine, step.to), at(machine, step.from), step.other_first);
                break;
        }
        ++machine.next;
        return true;
    }

    Task task_;
    Sends sends_;
    std::vector<Machine> machines_;
    std::map<std::pair<RankId, RankId>, std::deque<Message>> queues_;
    Interpreted result_;
};

}  // namespace heddle::spmd::testing_spmd
