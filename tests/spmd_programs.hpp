// For tests: data-parallel programs that run one function, or collective calls drawn at random and checked.
#pragma once

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

/// The task's call. `Data`: a vector, or Declared.
template <class Op, class Data>
void call_with(Spmd& self, const Task& task, const std::string& algorithm, Data&& in, Data&& out,
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
            return self.all_to_all(in, out, algorithm);
    }
}

/// Calls drawn at random, the same on all threads. Thread 0 of a rank has its arrays.
class RandomCalls final : public SpmdProgram {
public:
    RandomCalls(SpmdOptions options, std::uint64_t seed, int calls)
        : SpmdProgram(std::move(options)), seed_(seed), calls_(calls) {}

    void main(Spmd& self) override {
        const bool alone = self.ranks() != self.nodes();
        Arrays own;
        Arrays& arrays = alone ? own : shared_;
        const bool first = alone || self.thread_rank() == 0;
        for (int i = 0; i < calls_; ++i) {
            Random random(seed_ * 1000 + static_cast<std::uint64_t>(i));
            const Algorithm& algorithm = all_algorithms()[random.below(all_algorithms().size())];
            Task task = draw_task(random, algorithm.operation, self.ranks());
            if (random.below(6) == 0) task.count = 500 + random.below(4000);  // large
            task.commutes = algorithm.commutes || random.below(3) == 0;
            if (first) arrays = {input_of(task, self.rank()), initial_output(task, self.rank())};
            if (!alone) self.barrier();
            call(self, task, algorithm.name, arrays);
            if (first) {
                EXPECT_EQ(arrays.output, expected_output(task, self.rank()))
                    << name_of(task.operation) << " by " << algorithm.name << ", call " << i << " of seed "
                    << seed_ << ", rank " << self.rank() << " of " << self.ranks();
            }
        }
    }
    runtime::Answer answer() const override { return {}; }

private:
    struct Arrays {
        std::vector<Value> input;
        std::vector<Value> output;
    };

    static void call(Spmd& self, const Task& task, const std::string& algorithm, Arrays& arrays) {
        auto& [in, out] = arrays;
        if (task.commutes) return call_with(self, task, algorithm, in, out, add);
        call_with(self, task, algorithm, in, out, InOrder{compose});
    }

    std::uint64_t seed_;
    int calls_;
    Arrays shared_;
};

}  // namespace heddle::spmd::testing_spmd
