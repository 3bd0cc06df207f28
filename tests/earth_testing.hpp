// For tests: runs small EARTH programs on the in-process backend, where a seed decides which worker goes
// first, and on real threads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/earth.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"

namespace heddle::test {

using namespace model::earth;

/// What the threads of all nodes of a test have noted. They live in one process.
struct Notes {
    std::atomic<std::int64_t> total{0};
    runtime::SpinLock lock;
    std::vector<std::int64_t> values;

    void add(std::int64_t value) {
        const runtime::SpinLock::Guard guard(lock);
        values.push_back(value);
    }
};

class TestProgram final : public Program {
public:
    TestProgram(Notes& shared, std::function<void(Em)> start, bool checked)
        : Program(checked), notes(shared), start_(std::move(start)) {}

    void main(Em em) override { start_(em); }
    runtime::Answer answer() const override {
        return {{"unterminated", static_cast<double>(unterminated())}};
    }

    Notes& notes;

private:
    std::function<void(Em)> start_;
};

inline Notes& notes(Em em) {
    return em.program<TestProgram>().notes;
}

struct World {
    NodeId nodes = 1;
    CoreId cores = 1;
    std::uint64_t seed = 1;
    std::string victim = "random";
    bool checked = false;
    runtime::TokenQueues token_queue = runtime::TokenQueues::worker;
};

inline runtime::RunResult run_on(runtime::Backend& backend, const World& world, Notes& shared,
                                 const std::function<void(Em)>& start) {
    runtime::Schedule schedule;
    schedule.seed = world.seed;
    schedule.stealing.victim = world.victim;
    schedule.token_queue = world.token_queue;
    runtime::Execution execution(backend, schedule, [&](NodeId) {
        return std::make_unique<TestProgram>(shared, start, world.checked);
    });
    return execution.run();
}

inline runtime::RunResult run(const World& world, Notes& shared, const std::function<void(Em)>& start) {
    inprocess::InprocessBackend backend({world.nodes, world.cores, world.seed});
    return run_on(backend, world, shared, start);
}

inline runtime::RunResult run_natively(const World& world, Notes& shared,
                                       const std::function<void(Em)>& start) {
    native::NativeOptions options;
    options.cores = world.cores;
    native::NativeBackend backend(options);
    return run_on(backend, world, shared, start);
}
inline runtime::RunResult run_natively(CoreId workers, Notes& shared, const std::function<void(Em)>& start) {
    return run_natively({1, workers}, shared, start);
}

/// Threads that were not terminated.
inline double unterminated(const runtime::RunResult& result) {
    return result.answer.at(0).value;
}

/// What the Error says that the run ends with; empty where there is none.
inline std::string error_of(const World& world, const std::function<void(Em)>& start) {
    Notes shared;
    try {
        run(world, shared, start);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

struct CountParameters {
    std::int64_t depth;
    Sptr done;
};

/// A tree of tokens with three children each, whose leaves count themselves in Notes::total.
struct CountTree : Threaded<CountTree, CountParameters> {
    void init(Em em) {
        if (depth == 0) {
            ++notes(em).total;
            em.sync(done);
            return em.terminate();
        }
        for (int i = 0; i < 3; ++i) em.token<CountTree>(depth - 1, em.to_sptr(all));
    }
    void end(Em em) {
        em.sync(done);
        em.terminate();
    }
    Fiber<&CountTree::end> all{*this, 3};
};

/// Its root: 6,561 leaves.
struct CountTreeMain : Threaded<CountTreeMain> {
    void init(Em em) { em.token<CountTree>(8, em.to_sptr(done)); }
    void end(Em em) { em.terminate(); }
    Fiber<&CountTreeMain::end> done{*this, 1};
};
inline constexpr std::int64_t count_tree_leaves = 6561;

}  // namespace heddle::test
