// For tests: random dataflow programs, trees of tasks that access objects of all sizes in all modes. A task
// may get one object twice. `play` runs such a program as plain calls; `Player` forks it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "model/dataflow.hpp"
#include "runtime/run/execution.hpp"

namespace heddle::testing_dataflow {

using namespace dataflow;

using Value = std::vector<std::uint32_t>;

/// Adds element by element; commutative, whatever the lengths are.
struct Add {
    void operator()(Value& into, const Value& from) const {
        if (into.size() < from.size()) into.resize(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) into[i] += from[i];
    }
};

struct Shape {
    std::uint64_t depth = 6;
    std::uint64_t size_max = 16;     ///< elements of a value
    std::uint64_t forks_max = 5;     ///< of one task
    std::uint64_t objects_main = 4;  ///< of the main task
};

inline Shape draw_shape(std::uint64_t seed) {
    Random random = Random(seed).split(3);
    Shape shape;
    shape.depth = 1 + random.below(6);
    shape.size_max = random.below(2) == 0 ? 4 : 40;
    return shape;
}

/// What a task of the program does is drawn from its number alone.
struct Call {
    std::uint64_t number;
    std::uint64_t depth;
    std::uint64_t size_max;
    std::uint64_t forks_max;
    bool writes = false;  ///< it writes all that it should
};
static_assert(std::is_trivially_copyable_v<Call>);

inline std::uint32_t digest(const Value& value) {
    std::uint32_t sum = static_cast<std::uint32_t>(value.size());
    for (const std::uint32_t element : value) sum = (sum ^ element) * 0x9e3779b1U + (sum >> 15);
    return sum;
}

inline Value draw_value(Random& random, std::uint64_t size_max, std::uint32_t mixed) {
    Value value(random.below(size_max + 1));
    for (std::uint32_t& element : value) element = static_cast<std::uint32_t>(random()) ^ mixed;
    return value;
}

/// An object that a task may pass on, with the mode in which it has it.
template <class Object>
struct Held {
    Object object;
    Mode mode;
};

/// The drawn life of one task. World: `read(object)`, `write(object, value)`, `add(object, value)`,
/// `declare(first value or null)`, `fork(call, modes, objects)`, `sync()`, `read_own(object)`.
template <class World, class Object>
void live(World& world, const Call& call, std::vector<Held<Object>> held) {
    Random random = Random(call.number).split(1);
    std::uint32_t mixed = static_cast<std::uint32_t>(call.number);
    for (const auto& [object, mode] : held)
        if (mode == Mode::r || mode == Mode::rw) mixed = mixed * 31 + digest(world.read(object));
    for (const auto& [object, mode] : held) {
        if (mode == Mode::w || (mode == Mode::rw && random.below(2) == 0)) {
            if (random.below(8) != 0 || call.writes)
                world.write(object, draw_value(random, call.size_max, mixed));
        }
        if (mode == Mode::cw) world.add(object, draw_value(random, call.size_max, mixed));
    }
    if (call.depth == 0) return;
    std::vector<Object> own;
    for (std::uint64_t left = random.below(3); left != 0; --left) {
        own.push_back(world.declare(draw_value(random, call.size_max, mixed)));
        held.push_back({own.back(), Mode::rpwp});
    }
    const std::uint64_t forks = random.below(call.forks_max + 1);
    for (std::uint64_t i = 0; i < forks; ++i) {
        std::array<Mode, 2> modes{};
        std::vector<Object> given;
        for (std::size_t k = 0; k < modes.size() && !held.empty(); ++k) {
            const auto& [object, mode] = held[random.below(held.size())];
            std::vector<Mode> allowed;
            for (std::uint8_t m = 0; m < 8; ++m)
                // What a body writes itself it passes on last, so not here.
                if (mode != Mode::w && may_pass(mode, static_cast<Mode>(m)))
                    allowed.push_back(static_cast<Mode>(m));
            if (allowed.empty()) continue;
            modes[given.size()] = allowed[random.below(allowed.size())];
            given.push_back(object);
        }
        Call next = call;
        next.number = random();
        next.depth = random.below(call.depth);
        world.fork(next, modes, given);
        if (random.below(8) == 0) {
            world.sync();
            for (const Object& object : own) mixed = mixed * 31 + digest(world.read_own(object));
        }
    }
    std::erase_if(held, [](const auto& one) { return one.mode != Mode::w; });
    if (held.empty()) return;
    // The last fork writes what the body was given to write.
    Call next = call;
    next.number = random() ^ mixed;
    next.depth = 0;
    world.fork(next, {Mode::w, Mode::w}, {held.front().object});
}

// --- plain calls

struct Plain {
    using Object = Value*;
    std::vector<std::unique_ptr<Value>> objects;
    std::uint64_t calls = 0;

    const Value& read(Object object) { return *object; }
    const Value& read_own(Object object) { return *object; }
    void write(Object object, Value value) { *object = std::move(value); }
    void add(Object object, const Value& value) { Add{}(*object, value); }
    Object declare(Value value) {
        objects.push_back(std::make_unique<Value>(std::move(value)));
        return objects.back().get();
    }
    void sync() {}
    void fork(const Call& call, const std::array<Mode, 2>& modes, const std::vector<Object>& given) {
        ++calls;
        std::vector<Held<Object>> held;
        for (std::size_t i = 0; i < given.size(); ++i) held.push_back({given[i], modes[i]});
        live(*this, call, std::move(held));
    }
};

// --- forks

template <Mode mode>
struct FormalOf;
template <>
struct FormalOf<Mode::r> {
    using Type = shared_r<Value>;
};
template <>
struct FormalOf<Mode::w> {
    using Type = shared_w<Value>;
};
template <>
struct FormalOf<Mode::rw> {
    using Type = shared_rw<Value>;
};
template <>
struct FormalOf<Mode::cw> {
    using Type = shared_cw<Value, Add>;
};
template <>
struct FormalOf<Mode::rp> {
    using Type = shared_rp<Value>;
};
template <>
struct FormalOf<Mode::wp> {
    using Type = shared_wp<Value>;
};
template <>
struct FormalOf<Mode::rpwp> {
    using Type = shared_rpwp<Value>;
};
template <>
struct FormalOf<Mode::cwp> {
    using Type = shared_cwp<Value, Add>;
};

struct Forking {
    using Object = Access*;
    Thread& self;
    std::vector<std::pair<Access*, shared<Value>>> declared;

    const Value& read(Object object) { return shared_r<Value>(*object).read(); }
    const Value& read_own(Object object) {
        return std::find_if(declared.begin(), declared.end(),
                            [&](const auto& one) { return one.first == object; })
            ->second.read();
    }
    void write(Object object, Value value) { shared_w<Value>(*object).write(std::move(value)); }
    void add(Object object, const Value& value) { shared_cw<Value, Add>(*object, self).add(value); }
    Object declare(Value value) {
        shared<Value> object(self, std::move(value));
        declared.emplace_back(&object.access(), object);
        return &object.access();
    }
    void sync() { self.sync(); }
    void fork(const Call& call, const std::array<Mode, 2>& modes, const std::vector<Object>& given);
};

inline void player0(Thread& self, Call call) {
    Forking world{self, {}};
    live<Forking, Access*>(world, call, {});
}

template <class A>
void player1(Thread& self, Call call, A a) {
    Forking world{self, {}};
    live<Forking, Access*>(world, call, {{&a.access(), A::mode}});
}

template <class A, class B>
void player2(Thread& self, Call call, A a, B b) {
    Forking world{self, {}};
    live<Forking, Access*>(world, call, {{&a.access(), A::mode}, {&b.access(), B::mode}});
}

/// Which function has the modes drawn is known only now, so the objects are given as ones that may be passed
/// on in every mode. The rules were kept where they were drawn.
template <class A>
void fork_with(Thread& self, const Call& call, Mode second, Access* a, Access* b) {
    const shared_rpwp<Value> first(*a);
    if (!b) return self.fork<player1<A>>(call, first);
    const shared_rpwp<Value> other(*b);
    const auto with = [&]<Mode mode>() {
        if (mode == second) self.fork<player2<A, typename FormalOf<mode>::Type>>(call, first, other);
    };
    with.template operator()<Mode::r>();
    with.template operator()<Mode::w>();
    with.template operator()<Mode::rw>();
    with.template operator()<Mode::cw>();
    with.template operator()<Mode::rp>();
    with.template operator()<Mode::wp>();
    with.template operator()<Mode::rpwp>();
    with.template operator()<Mode::cwp>();
}

inline void Forking::fork(const Call& call, const std::array<Mode, 2>& modes,
                          const std::vector<Object>& given) {
    if (given.empty()) return self.fork<player0>(call);
    Access* const second = given.size() > 1 ? given[1] : nullptr;
    const auto with = [&]<Mode mode>() {
        if (mode == modes[0])
            fork_with<typename FormalOf<mode>::Type>(self, call, modes[1], given[0], second);
    };
    with.template operator()<Mode::r>();
    with.template operator()<Mode::w>();
    with.template operator()<Mode::rw>();
    with.template operator()<Mode::cw>();
    with.template operator()<Mode::rp>();
    with.template operator()<Mode::wp>();
    with.template operator()<Mode::rpwp>();
    with.template operator()<Mode::cwp>();
}

// --- whole programs

struct Outcome {
    std::vector<Value> objects;
    std::uint64_t closures = 0;
    bool operator==(const Outcome&) const = default;
};

/// The calls that the main task makes, each with objects of its own.
template <class World, class Object>
void begin_main(World& world, std::uint64_t seed, const Shape& shape, std::vector<Object>& objects) {
    Random random(seed);
    for (std::uint64_t i = 0; i < shape.objects_main; ++i)
        objects.push_back(world.declare(draw_value(random, shape.size_max, 0)));
    for (int i = 0; i < 4; ++i) {
        const Call call{random(), shape.depth, shape.size_max, shape.forks_max};
        const std::array<Mode, 2> modes{static_cast<Mode>(random.below(8)),
                                        static_cast<Mode>(random.below(8))};
        world.fork(call, modes,
                   {objects[random.below(objects.size())], objects[random.below(objects.size())]});
    }
}

inline Outcome play(std::uint64_t seed, const Shape& shape) {
    Plain world;
    std::vector<Value*> objects;
    begin_main(world, seed, shape, objects);
    Outcome outcome;
    for (const Value* const object : objects) outcome.objects.push_back(*object);
    outcome.closures = world.calls;
    return outcome;
}

class Player final : public DataflowProgram {
public:
    Player(std::uint64_t seed, const Shape& shape, Outcome& outcome)
        : seed_(seed), shape_(shape), outcome_(outcome) {}

    void main(Thread& self) override {
        Forking world{self, {}};
        std::vector<Access*> objects;
        begin_main(world, seed_, shape_, objects);
        self.sync();
        for (Access* const object : objects) outcome_.objects.push_back(world.read_own(object));
    }
    runtime::Answer answer() const override { return {}; }

private:
    std::uint64_t seed_;
    Shape shape_;
    Outcome& outcome_;
};

/// `run(make)` runs the program in some world and returns its result.
template <class Run>
void expect_sequential(std::uint64_t seed, const Shape& shape, const Run& run) {
    const Outcome expected = play(seed, shape);
    Outcome found;
    const runtime::RunResult result =
        run([&](NodeId) { return std::make_unique<Player>(seed, shape, found); });
    for (const runtime::AnswerValue& value : result.answer)
        if (value.name == "closures") found.closures = static_cast<std::uint64_t>(value.value);
    ASSERT_EQ(found, expected) << "seed " << seed;
}

}  // namespace heddle::testing_dataflow
