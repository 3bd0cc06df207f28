// Measures dataflow tasks on one node. Usage:
//
//     heddle_dataflow calls N | fib N WORKERS | tasks COUNT OBJECTS WORKERS
//                     plain N | loop N WORKERS | group COUNT OBJECTS WORKERS ITERATIONS
//
// `calls` and `fib` run Figure 1 of the KAAPI paper as plain calls and as forks. `tasks` runs empty tasks,
// each of which reads one object and changes the one before. `group` runs the same tasks as a recorded group.
// Its `first_seconds` is the time of recording, placing and the first iteration, `seconds` that of a later
// one. `plain` and `loop` sum N terms in a plain and in an adaptive loop. Prints the time from the first fork
// to the end of the last task, and a value that the peers must print too.
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/native/dataflow_main.hpp"
#include "bench/native/outcome.hpp"
#include "model/dataflow/adaptive.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using namespace heddle::dataflow;

struct Measured {
    double seconds = 0;
    double cpu = 0;
    double value = 0;
    double first = 0;  ///< seconds
};

// --- Figure 1

/// Each call is one: the compiler must not unfold the recursion.
[[gnu::noipa, gnu::optimize("O1")]] long fib_of_calls(int n) {
    return n < 2 ? n : fib_of_calls(n - 1) + fib_of_calls(n - 2);
}

void sum(Thread& /*self*/, shared_r<long> a, shared_r<long> b, shared_w<long> result) {
    result = a + b;
}

void fibonacci(Thread& self, int n, shared_w<long> result) {
    if (n < 2) {
        result = n;
        return;
    }
    shared<long> a(self);
    shared<long> b(self);
    self.fork<fibonacci>(n - 1, a);
    self.fork<fibonacci>(n - 2, b);
    self.fork<sum>(a, b, result);
}

Measured calls(int n) {
    Measured measured;
    {
        const Clock clock(measured);
        measured.value = static_cast<double>(fib_of_calls(n));
    }
    return measured;
}

Measured fib(int n, int workers) {
    Measured measured;
    run(workers, [&](Thread& self) {
        shared<long> result(self);
        {
            const Clock clock(measured);
            self.fork<fibonacci>(n, result);
            self.sync();
        }
        measured.value = static_cast<double>(result.read());
    });
    return measured;
}

// --- empty tasks

void empty(Thread& /*self*/, shared_r<long> /*from*/, shared_rw<long> into) {
    ++into.value();
}

void fork_empty(Thread& self, long count, const std::vector<shared<long>>& all) {
    for (std::size_t i = 0, task = 0; task < static_cast<std::size_t>(count); ++task) {
        const std::size_t next = i + 1 == all.size() ? 0 : i + 1;
        self.fork<empty>(all[next], all[i]);
        i = next;
    }
}

Measured tasks(long count, std::size_t objects, int workers) {
    Measured measured;
    run(workers, [&](Thread& self) {
        std::vector<shared<long>> all;
        for (std::size_t i = 0; i < objects; ++i) all.emplace_back(self, 0L);
        {
            const Clock clock(measured);
            fork_empty(self, count, all);
            self.sync();
        }
        for (const auto& object : all) measured.value += static_cast<double>(object.read());
    });
    return measured;
}

/// Runs of neighbouring tasks, one for each worker, in the order of the forks.
GroupPlacing place_in_runs(const Recording& recording, int workers) {
    GroupPlacing placing;
    const std::uint64_t tasks = recording.tasks().size();
    for (std::uint64_t task = 0; task < tasks; ++task) {
        placing.of_task.push_back(
            {0, static_cast<CoreId>(task * static_cast<std::uint64_t>(workers) / tasks)});
        placing.sequence.push_back(static_cast<TaskIndex>(task));
    }
    return placing;
}

Measured group(long count, std::size_t objects, int workers, std::uint32_t iterations) {
    Measured measured;
    run(workers, [&](Thread& self) {
        std::vector<shared<long>> all;
        for (std::size_t i = 0; i < objects; ++i) all.emplace_back(self, 0L);
        const double begin = seconds_now();
        Group made(
            self, [&](const Recording& recording) { return place_in_runs(recording, workers); },
            [&](GroupRecorder&) { fork_empty(self, count, all); });
        made.run();
        measured.first = seconds_now() - begin;
        {
            const Clock clock(measured);
            made.run(iterations);
        }
        measured.seconds /= iterations;
        made.home();
        for (const auto& object : all) measured.value += static_cast<double>(object.read());
    });
    return measured;
}

// --- a loop

double terms(std::int64_t begin, std::int64_t end) {
    double all = 0;
    for (std::int64_t i = begin; i < end; ++i) all += std::sqrt(static_cast<double>(i));
    return all;
}

Measured plain(std::int64_t n) {
    Measured measured;
    {
        const Clock clock(measured);
        measured.value = std::round(terms(0, n) / 1e3);
    }
    return measured;
}

Measured loop(std::int64_t n, int workers) {
    native::NativeOptions options;
    options.cores = static_cast<CoreId>(workers);
    native::NativeBackend backend(options);
    Measured measured;
    const auto body = [&](runtime::Strand& strand) {
        const Clock clock(measured);
        measured.value =
            std::round(adaptive_accumulate(strand, 0, n, 4096, 0.0, terms, std::plus<double>()) / 1e3);
    };
    class OneStrand final : public runtime::Program {
    public:
        explicit OneStrand(std::function<void(runtime::Strand&)> code) : code_(std::move(code)) {}
        void begin(runtime::Worker& worker) override {
            if (worker.id.core == 0) runtime::Strand::start(worker, code_);
        }
        runtime::Answer answer() const override { return {}; }

    private:
        std::function<void(runtime::Strand&)> code_;
    };
    runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<OneStrand>(body); }).run();
    return measured;
}

Measured measure(const std::string& what, const std::vector<long>& numbers) {
    const auto number = [&](std::size_t i) { return static_cast<int>(numbers.at(i)); };
    if (what == "calls") return calls(number(0));
    if (what == "fib") return fib(number(0), number(1));
    if (what == "tasks") return tasks(numbers.at(0), static_cast<std::size_t>(numbers.at(1)), number(2));
    if (what == "group")
        return group(numbers.at(0), static_cast<std::size_t>(numbers.at(1)), number(2),
                     static_cast<std::uint32_t>(numbers.at(3)));
    if (what == "plain") return plain(numbers.at(0));
    if (what == "loop") return loop(numbers.at(0), number(1));
    throw std::out_of_range(what);
}

}  // namespace

int main(int count, char** words) {
    try {
        std::vector<long> numbers;
        for (int i = 2; i < count; ++i) numbers.push_back(std::stol(words[i]));
        const Measured measured = measure(count > 1 ? words[1] : "", numbers);
        Outcome()
            .add("seconds", measured.seconds)
            .add("cpu_seconds", measured.cpu)
            .add("first_seconds", measured.first)
            .add("value", measured.value)
            .add("peak_mb", peak_mb())
            .print();
    } catch (const std::logic_error&) {
        std::fprintf(
            stderr,
            "usage: heddle_dataflow calls N | fib N WORKERS | tasks COUNT OBJECTS WORKERS | plain N | "
            "loop N WORKERS | group COUNT OBJECTS WORKERS ITERATIONS\n");
        return 2;
    }
}
