// For tests: data-parallel programs that run one function, or collective calls drawn at random and checked.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/spmd.hpp"
#include "tests/spmd_testing.hpp"

namespace heddle::spmd::testing_spmd {

inline constexpr auto flat = SpmdOptions::Ranks::threads;

class MainFunction final : public SpmdProgram {
public:
    using Body = std::function<void(Spmd&)>;
    MainFunction(SpmdOptions options, Body body) : SpmdProgram(std::move(options)), body_(std::move(body)) {}
    void main(Spmd& self) override { body_(self); }
    runtime::Answer answer() const override { return {}; }

private:
    Body body_;
};

/// The task's call. `Data`: a vector, or Declared. `self`: a thread, or `start()` of it.
template <class Self, class Op, class Data>
auto call_with(Self&& self, const Task& task, const std::string& algorithm, Data&& in, Data&& out,
               const Op& op) {
    switch (task.operation) {
        case Operation::barrier:
            return self.barrier(algorithm);
        case Operation::broadcast:
            return self.broadcast(out, task.root, algorithm);
        case Operation::reduce:
            return self.reduce(op, in, out, task.root, algorithm);
        case Operation::all_reduce:
            return self.all_reduce(op, in, out, algorithm);
        case Operation::reduce_scatter:
            return self.reduce_scatter(op, in, out, algorithm);
        case Operation::scan:
            return self.scan(op, in, out, algorithm);
        case Operation::gather:
            return self.gather(in, out, task.root, algorithm);
        case Operation::scatter:
            return self.scatter(in, out, task.root, algorithm);
        case Operation::all_gather:
            return self.all_gather(in, out, algorithm);
        case Operation::all_to_all:
            break;
    }
    return self.all_to_all(in, out, algorithm);
}

/// A call drawn at random, with arrays, and what it must give. All ranks draw the same from one seed.
class RandomCall {
public:
    RandomCall(std::uint64_t seed, RankId ranks) {
        Random random(seed);
        algorithm_ = &all_algorithms()[random.below(all_algorithms().size())];
        task_ = draw_task(random, algorithm_->operation, ranks);
        // Large, so that blocks, or also their halves, are announced.
        if (random.below(6) == 0) task_.count = random.below(2) == 0 ? 500 + random.below(4000) : 4200;
        task_.commutes = algorithm_->commutes || random.below(3) == 0;
    }
    RandomCall(const Algorithm& algorithm, const Task& task) : algorithm_(&algorithm), task_(task) {}

    void prepare(RankId rank) {
        input_ = input_of(task_, rank);
        output_ = initial_output(task_, rank);
    }
    template <class Self>
    auto make(Self&& self) {
        if (!task_.commutes)
            return call_with(self, task_, algorithm_->name, input_, output_, InOrder{compose});
        return call_with(self, task_, algorithm_->name, input_, output_, add);
    }
    void check(RankId rank, const std::string& where) const {
        EXPECT_EQ(output_, expected_output(task_, rank))
            << name_of(task_.operation) << " by " << algorithm_->name << ", " << where << ", rank " << rank;
    }

private:
    const Algorithm* algorithm_;
    Task task_{};
    std::vector<Value> input_;
    std::vector<Value> output_;
};

/// Rounds of calls drawn at random, the same on all threads: in each a few that are split-phase, then a
/// blocking one. Thread 0 of a rank has its arrays.
class RandomCalls final : public SpmdProgram {
public:
    /// `split_max`: split-phase calls of a round, at most.
    RandomCalls(SpmdOptions options, std::uint64_t seed, int rounds, std::uint64_t split_max = 0)
        : SpmdProgram(std::move(options)), seed_(seed), rounds_(rounds), split_max_(split_max) {}

    void main(Spmd& self) override {
        const bool alone = self.ranks() != self.nodes();
        std::vector<RandomCall> own;
        std::vector<RandomCall>& calls = alone ? own : shared_;
        const bool first = alone || self.thread_rank() == 0;
        for (int round = 0; round < rounds_; ++round) {
            const std::uint64_t seed = seed_ * 1000 + static_cast<std::uint64_t>(round);
            Random random(seed);
            const std::uint64_t split = split_max_ == 0 ? 0 : random.below(split_max_ + 1);
            if (first) {
                calls.clear();
                for (std::uint64_t i = 0; i <= split; ++i)
                    calls.emplace_back(seed + 1'000'000 * i, self.ranks()).prepare(self.rank());
            }
            if (!alone) self.barrier();
            std::vector<SplitCall> started;
            for (std::uint64_t i = 0; i < split; ++i) started.push_back(calls[i].make(self.start()));
            calls.back().make(self);
            while (!started.empty()) {  // in any order
                std::swap(started.back(), started[random.below(started.size())]);
                started.back().wait();
                started.pop_back();
            }
            if (first)
                for (const RandomCall& call : calls)
                    call.check(self.rank(), fmt::format("round {} of seed {}", round, seed_));
        }
    }
    runtime::Answer answer() const override { return {}; }

private:
    std::uint64_t seed_;
    int rounds_;
    std::uint64_t split_max_;
    std::vector<RandomCall> shared_;
};

}  // namespace heddle::spmd::testing_spmd
