// For tests: random collective calls, and their results by a sequential reference.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "model/spmd/algorithm.hpp"
#include "model/spmd/groups.hpp"

namespace heddle::spmd::testing_spmd {

/// A map x -> a x + b modulo 2^64. Composition is associative and does not commute.
struct Value {
    std::uint64_t a = 0;
    std::uint64_t b = 0;

    bool operator==(const Value&) const = default;
};

inline Value compose(const Value& left, const Value& right) {
    return {left.a * right.a, left.a * right.b + left.b};
}
inline Value add(const Value& left, const Value& right) {
    return {left.a + right.a, left.b + right.b};
}

struct Task {
    Operation operation;
    RankId ranks;
    RankId root;
    Index count;
    Index segment;
    bool commutes;
    std::shared_ptr<const Levels> levels = nullptr;

    Value apply(const Value& left, const Value& right) const {
        return commutes ? add(left, right) : compose(left, right);
    }
};

inline Task draw_task(Random& random, Operation operation, RankId ranks) {
    return {operation,           ranks, static_cast<RankId>(random.below(ranks)), random.below(40),
            1 + random.below(9), true};
}

/// Groups of one size, or of any sizes.
inline std::vector<RankId> draw_firsts(Random& random, RankId ranks) {
    std::vector<RankId> firsts{0};
    const RankId size = 1 + static_cast<RankId>(random.below(6));
    const bool alike = random.below(2) == 0;
    for (RankId rank = 1; rank < ranks; ++rank)
        if (alike ? rank % size == 0 : random.below(size) == 0) firsts.push_back(rank);
    return firsts;
}
inline std::shared_ptr<const Levels> draw_levels(Random& random, RankId ranks) {
    if (random.below(8) == 0) return nullptr;
    Levels levels;
    if (random.below(8) == 0) return std::make_shared<Levels>(levels);
    levels.two = std::make_shared<Groups>(ranks, draw_firsts(random, ranks));
    std::vector<RankId> firsts = draw_firsts(random, ranks);
    const auto count = static_cast<RankId>(firsts.size());
    levels.three = std::make_shared<Groups>(ranks, std::move(firsts),
                                            std::make_shared<Groups>(count, draw_firsts(random, count)));
    return std::make_shared<Levels>(levels);
}

/// What rank `rank` has at place `i` before the call.
inline Value value_at(RankId rank, Index i) {
    Random random(rank * 1'000'003 + i);
    return {random.below(1'000'000'007) * 2 + 1, random.below(1'000'000'007)};
}

inline std::vector<Value> values(RankId rank, Index count) {
    std::vector<Value> all(count);
    for (Index i = 0; i < count; ++i) all[i] = value_at(rank, i);
    return all;
}

/// How many elements the input has.
inline Index input_size(const Task& task, RankId rank) {
    switch (task.operation) {
        case Operation::barrier:
        case Operation::broadcast:
            return 0;
        case Operation::scatter:
            return rank == task.root ? task.ranks * task.count : 0;
        case Operation::reduce_scatter:
        case Operation::all_to_all:
            return task.ranks * task.count;
        default:
            return task.count;
    }
}

inline std::vector<Value> input_of(const Task& task, RankId rank) {
    return values(rank, input_size(task, rank));
}

/// How many elements the output has.
inline Index output_size(const Task& task, RankId rank) {
    switch (task.operation) {
        case Operation::barrier:
            return 0;
        case Operation::reduce:
            return rank == task.root ? task.count : 0;
        case Operation::gather:
            return rank == task.root ? task.ranks * task.count : 0;
        case Operation::all_gather:
        case Operation::all_to_all:
            return task.ranks * task.count;
        default:
            return task.count;
    }
}

inline std::vector<Value> initial_output(const Task& task, RankId rank) {
    if (task.operation == Operation::broadcast && rank == task.root) return values(rank, task.count);
    return std::vector<Value>(output_size(task, rank));
}

/// Element i of the inputs of ranks 0 to last, combined in their order.
inline Value combined(const Task& task, RankId last, Index i) {
    Value value = value_at(0, i);
    for (RankId rank = 1; rank <= last; ++rank) value = task.apply(value, value_at(rank, i));
    return value;
}

inline std::vector<Value> expected_output(const Task& task, RankId rank) {
    std::vector<Value> all(output_size(task, rank));
    const Index n = task.count;
    for (Index i = 0; i < all.size(); ++i) {
        switch (task.operation) {
            case Operation::barrier:
                break;
            case Operation::broadcast:
                all[i] = value_at(task.root, i);
                break;
            case Operation::reduce:
            case Operation::all_reduce:
                all[i] = combined(task, task.ranks - 1, i);
                break;
            case Operation::reduce_scatter:
                all[i] = combined(task, task.ranks - 1, rank * n + i);
                break;
            case Operation::scan:
                all[i] = combined(task, rank, i);
                break;
            case Operation::scatter:
                all[i] = value_at(task.root, rank * n + i);
                break;
            case Operation::gather:
            case Operation::all_gather:
                all[i] = value_at(static_cast<RankId>(i / n), i % n);
                break;
            case Operation::all_to_all:
                all[i] = value_at(static_cast<RankId>(i / n), rank * n + i % n);
                break;
        }
    }
    return all;
}

}  // namespace heddle::spmd::testing_spmd
