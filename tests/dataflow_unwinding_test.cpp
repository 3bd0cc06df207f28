// Tests dataflow runs that a task ends by an exception: all values and arguments are destroyed, whatever the
// other tasks were at.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <stdexcept>

#include "model/dataflow.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"

namespace heddle::testing_unwinding {

/// A number that is counted while it lives.
struct Counted {
    static inline std::atomic<long> live{0};
    int number = 0;
    Counted() { ++live; }
    explicit Counted(int given) : number(given) { ++live; }
    Counted(const Counted& other) : number(other.number) { ++live; }
    Counted(Counted&& other) noexcept : number(other.number) { ++live; }
    Counted& operator=(const Counted&) = default;
    Counted& operator=(Counted&&) = default;
    ~Counted() { --live; }
};

}  // namespace heddle::testing_unwinding

template <>
struct heddle::runtime::Serialize<heddle::testing_unwinding::Counted> {
    static void write(Writer& writer, const testing_unwinding::Counted& value) { writer.put(value.number); }
    static testing_unwinding::Counted read(Reader& reader) {
        return testing_unwinding::Counted(reader.get<int>());
    }
};

namespace heddle::testing_unwinding {
namespace {

using namespace dataflow;

void change(Thread& self, Counted more, shared_rw<Counted> object) {
    self.worker().compute({1e4, 0}, [] {});
    object.value().number += more.number;
}

void replace(Thread& self, Counted value, shared_w<Counted> object) {
    self.worker().compute({1e4, 0}, [] {});
    object.make(value.number);
    if (value.number == 37) throw std::runtime_error("the program's own");
}

void nest(Thread& self, Counted value, shared_wp<Counted> object) {
    const shared<Counted> own(self, Counted(3));
    for (int i = 0; i < 5; ++i) self.fork<change>(Counted(1), own);
    self.fork<replace>(value, object);
    self.fork<replace>(Counted(value.number + 1), object);
}

class Throws final : public DataflowProgram {
public:
    explicit Throws(bool in_group) : in_group_(in_group) {}
    void main(Thread& self) override {
        std::deque<shared<Counted>> objects;
        for (int i = 0; i < 8; ++i) objects.emplace_back(self, Counted(i));
        const auto forks = [&] {
            for (std::size_t i = 0; i < 40; ++i) {
                self.fork<nest>(Counted(static_cast<int>(i)), objects[i % 8]);
                self.fork<change>(Counted(1), objects[(i + 3) % 8]);
            }
        };
        if (!in_group_) return forks();
        const Placer deal = [&](const Recording& recording) {
            GroupPlacing placing;
            for (TaskIndex task = 0; task < recording.graph().tasks(); ++task) {
                placing.of_task.push_back({static_cast<NodeId>(task % 2), 0});
                placing.sequence.push_back(task);
            }
            return placing;
        };
        Group(self, deal, [&](GroupRecorder&) { forks(); }).run(5);
    }
    runtime::Answer answer() const override { return {}; }

private:
    bool in_group_;
};

void expect_nothing_is_left(bool in_group) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        inprocess::Options options;
        options.nodes = 2;
        options.cores = 2;
        options.seed = seed;
        {
            inprocess::InprocessBackend backend(options);
            const auto make = [&](NodeId) { return std::make_unique<Throws>(in_group); };
            EXPECT_THROW(runtime::Execution(backend, {}, make).run(), std::runtime_error);
        }
        ASSERT_EQ(Counted::live.exchange(0), 0) << "seed " << seed;
    }
}

TEST(DataflowUnwinding, ARunThatATaskEndsLeavesNoValue) {
    expect_nothing_is_left(false);
}

TEST(DataflowUnwinding, ARunThatATaskOfAGroupEndsLeavesNoValue) {
    expect_nothing_is_left(true);
}

}  // namespace
}  // namespace heddle::testing_unwinding
