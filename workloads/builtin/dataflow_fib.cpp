// dataflow_fib: the n-th Fibonacci number as the KAAPI paper writes it (Gautier, Besseron, Pigeon, PASCO
// 2007, Figure 1): two calls and a sum are forked. A task does almost nothing, so the cost of closures and
// accesses is measured.
#include <utility>

#include "model/dataflow.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;

using Number = std::uint64_t;

Number fib_sequential(std::uint32_t n) {
    return n < 2 ? n : fib_sequential(n - 1) + fib_sequential(n - 2);
}

/// How many calls of `fibonacci` compute the n-th number, the first included. Those below `cutoff` count if
/// they are calls of `fib_sequential`.
Number calls(std::uint32_t n, std::uint32_t cutoff) {
    Number smaller = 1, larger = 1;
    for (std::uint32_t i = 1; i < n; ++i)
        smaller = std::exchange(larger, i + 1 < cutoff ? 1 : larger + smaller + 1);
    return larger;
}

void sum(Thread& /*self*/, shared_r<Number> res1, shared_r<Number> res2, shared_w<Number> res) {
    res = res1 + res2;
}

void fibonacci(Thread& self, std::uint32_t n, shared_w<Number> res) {
    self.work();
    if (n < 2) {
        res = n;
    } else {
        shared<Number> res1(self);
        shared<Number> res2(self);
        self.fork<fibonacci>(n - 1, res1);
        self.fork<fibonacci>(n - 2, res2);
        self.fork<sum>(res1, res2, res);
    }
}

/// The same, sequential from `cutoff` down.
void fibonacci_with_cutoff(Thread& self, std::uint32_t n, std::uint32_t cutoff, shared_w<Number> res) {
    if (n < cutoff) {
        self.work(calls(n, 0));
        res = fib_sequential(n);
    } else if (n < 2) {
        self.work();
        res = n;
    } else {
        self.work();
        shared<Number> res1(self);
        shared<Number> res2(self);
        self.fork<fibonacci_with_cutoff>(n - 1, cutoff, res1);
        self.fork<fibonacci_with_cutoff>(n - 2, cutoff, res2);
        self.fork<sum>(res1, res2, res);
    }
}

struct FibSettings {
    std::uint32_t n;
    std::uint32_t cutoff;
    double unit_cost;
};

class DataflowFib final : public DataflowProgram {
public:
    explicit DataflowFib(const FibSettings& settings) : settings_(settings) {}

    runtime::Work unit() const override { return {settings_.unit_cost, 0}; }

    void main(Thread& self) override {
        shared<Number> res(self);
        if (settings_.cutoff == 0) {
            self.fork<fibonacci>(settings_.n, res);
        } else {
            self.fork<fibonacci_with_cutoff>(settings_.n, settings_.cutoff, res);
        }
        self.sync();
        answer_ = {{"value", static_cast<double>(res.read())}};
    }

    runtime::Answer answer() const override { return answer_; }

private:
    FibSettings settings_;
    runtime::Answer answer_;
};

class DataflowFibWorkload final : public Workload {
public:
    explicit DataflowFibWorkload(const Settings& settings)
        : settings_{settings.integer<std::uint32_t>("n"), settings.integer<std::uint32_t>("cutoff"),
                    settings.number("unit_cost")} {}

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<DataflowFib>(settings_);
    }

    /// Each call that is no leaf forks three closures.
    Verdict check(const runtime::RunResult& result) const override {
        Number previous = 1, expected = 0;
        for (std::uint32_t i = 0; i < settings_.n; ++i) expected += std::exchange(previous, expected);
        const Number tasks = calls(settings_.n, std::max(settings_.cutoff, 2U));
        return judge(result.answer,
                     {{"value", static_cast<double>(expected)},
                      {"closures", static_cast<double>(1 + (tasks - 1) / 2 * 3)}},
                     "the sum from below");
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&Task<fibonacci>::travelling, &Task<fibonacci_with_cutoff>::travelling,
                &Task<sum>::travelling};
    }

private:
    FibSettings settings_;
};

const Registration registration{
    {"dataflow_fib",
     "the n-th Fibonacci number by dataflow: two calls and a sum are forked each time",
     {{"n", SettingKind::integer, "25", "which Fibonacci number", {}, 0, 70},
      {"cutoff", SettingKind::integer, "0", "sequential below this n; 0: never", {}, 0, 71},
      {"unit_cost",
       SettingKind::flops,
       "20f",
       "cost of one call where work is charged (20 flop: 2 ns at 10 Gf/s)",
       {},
       0,
       flops_max}},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<DataflowFibWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
