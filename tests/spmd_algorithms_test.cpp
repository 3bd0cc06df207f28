// Every algorithm of every operation, without a runtime: the steps of all ranks are interpreted one after the
// other, with queues for messages, and the arrays compared with a sequential reference. Messages and payload
// are compared with closed forms (Thakur, Rabenseifner, Gropp: "Optimization of collective communication
// operations in MPICH", 2005, section 4, summed over the ranks).
#include "model/spmd/algorithm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <deque>
#include <map>

#include "base/error.hpp"
#include "base/random.hpp"
#include "tests/spmd_testing.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;
using testing::HasSubstr;

class Collected final : public Steps {
public:
    void reserve(Index elements) override { scratch = std::max(scratch, elements); }

    std::vector<Step> all;
    Index scratch = 0;

private:
    void take(const Step& step) override { all.push_back(step); }
};

/// In Hockney's model, which the closed forms are made for: a message of n elements takes a + n b, a rank
/// sends one after the other, and receives meanwhile. Local work takes no time.
struct Time {
    static constexpr std::uint64_t a = 1'000'000'000;
    std::uint64_t sum = 0;  ///< with b = 1

    static Time of(std::uint64_t messages, std::uint64_t elements) { return {messages * a + elements}; }
    auto operator<=>(const Time&) const = default;
};

struct Interpreted {
    std::vector<std::vector<Value>> outputs;
    std::uint64_t messages = 0;
    std::uint64_t elements = 0;
    Time time{};
};

/// The ranks take turns, each until it waits for a message that is not there.
class Interpreter {
public:
    Interpreter(const Algorithm& algorithm, const Task& task) : task_(task) {
        for (RankId rank = 0; rank < task.ranks; ++rank) {
            Machine machine;
            Collected steps;
            algorithm.steps({rank, task.ranks, task.root, task.count, task.segment}, steps);
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
        Time arrives;
    };
    struct Machine {
        std::vector<Step> steps;
        std::size_t next = 0;
        std::vector<Value> arrays[3];
        Time now;
        Time sender_free;
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
                EXPECT_LT(step.peer, task_.ranks);
                EXPECT_NE(step.peer, rank);
                const std::span<Value> data = at(machine, step.from);
                machine.sender_free.sum =
                    std::max(machine.now, machine.sender_free).sum + Time::a + data.size();
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
                machine.now = std::max(machine.now, queue.front().arrives);
                const std::vector<Value> message = std::move(queue.front().values);
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
    std::vector<Machine> machines_;
    std::map<std::pair<RankId, RankId>, std::deque<Message>> queues_;
    Interpreted result_;
};

// --- closed forms: messages and elements that all ranks send together

struct Sent {
    std::uint64_t messages;
    std::uint64_t elements;
    bool operator==(const Sent&) const = default;
};

std::uint64_t rounds(std::uint64_t p) {  // ceil(lg p)
    return static_cast<std::uint64_t>(std::bit_width(p - 1));
}

/// Blocks that ranks other than the root have in their subtrees, all together.
std::uint64_t below_root(std::uint64_t p) {
    std::uint64_t blocks = 0;
    for (std::uint64_t v = 1; v < p; ++v) blocks += std::min(v & (~v + 1), p - v);
    return blocks;
}

using Form = Sent (*)(std::uint64_t p, std::uint64_t n, const Task& task);

/// q: the largest power of two up to p; r: how many ranks are too many.
struct Powers {
    std::uint64_t q;
    std::uint64_t r;
};
Powers powers(std::uint64_t p) {
    return {std::bit_floor(p), p - std::bit_floor(p)};
}

const std::map<std::pair<Operation, std::string>, Form> forms = {
    {{Operation::barrier, "dissemination"},
     [](auto p, auto, const auto&) -> Sent {
         return {p * rounds(p), 0};
     }},
    {{Operation::broadcast, "binomial"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p - 1, (p - 1) * n};
     }},
    {{Operation::broadcast, "flat"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p - 1, (p - 1) * n};
     }},
    {{Operation::broadcast, "chain"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p - 1, (p - 1) * n};
     }},
    {{Operation::broadcast, "pipeline"},
     [](auto p, auto n, const Task& task) -> Sent {
         const auto segments = std::max<std::uint64_t>(1, (n + task.segment - 1) / task.segment);
         return {(p - 1) * segments, (p - 1) * n};
     }},
    // Parts of n/p: below_root(p) of them in the scatter, if p divides n.
    {{Operation::broadcast, "scatter_allgather"},
     [](auto p, auto n, const auto&) -> Sent {
         return {(p - 1) + p * (p - 1), below_root(p) * n / p + (p - 1) * n};
     }},
    {{Operation::reduce, "binomial"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p - 1, (p - 1) * n};
     }},
    {{Operation::reduce, "binomial_in_order"},
     [](auto p, auto n, const Task& task) -> Sent {
         const std::uint64_t messages = task.root == 0 ? p - 1 : p;
         return {messages, messages * n};
     }},
    {{Operation::all_reduce, "recursive_doubling"},
     [](auto p, auto n, const auto&) -> Sent {
         const auto [q, r] = powers(p);
         return {q * rounds(q) + 2 * r, (q * rounds(q) + 2 * r) * n};
     }},
    {{Operation::all_reduce, "rabenseifner"},
     [](auto p, auto n, const auto&) -> Sent {
         const auto [q, r] = powers(p);
         return {2 * q * rounds(q) + 2 * r, 2 * (q - 1) * n + 2 * r * n};
     }},
    {{Operation::all_reduce, "ring"},
     [](auto p, auto n, const auto&) -> Sent {
         return {2 * p * (p - 1), 2 * (p - 1) * n};
     }},
    {{Operation::reduce_scatter, "recursive_halving"},
     [](auto p, auto n, const auto&) -> Sent {
         const auto [q, r] = powers(p);
         return {q * rounds(q) + 2 * r, (q - 1) * p * n + r * p * n + r * n};
     }},
    {{Operation::reduce_scatter, "ring"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p * (p - 1), p * (p - 1) * n};
     }},
    {{Operation::scan, "recursive_doubling"},
     [](auto p, auto n, const auto&) -> Sent {
         const std::uint64_t messages = rounds(p) * p - (std::bit_ceil(p) - 1);
         return {messages, messages * n};
     }},
    {{Operation::scan, "chain"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p - 1, (p - 1) * n};
     }},
    {{Operation::gather, "binomial"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p - 1, below_root(p) * n};
     }},
    {{Operation::scatter, "binomial"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p - 1, below_root(p) * n};
     }},
    {{Operation::all_gather, "ring"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p * (p - 1), p * (p - 1) * n};
     }},
    {{Operation::all_gather, "recursive_doubling"},
     [](auto p, auto n, const auto&) -> Sent {
         const auto [q, r] = powers(p);
         return {q * rounds(q) + 2 * r, (q - 1) * p * n + r * n + r * p * n};
     }},
    {{Operation::all_gather, "bruck"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p * rounds(p), p * (p - 1) * n};
     }},
    {{Operation::all_to_all, "pairwise"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p * (p - 1), p * (p - 1) * n};
     }},
    {{Operation::all_to_all, "ring"},
     [](auto p, auto n, const auto&) -> Sent {
         return {p * (p - 1), p * (p - 1) * n};
     }},
    // p/2 blocks a round, if p is a power of two.
    {{Operation::all_to_all, "bruck"},
     [](auto p, auto n, const auto&) -> Sent {
         std::uint64_t hops = 0;
         for (std::uint64_t j = 0; j < p; ++j) hops += static_cast<std::uint64_t>(std::popcount(j));
         return {p * rounds(p), p * hops * n};
     }},
};

// --- the same of time, for powers of two (section 4 there, with n the elements of a call; reduction is free)

using TimeForm = Time (*)(std::uint64_t p, std::uint64_t n, const Task& task);

Time in_rounds(std::uint64_t count, std::uint64_t n) {
    return Time::of(count, count * n);
}

const std::map<std::pair<Operation, std::string>, TimeForm> times = {
    {{Operation::barrier, "dissemination"},
     [](auto p, auto, const auto&) { return in_rounds(rounds(p), 0); }},
    {{Operation::broadcast, "binomial"}, [](auto p, auto n, const auto&) { return in_rounds(rounds(p), n); }},
    {{Operation::broadcast, "flat"}, [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }},
    {{Operation::broadcast, "chain"}, [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }},
    {{Operation::broadcast, "pipeline"},
     [](auto p, auto n, const Task& task) { return in_rounds(p - 2 + n / task.segment, task.segment); }},
    {{Operation::broadcast, "scatter_allgather"},
     [](auto p, auto n, const auto&) { return Time::of(rounds(p) + p - 1, 2 * (p - 1) * n / p); }},
    {{Operation::reduce, "binomial"}, [](auto p, auto n, const auto&) { return in_rounds(rounds(p), n); }},
    {{Operation::reduce, "binomial_in_order"},
     [](auto p, auto n, const Task& task) { return in_rounds(rounds(p) + (task.root == 0 ? 0 : 1), n); }},
    {{Operation::all_reduce, "recursive_doubling"},
     [](auto p, auto n, const auto&) { return in_rounds(rounds(p), n); }},
    {{Operation::all_reduce, "rabenseifner"},
     [](auto p, auto n, const auto&) { return Time::of(2 * rounds(p), 2 * (p - 1) * n / p); }},
    {{Operation::all_reduce, "ring"},
     [](auto p, auto n, const auto&) { return Time::of(2 * (p - 1), 2 * (p - 1) * n / p); }},
    {{Operation::reduce_scatter, "recursive_halving"},
     [](auto p, auto n, const auto&) { return Time::of(rounds(p), (p - 1) * n); }},
    {{Operation::reduce_scatter, "ring"}, [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }},
    {{Operation::scan, "recursive_doubling"},
     [](auto p, auto n, const auto&) { return in_rounds(rounds(p), n); }},
    {{Operation::scan, "chain"}, [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }},
    {{Operation::gather, "binomial"},
     [](auto p, auto n, const auto&) { return Time::of(rounds(p), (p - 1) * n); }},
    {{Operation::scatter, "binomial"},
     [](auto p, auto n, const auto&) { return Time::of(rounds(p), (p - 1) * n); }},
    {{Operation::all_gather, "ring"}, [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }},
    {{Operation::all_gather, "recursive_doubling"},
     [](auto p, auto n, const auto&) { return Time::of(rounds(p), (p - 1) * n); }},
    {{Operation::all_gather, "bruck"},
     [](auto p, auto n, const auto&) { return Time::of(rounds(p), (p - 1) * n); }},
    {{Operation::all_to_all, "pairwise"}, [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }},
    {{Operation::all_to_all, "ring"}, [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }},
    {{Operation::all_to_all, "bruck"},
     [](auto p, auto n, const auto&) { return in_rounds(rounds(p), n * p / 2); }},
};

class SpmdAlgorithms : public testing::TestWithParam<Algorithm> {};

INSTANTIATE_TEST_SUITE_P(All, SpmdAlgorithms, testing::ValuesIn(all_algorithms()), [](const auto& tested) {
    return name_of(tested.param.operation) + ("_" + tested.param.name);
});

TEST_P(SpmdAlgorithms, EqualTheSequentialReference) {
    const Algorithm& algorithm = GetParam();
    for (RankId ranks = 1; ranks <= 17; ++ranks) {
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            Random random(ranks * 100 + seed);
            Task task = draw_task(random, algorithm.operation, ranks);
            if (seed == 0) task.count = 0;
            task.commutes = algorithm.commutes || random.below(4) == 0;
            const Interpreted result = Interpreter(algorithm, task).run();
            for (RankId rank = 0; rank < ranks; ++rank)
                ASSERT_EQ(result.outputs[rank], expected_output(task, rank))
                    << ranks << " ranks, rank " << rank << ", root " << task.root << ", count " << task.count;
        }
    }
}

TEST_P(SpmdAlgorithms, SendWhatTheClosedFormSays) {
    const Algorithm& algorithm = GetParam();
    const auto found = forms.find({algorithm.operation, algorithm.name});
    ASSERT_NE(found, forms.end()) << "there is no closed form for it";
    for (RankId ranks = 1; ranks <= 17; ++ranks) {
        for (const RankId root : {RankId{0}, ranks / 2}) {
            Task task{algorithm.operation, ranks, root, ranks * 3, 4, true};
            const Interpreted result = Interpreter(algorithm, task).run();
            const Sent expected = found->second(ranks, task.count, task);
            EXPECT_EQ(result.messages, expected.messages) << ranks << " ranks";
            EXPECT_EQ(result.elements, expected.elements) << ranks << " ranks";
        }
    }
}

TEST_P(SpmdAlgorithms, TakeTheTimeOfTheClosedForm) {
    const Algorithm& algorithm = GetParam();
    const auto found = times.find({algorithm.operation, algorithm.name});
    ASSERT_NE(found, times.end()) << "there is no closed form for it";
    for (const RankId ranks : {2U, 4U, 8U, 16U, 32U, 64U}) {
        for (const RankId root : {RankId{0}, ranks / 2}) {
            const Task task{algorithm.operation, ranks, root, ranks * 2, ranks / 2, true};
            EXPECT_EQ(Interpreter(algorithm, task).run().time.sum, found->second(ranks, task.count, task).sum)
                << ranks << " ranks, root " << root;
        }
    }
}

TEST(SpmdAlgorithmNames, AnUnknownOneIsRefusedWithTheList) {
    EXPECT_EQ(find_algorithm(Operation::all_reduce, "").name, "recursive_doubling");
    EXPECT_EQ(find_algorithm(Operation::all_reduce, "ring").name, "ring");
    try {
        find_algorithm(Operation::all_reduce, "magic");
        ADD_FAILURE() << "it was found";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("all_reduce has no algorithm \"magic\"; choose one of: "
                                            "recursive_doubling, rabenseifner, ring"));
    }
    for (const Operation operation : operations)
        EXPECT_EQ(find_algorithm(operation, "").operation, operation);
}

}  // namespace
}  // namespace heddle::spmd
