// filament_fib: the n-th Fibonacci number as the HyFi paper defines it, with the base cases 1 and 2
// (Lowenthal, Subramanian, section 4.5). It is meant to be run with pruning. Below a cut-off the calls can be
// declared in place of being run, so that a simulation of fib(46) need not make 3.7 billion calls.
#include <fmt/format.h>

#include <utility>

#include "model/fork_join.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using model::Strand;

std::uint64_t sequential(std::uint32_t n) {
    return n <= 2 ? 1 : sequential(n - 1) + sequential(n - 2);
}

/// The same by the sum from below.
std::uint64_t known(std::uint32_t n) {
    std::uint64_t previous = 0, value = 1;
    for (std::uint32_t i = 1; i < n; ++i) previous = std::exchange(value, value + previous);
    return value;
}

/// How many calls the recursion makes, the first included: a tree with known(n) leaves.
std::uint64_t calls(std::uint32_t n) {
    return 2 * known(n) - 1;
}

struct FilamentFibSettings {
    std::uint32_t n;
    std::uint32_t cutoff;
    bool declares;  ///< below the cut-off nothing is computed
    double unit_cost;
};

struct FilamentFib {
    static constexpr auto name = "filament_fib";
    static constexpr std::uint64_t work_units = 1;
    static std::uint64_t run(Strand strand, std::uint32_t n) {
        if (n > 2) [[likely]] {
            strand.fork<FilamentFib>(n - 1);
            const auto second = strand.call<FilamentFib>(n - 2);
            return strand.join<FilamentFib>() + second;
        }
        return 1;
    }
};

/// The same, sequential from the cut-off down.
struct FilamentFibWithCutoff {
    static constexpr auto name = "filament_fib_with_cutoff";
    static const FilamentFibSettings& settings(Strand strand);
    static std::uint64_t run(Strand strand, std::uint32_t n) {
        const FilamentFibSettings& own = settings(strand);
        if (n < own.cutoff) {
            strand.work(calls(n));
            return own.declares ? known(n) : sequential(n);
        }
        strand.work();
        if (n <= 2) return 1;
        strand.fork<FilamentFibWithCutoff>(n - 1);
        const auto second = strand.call<FilamentFibWithCutoff>(n - 2);
        return strand.join<FilamentFibWithCutoff>() + second;
    }
};

class FilamentFibProgram final : public model::ForkJoinProgram {
public:
    explicit FilamentFibProgram(const FilamentFibSettings& settings) : settings_(settings) {}

    const FilamentFibSettings& settings() const { return settings_; }
    runtime::Work unit() const override { return {settings_.unit_cost, 0}; }
    void root(Strand strand) override {
        const std::uint32_t n = settings_.n;
        const auto value =
            settings_.cutoff == 0 ? strand.call<FilamentFib>(n) : strand.call<FilamentFibWithCutoff>(n);
        answer_ = {{"value", static_cast<double>(value)}};
    }
    runtime::Answer answer() const override { return answer_; }

private:
    const FilamentFibSettings& settings_;
    runtime::Answer answer_;
};

inline const FilamentFibSettings& FilamentFibWithCutoff::settings(Strand strand) {
    return strand.program<FilamentFibProgram>().settings();
}

class FilamentFibWorkload final : public Workload {
public:
    explicit FilamentFibWorkload(const Settings& settings)
        : settings_{settings.integer<std::uint32_t>("n"), settings.integer<std::uint32_t>("cutoff"),
                    settings.text("subtrees") == "declare", settings.number("unit_cost")} {
        if (settings_.declares && settings_.cutoff == 0) {
            throw Error("subtrees is declare, and cutoff is 0, so there are no sequential subtrees",
                        "state a cutoff, such as 20", settings.where("subtrees"));
        }
        if (settings_.declares && settings_.cutoff > settings_.n) {
            throw Error(fmt::format("subtrees is declare, and cutoff {} is above n {}: the whole program "
                                    "would be declared",
                                    settings_.cutoff, settings_.n),
                        "state a cutoff of at most n", settings.where("cutoff"));
        }
    }

    std::unique_ptr<runtime::Program> program(NodeId) const override {
        return std::make_unique<FilamentFibProgram>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        return judge(result.answer, {{"value", static_cast<double>(known(settings_.n))}},
                     settings_.declares ? "the sum from below; subtrees are declared" : "the sum from below");
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&model::TaskFunction<FilamentFib>::type, &model::TaskFunction<FilamentFibWithCutoff>::type};
    }

private:
    FilamentFibSettings settings_;
};

const Registration registration{
    {"filament_fib",
     "the n-th Fibonacci number by its recursion with base cases 1 and 2, meant for pruning",
     // fib(78) is the last that a double holds.
     {{"n", SettingKind::integer, "30", "which Fibonacci number", {}, 1, 78},
      {"cutoff", SettingKind::integer, "0", "sequential below this n; 0: never", {}, 0, 78},
      {"subtrees",
       SettingKind::choice,
       "run",
       "what is below the cut-off: run it, or only declare its cost and take its value from the sum from "
       "below",
       {"run", "declare"}},
      {"unit_cost",
       SettingKind::flops,
       "20f",
       "cost of one call where work is charged (20 flop: 2 ns at 10 Gf/s)",
       {},
       0,
       flops_max}},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<FilamentFibWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
