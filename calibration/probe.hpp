// The micro-benchmarks (probes) of a calibration. They see their platform only through the run, so the same
// programs measure a machine and a simulated one. Each repeats an operation few and many times: the slope is
// the time of one operation.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/kernel_speeds.hpp"
#include "calibration/readings.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/run/execution.hpp"

namespace heddle::calibration {

/// How much is measured.
struct Effort {
    std::uint32_t repetitions = 31;  ///< of each reading
    double scale = 1;                ///< of the operations in a reading: 1 where a reading of time costs 20ns
    std::uint64_t sweep_bytes = 64U << 20;    ///< of an array that goes through memory, not through caches
    std::uint64_t message_bytes = 16U << 20;  ///< the largest message
    double deep_seconds = 20e-3;              ///< the longest sleep that is tried
    std::vector<Kernel> kernels = {};         ///< kinds of work to measure
    /// What work of that kind, on data of that size, declares for so many flops; null: these.
    std::function<double(const std::string& kernel, double size, double flops)> declared = {};

    /// So many operations, scaled.
    std::uint64_t operations(std::uint64_t stated) const;
};

/// One program and the world that it needs.
struct Probe {
    std::string name;
    std::string what;  ///< for people: what it measures
    NodeId nodes = 1;
    CoreId cores = 1;
    runtime::Schedule schedule;
    runtime::ProgramFactory make;
};

/// What a machine can be asked: cores of a node, and the first core that is far from core 1; 0: none is.
struct Reach {
    CoreId cores = 1;
    CoreId far_core = 0;
    NodeId nodes = 1;  ///< that can take part
};

/// All that the machine can be asked, in the order in which they run.
std::vector<Probe> probes(const Effort& effort, const Reach& reach);

/// Runs a probe and returns what all nodes read. On other processes than node 0's: nothing.
Readings run(const Probe& probe, runtime::Backend& backend);

// --- for the programs

/// The program of a probe on one node. Its readings are its evidence.
class ProbeProgram : public runtime::Program {
public:
    explicit ProbeProgram(const Effort& effort) : effort_(effort) {}

    runtime::Answer answer() const override { return {}; }
    runtime::Bytes evidence() const override { return to_bytes(readings_); }

protected:
    /// Reads how long `code(count)` takes with few and with many operations, in either order.
    void read(runtime::Worker& worker, const std::string& quantity, double size,
              std::initializer_list<std::uint64_t> counts, const std::function<void(std::uint64_t)>& code);
    void add(Reading reading) { readings_.push_back(std::move(reading)); }

    static double seconds_now(const runtime::Context& context) {
        return to_seconds(context.backend->now(context));
    }

    const Effort effort_;

private:
    Readings readings_;  ///< one worker, or one handler, at a time
};

/// One worker waits until another context of its node has come so far. It sleeps meanwhile, and runs nothing.
class Gate {
public:
    void wait_for(runtime::Worker& worker, std::uint64_t step) const {
        while (step_.load(std::memory_order_acquire) < step) worker.backend->park(worker, never);
    }
    /// Lets worker `core` of the caller's node go on.
    void open(runtime::Context& caller, std::uint64_t step, CoreId core) {
        step_.store(step, std::memory_order_release);
        caller.backend->unpark(caller, core);
    }
    std::uint64_t step() const { return step_.load(std::memory_order_acquire); }

private:
    std::atomic<std::uint64_t> step_{0};
};

/// What a worker owes for waking others is paid here, before a time is read.
inline void settle(runtime::Worker& worker) {
    worker.charge(Time::zero());
}

/// As long as a worker looks that is not to sleep.
inline constexpr Time never_sleeps = std::chrono::seconds(1);

/// A settled schedule without stealing.
runtime::Schedule quiet_schedule();

// --- the probes, a file each
Probe local_probe(const Effort& effort);
Probe tree_probe(const Effort& effort);
Probe shared_tree_probe(const Effort& effort);
Probe strand_probe(const Effort& effort);
Probe endpoint_probe(const Effort& effort);
Probe closure_probe(const Effort& effort);
Probe thread_message_probe(const Effort& effort);
Probe token_probe(const Effort& effort);
Probe placed_task_probe(const Effort& effort);
Probe placed_input_probe(const Effort& effort);
Probe elsewhere_probe(const Effort& effort);
Probe speed_probe(const Effort& effort);
Probe kernel_probe(const Effort& effort);
Probe noise_probe(const Effort& effort, CoreId cores);
Probe memory_probe(const Effort& effort, CoreId cores);
Probe thief_probe(const Effort& effort);
Probe far_look_probe(const Effort& effort, CoreId far_core, CoreId cores);
Probe poll_probe(const Effort& effort, NodeId nodes);
Probe readiness_probe(const Effort& effort);
Probe wake_probe(const Effort& effort);
Probe round_trip_probe(const Effort& effort);
Probe receiving_probe(const Effort& effort);
Probe enqueue_probe(const Effort& effort);
Probe send_probe(const Effort& effort);
Probe asleep_probe(const Effort& effort);
Probe receive_probe(const Effort& effort, NodeId nodes);
Probe page_probe(const Effort& effort);
/// Not among `probes`.
Probe node_probe(const Effort& effort, NodeId nodes);

}  // namespace heddle::calibration
