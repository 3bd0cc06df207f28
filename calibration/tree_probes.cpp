// The micro-benchmark of forks and joins as recursion makes them: a tree of tasks, less the same calls
// without tasks. The compiler unrolls both as it does recursions in programs, because this file is compiled
// alone: in one with others it stops sooner.
#include <utility>

#include "calibration/probe.hpp"
#include "model/fork_join.hpp"

namespace heddle::calibration {

namespace {

using runtime::Worker;

/// Its two branches differ, or else the compiler would take one of the calls for both.
struct Tree {
    static constexpr auto name = "calibration.tree";
    static std::uint64_t run(model::Strand strand, std::uint32_t height) {
        if (height > 1) [[likely]] {
            strand.fork<Tree>(height - 1);
            const auto second = strand.call<Tree>(height - 2);
            return strand.join<Tree>() + second;
        }
        return 1;
    }
};

std::uint64_t leaves_below(std::uint32_t height) {
    return height > 1 ? leaves_below(height - 1) + leaves_below(height - 2) : 1;
}
/// A recursion that may not be made part of its caller is not unrolled either: so this is apart.
[[gnu::noinline]] std::uint64_t leaves(std::uint32_t height) {
    return leaves_below(height);
}

/// Reads the time of a tree, less that of the same calls.
class TreeProgram final : public ProbeProgram {
public:
    TreeProgram(const Effort& effort, const char* quantity, std::uint64_t tasks_about)
        : ProbeProgram(effort), quantity_(quantity), tasks_about_(tasks_about) {}

    void begin(Worker& worker) override {
        // A tree has one leaf more than it has forks.
        std::uint32_t leaves_before = 1, leaves_here = 1, high = 1;
        for (; leaves_here <= effort_.operations(tasks_about_); ++high)
            leaves_before = std::exchange(leaves_here, leaves_here + leaves_before);
        volatile std::uint32_t height = high;
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
            const double calls = seconds_of(worker, [&] { return leaves(height); });
            const double tasks = seconds_of(worker, [&] { return model::Strand(worker).call<Tree>(height); });
            add({quantity_, 0, static_cast<double>(leaves_here - 1), tasks - calls});
        }
    }

private:
    template <class Code>
    double seconds_of(Worker& worker, const Code& code) {
        settle(worker);
        const double begin = seconds_now(worker);
        sum_ += code();
        settle(worker);
        return seconds_now(worker) - begin;
    }

    const char* quantity_;
    std::uint64_t tasks_about_;
    std::uint64_t sum_ = 0;
};

Probe trees(const char* name, const char* what, const Effort& effort, const char* quantity,
            std::uint64_t tasks_about) {
    return {name, what, 1, 1, quiet_schedule(), [=](NodeId) {
                return std::make_unique<TreeProgram>(effort, quantity, tasks_about);
            }};
}

}  // namespace

Probe tree_probe(const Effort& effort) {
    return trees("trees", "forks and joins in trees of tasks", effort, "fork_join", 60'000);
}

/// Forks that are shown to thieves at once.
Probe shared_tree_probe(const Effort& effort) {
    Probe probe =
        trees("shared trees", "forks that are shown to thieves at once", effort, "shared_fork_join", 20'000);
    // More than a tree ever has waiting.
    probe.schedule.pruning = {runtime::Pruning::Policy::queue_length, 1000};
    return probe;
}

}  // namespace heddle::calibration
