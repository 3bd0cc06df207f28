// The fork/join problems with Heddle:
//
//     heddle_fork_join fib|queens|queens_bytes|uts SIZE WORKERS [PROCESSES VICTIM]
//
// All but queens_bytes are the shipped workloads. Several processes are several nodes, connected by TCP, each
// of so many workers, that steal half by this policy. Prints the makespan, as `heddle run` does: from the
// start of the workers to the end of the last task.
#include "base/error.hpp"
#include "bench/native/outcome.hpp"
#include "bench/native/problems.hpp"
#include "model/fork_join.hpp"
#include "runtime/core/registered.hpp"
#include "runtime/native/launch.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"
#include "workloads/workload.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;

struct ByteQueens {
    static constexpr auto name = "bench.queens_bytes";
    static Found run(model::Strand strand, ByteBoard board) {
        if (board.full()) return {1, 1};
        int children = 0;
        board.places([&](const ByteBoard& next) {
            strand.fork<ByteQueens>(next);
            ++children;
        });
        Found found{0, 1};
        for (; children > 0; --children) found += strand.join<ByteQueens>();
        return found;
    }
};

class ByteQueensProgram final : public model::ForkJoinProgram {
public:
    explicit ByteQueensProgram(int n) : n_(n) {}
    void root(model::Strand strand) override {
        solutions_ = static_cast<double>(strand.call<ByteQueens>(ByteBoard::empty(n_)).solutions);
    }
    runtime::Answer answer() const override { return {{"solutions", solutions_}}; }

private:
    int n_;
    double solutions_ = 0;
};

struct Machine {
    CoreId workers = 1;
    runtime::Schedule schedule = {};
};

/// Workers as `heddle run` makes them.
runtime::RunResult run(const runtime::ProgramFactory& program, const Machine& machine) {
    native::NativeOptions options;
    options.cores = machine.workers;
    options.stack_bytes = machine.schedule.stack_bytes;
    options.membership = native::membership_from_environment();
    options.agreement.program = runtime::registered_functions();
    native::NativeBackend backend(options);
    return runtime::Execution(backend, machine.schedule, program).run();
}

runtime::RunResult run_shipped(const std::string& name, const std::string& key, const std::string& size,
                               const Machine& machine) {
    const auto& kind = workloads::find(name);
    Settings settings(kind.settings);
    settings.set(key, size);
    const auto workload = kind.make(settings);
    auto result = run([&](NodeId node) { return workload->program(node); }, machine);
    if (!result.complete) return result;  // node 0 has it
    const auto verdict = workload->check(result);
    if (verdict.kind == workloads::Verdict::Kind::wrong) throw Error("wrong answer: " + verdict.reason);
    return result;
}

runtime::RunResult solve(const std::string& kind, const std::string& size, const Machine& machine) {
    if (kind == "fib") return run_shipped("fib", "n", size, machine);
    if (kind == "queens") return run_shipped("nqueens", "n", size, machine);
    if (kind == "uts") return run_shipped("uts", "tree", size, machine);
    return run([&](NodeId) { return std::make_unique<ByteQueensProgram>(std::stoi(size)); }, machine);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4 && argc != 6) {
        std::fprintf(stderr, "usage: %s fib|queens|queens_bytes|uts SIZE WORKERS [PROCESSES VICTIM]\n",
                     argv[0]);
        return 2;
    }
    try {
        Machine machine{.workers = static_cast<CoreId>(std::stoul(argv[3]))};
        if (argc == 6) {
            machine.schedule.stealing.victim = argv[5];
            machine.schedule.stealing.amount = runtime::Stealing::Amount::half;
            if (!native::membership_from_environment()) {
                native::LaunchOptions launch;
                launch.nodes = static_cast<NodeId>(std::stoul(argv[4]));
                launch.argv.assign(argv, argv + argc);
                return native::launch_here(launch);
            }
        }
        const double before = peak_mb(), cpu_start = cpu_seconds();
        const auto result = solve(argv[1], argv[2], machine);
        if (!result.complete) return 0;
        Outcome()
            .add("seconds", to_seconds(result.makespan))
            .add("cpu_seconds", cpu_seconds() - cpu_start)
            .add("value", result.answer.at(0).value)
            .add("peak_mb", peak_mb())
            .add("peak_mb_before", before)
            .add("tasks", static_cast<double>(result.total.tasks))
            .add("steals", static_cast<double>(result.total.steals_within_node))
            .print();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
    return 0;
}
