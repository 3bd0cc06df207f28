// Measures what Heddle's workers do when there is nothing to do:
//
//     heddle_idle cpu WORKERS NODES
//     heddle_idle wake WORKERS COUNT
//
// cpu: the processor time of all workers together, in cores, for one second that begins 100 ms after the last
// task. wake: the time from a fork until another worker begins the task. The pause before each fork is long
// enough for all workers to sleep.
//
// With several nodes, each is a process. The first worker of node 0 sleeps in its task and takes no
// processor time either.
#include <atomic>
#include <memory>
#include <thread>

#include "base/error.hpp"
#include "bench/native/outcome.hpp"
#include "model/fork_join.hpp"
#include "runtime/core/registered.hpp"
#include "runtime/native/launch.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using namespace std::chrono_literals;

class CpuProgram final : public model::ForkJoinProgram {
public:
    void begin(runtime::Worker& worker) override {
        if (worker.id.core == 0) sampler_ = std::thread([this] { sample(); });
        ForkJoinProgram::begin(worker);
    }
    void root(model::Strand) override { std::this_thread::sleep_for(1300ms); }
    runtime::Answer answer() const override {
        return {{"cores", cores_}, {"most", cores_, runtime::AnswerValue::Combine::max}};
    }
    ~CpuProgram() override {
        if (sampler_.joinable()) sampler_.join();
    }

private:
    void sample() {
        std::this_thread::sleep_for(100ms);
        const double cpu = cpu_seconds(), start = seconds_now();
        std::this_thread::sleep_for(1s);
        cores_ = (cpu_seconds() - cpu) / (seconds_now() - start);
    }
    std::atomic<double> cores_{0};
    std::thread sampler_;
};

std::atomic<double> woken_at{0};

struct Woken {
    static constexpr auto name = "bench.woken";
    static bool run(model::Strand strand, CoreId from) {
        woken_at.store(seconds_now(), std::memory_order_release);
        return strand.worker().id.core != from;
    }
};

class WakeProgram final : public model::ForkJoinProgram {
public:
    explicit WakeProgram(int count) : count_(count) {}
    void root(model::Strand strand) override {
        for (int i = 0; i < count_; ++i) {
            std::this_thread::sleep_for(5ms);
            woken_at.store(0);
            const double start = seconds_now();
            strand.fork<Woken>(strand.worker().id.core);
            while (woken_at.load(std::memory_order_acquire) == 0 && seconds_now() - start < 0.02) {
            }
            if (strand.join<Woken>()) {
                delays.push_back(woken_at.load() - start);
            } else {
                ++missed;
            }
        }
    }
    runtime::Answer answer() const override { return {}; }

    static inline std::vector<double> delays;
    static inline int missed = 0;

private:
    int count_;
};

runtime::RunResult run(CoreId workers, const runtime::ProgramFactory& program) {
    native::NativeOptions options;
    options.cores = workers;
    options.membership = native::membership_from_environment();
    options.agreement.program = runtime::registered_functions();
    native::NativeBackend backend(options);
    return runtime::Execution(backend, {}, program).run();
}

void measure_cpu(CoreId workers) {
    const auto result = run(workers, [](NodeId) { return std::make_unique<CpuProgram>(); });
    if (result.complete)
        Outcome().add("cores", result.answer.at(0).value).add("most", result.answer.at(1).value).print();
}

void measure_wake(CoreId workers, int count) {
    run(workers, [count](NodeId) { return std::make_unique<WakeProgram>(count); });
    Outcome()
        .add("median_us", quantile(WakeProgram::delays, 0.5) * 1e6)
        .add("p90_us", quantile(WakeProgram::delays, 0.9) * 1e6)
        .add("p99_us", quantile(WakeProgram::delays, 0.99) * 1e6)
        .add("missed", WakeProgram::missed)
        .print();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s cpu WORKERS NODES | wake WORKERS COUNT\n", argv[0]);
        return 2;
    }
    try {
        const auto workers = static_cast<CoreId>(std::stoul(argv[2]));
        const auto number = std::stoul(argv[3]);
        if (std::string_view(argv[1]) == "wake") {
            measure_wake(workers, static_cast<int>(number));
        } else if (number > 1 && !native::membership_from_environment()) {
            native::LaunchOptions launch;
            launch.nodes = static_cast<NodeId>(number);
            launch.argv.assign(argv, argv + argc);
            return native::launch_here(launch);
        } else {
            measure_cpu(workers);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
    return 0;
}
