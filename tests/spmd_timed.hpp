// For tests: runs one collective call on a simulated star without overheads, and returns what it sends and
// how long it takes.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/spmd.hpp"
#include "runtime/run/execution.hpp"
#include "sim/sim_backend.hpp"
#include "tests/spmd_closed_forms.hpp"
#include "tests/spmd_programs.hpp"

namespace heddle::spmd::testing_spmd {

struct Timed {
    double seconds = 0;
    Sent sent;
};

/// Calls once. Only times count, so arrays are only declared.
class OneCall final : public SpmdProgram {
public:
    /// `end`: the last rank's, in seconds. The simulator's one thread permits that all write it.
    OneCall(const Algorithm& algorithm, const Task& task, SpmdOptions::Ranks ranks, const CrewSettings& crew,
            double& end)
        : SpmdProgram({.ranks = ranks, .crew = crew, .algorithms = {{algorithm.operation, algorithm.name}}}),
          task_(task),
          end_(end) {}

    void main(Spmd& self) override {
        const Declared<std::uint64_t> in(input_size(task_, self.rank()));
        const Declared<std::uint64_t> out(output_size(task_, self.rank()));
        call_with(self, task_, {}, in, out, std::plus<std::uint64_t>());
        end_ = std::max(end_, to_seconds(self.worker().backend->now(self.worker())));
    }
    runtime::Answer answer() const override { return {}; }

private:
    Task task_;
    double& end_;
};

/// The network of a cell. Elements have eight bytes.
struct Star {
    double bandwidth = 1e9;
    Time latency{};                            ///< of one of the two links
    std::uint64_t small_message_bytes = 4096;  ///< as of heddle::Network

    Platform platform(NodeId nodes) const {
        Platform platform;
        platform.nodes = nodes;
        platform.cores = 1;
        platform.core_speed = 1e18;
        platform.memory_bandwidth = 1e18;
        platform.overheads = {};
        platform.network.bandwidth = bandwidth;
        platform.network.latency = latency;
        platform.network.small_message_bytes = small_message_bytes;
        complete(platform);
        return platform;
    }
};

/// With more ranks than nodes each thread is a rank.
inline Timed timed(const Algorithm& algorithm, const Task& task, const Platform& platform,
                   const CrewSettings& crew = {}) {
    using Ranks = SpmdOptions::Ranks;
    const Ranks ranks = task.ranks > platform.nodes ? Ranks::threads : Ranks::nodes;
    double end = 0;
    sim::SimBackend backend(platform);
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";  // there is nothing to steal, and requests disturb waiting ranks
    const runtime::RunResult result = runtime::Execution(backend, schedule, [&](NodeId) {
                                          return std::make_unique<OneCall>(algorithm, task, ranks, crew, end);
                                      }).run();
    Timed timed{end, {}};
    const auto value = [&](const std::string& name) {
        double sum = 0;
        for (const runtime::AnswerValue& each : result.answer)
            if (each.name == name) sum += each.value;
        return static_cast<std::uint64_t>(sum);
    };
    timed.sent = {value("collective_messages") - task.ranks * lg(task.ranks),  // the end of the program
                  value("collective_bytes") / sizeof(std::uint64_t)};
    return timed;
}
inline Timed timed(const Algorithm& algorithm, const Task& task, const Star& star,
                   const CrewSettings& crew = {}) {
    return timed(algorithm, task, star.platform(task.ranks), crew);
}

/// Of an empty message.
inline double seconds_of_empty(const Star& star) {
    return timed(find_algorithm(Operation::barrier, ""), {Operation::barrier, 2, 0, 0, 1, true}, star)
        .seconds;
}

/// A network where bytes take the time, or latencies. What else nodes send, as for the end of the run, must
/// not count.
inline Star bandwidth_counts(std::uint64_t small_message_bytes = 4096) {
    return {1e9, std::chrono::nanoseconds(1), small_message_bytes};
}
inline Star latency_counts() {
    return {1e15, std::chrono::milliseconds(1), 4096};
}

/// The size of a call whose smallest messages have `unit` elements.
inline Index count_for(const Algorithm& algorithm, RankId ranks, Index unit) {
    if (algorithm.name == "pipeline") return std::max<Index>(1, unit / 256) * Rank::segment_bytes / 8;
    const bool whole = algorithm.operation == Operation::broadcast ||
                       algorithm.operation == Operation::reduce ||
                       algorithm.operation == Operation::all_reduce;
    const auto has = [&](const char* word) { return algorithm.name.find(word) != std::string::npos; };
    const bool in_parts = whole && (has("rabenseifner") || has("ring") || has("scatter") || has("leaders"));
    return in_parts ? ranks * unit : unit;
}

inline void expect_closed_form(const Algorithm& algorithm, RankId ranks, Index unit, const Star& star) {
    const Index segment = Rank::segment_bytes / sizeof(std::uint64_t);
    const Task task{algorithm.operation, ranks, ranks / 3, count_for(algorithm, ranks, unit), segment, true};
    const Timed result = timed(algorithm, task, star);
    const ClosedForm& form = closed_form(algorithm);
    EXPECT_EQ(result.sent, form.sent(ranks, task.count, task)) << ranks << " ranks";
    if (form.powers_of_two_only && !std::has_single_bit(ranks)) return;
    const std::uint64_t cost = form.time(ranks, task.count, task).sum;
    const double seconds = static_cast<double>(latencies(form, task)) * seconds_of_empty(star) +
                           static_cast<double>(cost % Cost::a) * sizeof(std::uint64_t) / star.bandwidth;
    EXPECT_NEAR(result.seconds / seconds, 1, 0.005) << ranks << " ranks, " << task.count << " elements";
}

}  // namespace heddle::spmd::testing_spmd
