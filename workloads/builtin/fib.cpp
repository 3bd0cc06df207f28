// fib: the n-th Fibonacci number by its recursion, with a fork and a call each time. A task does almost
// nothing, so the scheduler is measured. EARTH (Tremblay et al.) and KAAPI (Gautier et al.) used it.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "model/fork_join.hpp"
#include "workloads/unrolled.hpp"
#include "workloads/work_kinds.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using model::Strand;

std::uint64_t fib_recursive(std::uint32_t n) {
    return n < 2 ? n : fib_recursive(n - 1) + fib_recursive(n - 2);
}
/// Not inlined: so its kernel is the code that tasks call.
[[gnu::noinline]] std::uint64_t fib_sequential(std::uint32_t n) {
    return fib_recursive(n);
}

/// How many calls the recursion makes, the first included.
std::uint64_t calls(std::uint32_t n) {
    std::uint64_t smaller = 1, larger = 1;
    for (std::uint32_t i = 1; i < n; ++i) smaller = std::exchange(larger, larger + smaller + 1);
    return larger;
}

struct Fib {
    static constexpr auto name = "fib";
    static constexpr std::uint64_t work_units = 1;
    static std::uint64_t run(Strand strand, std::uint32_t n) {
        // This way round the compiler does not save registers before it has looked whether there is work to
        // share.
        if (n >= 2) [[likely]] {
            strand.fork<Fib>(n - 1);
            const auto second = strand.call<Fib>(n - 2);
            return strand.join<Fib>() + second;
        }
        return n;
    }
};

/// The same, sequential from `cutoff` down.
struct FibWithCutoff {
    static constexpr auto name = "fib_with_cutoff";
    static std::uint64_t run(Strand strand, std::uint32_t n, std::uint32_t cutoff) {
        if (n < cutoff) {
            strand.work(calls(n));
            return fib_sequential(n);
        }
        strand.work();
        if (n < 2) return n;
        strand.fork<FibWithCutoff>(n - 1, cutoff);
        const auto second = strand.call<FibWithCutoff>(n - 2, cutoff);
        return strand.join<FibWithCutoff>() + second;
    }
};

struct FibSettings {
    std::uint32_t n;
    std::uint32_t cutoff;
    double unit_cost;
};

std::uint64_t fib_from(Strand strand, std::uint32_t n, const FibSettings& settings) {
    return settings.cutoff == 0 ? strand.call<Fib>(n) : strand.call<FibWithCutoff>(n, settings.cutoff);
}

/// The calls as a tree: its weights are known exactly.
struct FibTree {
    struct Arguments {
        std::uint32_t n;
    };
    using Count = std::uint64_t;

    FibSettings settings;

    Arguments root() const { return {settings.n}; }
    void children(const Arguments& call, std::vector<Arguments>& into) const {
        if (call.n < 2 || call.n < settings.cutoff) return;
        into.push_back({call.n - 1});
        into.push_back({call.n - 2});
    }
    double weight(const Arguments& call) const { return static_cast<double>(calls(call.n)); }
    Count visit(const Arguments&) const { return 0; }
    Count run(Strand strand, const Arguments& call) const { return fib_from(strand, call.n, settings); }
    runtime::Answer answer(Count value) const { return {{"value", static_cast<double>(value)}}; }
    std::size_t argument_bytes() const {
        return settings.cutoff == 0 ? model::TaskFunction<Fib>::type.arguments_bytes()
                                    : model::TaskFunction<FibWithCutoff>::type.arguments_bytes();
    }
    double unit_flops() const { return settings.unit_cost; }
};

class FibProgram final : public model::ForkJoinProgram {
public:
    explicit FibProgram(const FibSettings& settings) : settings_(settings) {}

    runtime::Work unit() const override { return {settings_.unit_cost, 0}; }
    void root(Strand strand) override {
        answer_ = {{"value", static_cast<double>(fib_from(strand, settings_.n, settings_))}};
    }
    runtime::Answer answer() const override { return answer_; }

private:
    FibSettings settings_;
    runtime::Answer answer_;
};

class FibWorkload final : public Workload {
public:
    explicit FibWorkload(const Settings& settings)
        : stated_(settings),
          settings_{settings.integer<std::uint32_t>("n"), settings.integer<std::uint32_t>("cutoff"),
                    settings.number("unit_cost")} {}

    void prepare(const ClusterView& cluster, const runtime::Schedule& schedule) override {
        unrolled_ = unroll(FibTree{settings_}, stated_, cluster, schedule);
    }

    Forecast forecast() const override { return unrolled_ ? unrolled_->forecast() : Forecast{}; }

    std::optional<TaskLabel> label(std::uint64_t task) const override {
        return unrolled_ ? label_of(unrolled_->plan(), task, "fib") : std::nullopt;
    }

    std::unique_ptr<runtime::Program> program(NodeId node) const override {
        if (unrolled_) return std::make_unique<UnrolledProgram<FibTree>>(*unrolled_, node);
        return std::make_unique<FibProgram>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const runtime::Answer& answer = result.answer;
        std::uint64_t previous = 1, expected = 0;
        for (std::uint32_t i = 0; i < settings_.n; ++i) expected += std::exchange(previous, expected);
        return judge(answer, {{"value", static_cast<double>(expected)}}, "the sum from below");
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&model::TaskFunction<Fib>::type, &model::TaskFunction<FibWithCutoff>::type};
    }

private:
    Settings stated_;
    FibSettings settings_;
    std::unique_ptr<const Unrolled<FibTree>> unrolled_;
};

/// The calls in which a tree of tasks ends at a cutoff: of the two numbers below it, the larger one as many
/// times as the golden ratio, and in the tree's order. How the compiler has unrolled the recursion, and what
/// the processor foresees, makes calls of large numbers up to 1.5 times as long as those of small ones.
class CallsKernel {
public:
    static Kernel::Sample sample(std::uint32_t cutoff) {
        return {static_cast<double>(cutoff), [cutoff] {
                    CallsKernel kernel(cutoff);
                    return Kernel::Code{20 * kernel.calls_, std::move(kernel)};
                }};
    }

    void operator()() const {
        for (const std::uint32_t number : numbers_) {
            volatile std::uint32_t n = number;
            [[maybe_unused]] volatile std::uint64_t value = fib_sequential(n);
        }
    }

private:
    explicit CallsKernel(std::uint32_t cutoff) {
        constexpr double calls_min = 100'000;
        double position = 0;
        while (calls_ < calls_min || numbers_.size() < 3) {
            const double next = position + 1 / std::numbers::phi;
            const bool larger = std::floor(next) > std::floor(position);
            numbers_.push_back(cutoff - (larger ? 1 : 2));
            calls_ += static_cast<double>(calls(numbers_.back()));
            position = next;
        }
    }

    std::vector<std::uint32_t> numbers_;
    double calls_ = 0;
};

const KernelRegistration kernel{{"fib.call",
                                 {CallsKernel::sample(10), CallsKernel::sample(14), CallsKernel::sample(18),
                                  CallsKernel::sample(22), CallsKernel::sample(26), CallsKernel::sample(30)}},
                                {"fib", "dataflow_fib", "filament_fib"},
                                "cutoff"};

const Registration registration{
    {"fib",
     "the n-th Fibonacci number by its recursion: nothing but forks and joins",
     // fib(78) is the last that a double holds.
     {{"n", SettingKind::integer, "30", "which Fibonacci number", {}, 0, 78},
      {"cutoff", SettingKind::integer, "0", "sequential below this n; 0: never", {}, 0, 79},
      {"unit_cost",
       SettingKind::flops,
       "20f",
       "cost of one call where work is charged (20 flop: 2 ns at 10 Gf/s)",
       {},
       0,
       flops_max},
      UnrollLimits::setting()},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<FibWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
