// Measures collective calls of data-parallel programs with two ranks. The ranks are two processes, which are
// started as `heddle launch` starts them, or two threads of one process. The threads are ranks with arrays of
// their own (`threads`), or share one array (`shared`).
//
//     heddle_collectives processes|threads|shared barrier|value|all_reduce|all_to_all BYTES COUNT
//     [auto|block|poll] [memory|unix|tcp]
//
// value: all_reduce_value of one number of each thread. BYTES: of a rank's array (all_reduce), or of all
// blocks that a rank sends (all_to_all). Prints the mean time of a call, and checks the last one's result.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "bench/native/outcome.hpp"
#include "bench/native/process_options.hpp"
#include "model/spmd.hpp"
#include "runtime/run/execution.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using spmd::Spmd;

struct Call {
    std::string_view operation;
    std::size_t bytes;
    long count;
};

class Collectives final : public spmd::SpmdProgram {
public:
    Collectives(const Call& call, spmd::SpmdOptions options) : SpmdProgram(std::move(options)), call_(call) {}
    runtime::Answer answer() const override { return {}; }

private:
    void main(Spmd& self) override {
        const auto number = self.node() * self.num_of_thread() + self.thread_rank();
        std::vector<double> in(call_.bytes / sizeof(double), number + 1.0);
        std::vector<double> out(in.size());
        make(self, in, out);  // the first call pays for memory
        self.barrier();
        const double begin = seconds_now();
        for (long i = 0; i < call_.count; ++i) make(self, in, out);
        const double seconds = seconds_now() - begin;
        if (!is_right(out)) throw Error("a wrong result");
        if (number != 0) return;
        Outcome()
            .add("seconds", seconds)
            .add("call_us", seconds / static_cast<double>(call_.count) * 1e6)
            .print();
    }

    void make(Spmd& self, const std::vector<double>& in, std::vector<double>& out) const {
        if (call_.operation == "barrier") return self.barrier();
        if (call_.operation == "value") {
            out[0] = self.all_reduce_value(std::plus<double>(), in[0]);
            return;
        }
        if (call_.operation == "all_reduce") return self.all_reduce(std::plus<double>(), in, out);
        self.all_to_all(in, out);
    }

    bool is_right(const std::vector<double>& out) const {
        if (call_.operation == "barrier") return true;
        if (call_.operation == "value") return out[0] == 3.0;
        const bool sum = call_.operation == "all_reduce";
        for (std::size_t i = 0; i < out.size(); ++i)
            if (out[i] != (sum ? 3.0 : i < out.size() / 2 ? 1.0 : 2.0)) return false;
        return true;
    }

    Call call_;
};

void run(native::NativeOptions options, const Call& call, spmd::SpmdOptions::Ranks ranks) {
    native::NativeBackend backend(options);
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    spmd::SpmdOptions spmd;
    spmd.ranks = ranks;
    // As Open MPI does.
    for (const spmd::Operation operation : {spmd::Operation::all_reduce, spmd::Operation::all_to_all})
        spmd.algorithms[operation] = spmd::automatic;
    runtime::Execution(backend, schedule, [&](NodeId) {
        return std::make_unique<Collectives>(call, spmd);
    }).run();
}

}  // namespace

int main(int argc, char** argv) {
    const auto is_one_of = [](std::string_view word, std::initializer_list<std::string_view> words) {
        return std::ranges::find(words, word) != words.end();
    };
    const std::string_view how = argc > 5 ? argv[5] : "auto";
    const std::string_view local = argc > 6 ? argv[6] : "memory";
    if (argc < 5 || argc > 7 || !is_one_of(argv[1], {"processes", "threads", "shared"}) ||
        !is_one_of(argv[2], {"barrier", "value", "all_reduce", "all_to_all"}) ||
        !is_one_of(how, {"auto", "block", "poll"}) || !is_one_of(local, {"memory", "unix", "tcp"})) {
        std::fprintf(stderr,
                     "usage: %s processes|threads|shared barrier|value|all_reduce|all_to_all BYTES COUNT "
                     "[auto|block|poll] "
                     "[memory|unix|tcp]\n",
                     argv[0]);
        return 2;
    }
    try {
        const Call call{argv[2], std::stoul(argv[3]), std::stol(argv[4])};
        const std::string_view who = argv[1];
        if (who == "shared" && call.operation != "barrier" && call.operation != "value")
            throw Error("threads that share their arrays have nothing to exchange");
        if (who != "processes") {
            using Ranks = spmd::SpmdOptions::Ranks;
            native::NativeOptions options;
            options.cores = 2;
            run(options, call, who == "threads" ? Ranks::threads : Ranks::nodes);
        } else if (!native::membership_from_environment()) {
            native::LaunchOptions launch;
            launch.nodes = 2;
            launch.argv.assign(argv, argv + argc);
            return native::launch_here(launch);
        } else {
            run(process_options(how, local), call, spmd::SpmdOptions::Ranks::nodes);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
    return 0;
}
