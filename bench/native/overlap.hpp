// How much of a message a computation hides (Gautier, Besseron, Pigeon: "KAAPI", PASCO 2007, section 4.3):
// what the programs of all libraries have in common.
//
//     PROGRAM BYTES ROUNDS STEPS,STEPS,...
//
// Process 0 posts BYTES bytes, computes STEPS steps and waits for the sum that process 1 answers with. Each
// program prints, for each number of steps, the medians of ROUNDS rounds in seconds: the whole, and its parts
// `posting` and `computing`; and what a step takes without messages.
#pragma once

#include <cstdlib>
#include <map>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/native/outcome.hpp"
#include "workloads/overlap.hpp"

namespace heddle::bench {

namespace overlap = workloads::overlap;

struct OverlapTask {
    std::size_t bytes = 0;
    std::uint64_t rounds = 0;
    std::vector<std::uint64_t> steps;

    static OverlapTask read(const std::string& bytes, const std::string& rounds, const std::string& steps) {
        OverlapTask task{std::stoul(bytes), std::stoul(rounds), {}};
        std::istringstream list(steps);
        for (std::string word; std::getline(list, word, ',');) task.steps.push_back(std::stoul(word));
        return task;
    }

    /// So many times all numbers of steps in turn, because a machine is faster in some moments than in
    /// others.
    static constexpr std::uint64_t passes = 5;
    /// The first ones after each change of the steps, which are not counted.
    static constexpr std::uint64_t rounds_first = 2;
    std::uint64_t rounds_of_pass() const { return (rounds + passes - 1) / passes; }
    /// All messages of a program.
    std::uint64_t messages() const { return passes * steps.size() * (rounds_first + rounds_of_pass()); }
};

/// The times of all rounds.
class OverlapTimes {
public:
    void add(std::uint64_t steps, double whole, double posting, double computing) {
        Times& times = times_[steps];
        times.whole.push_back(whole);
        times.posting.push_back(posting);
        times.computing.push_back(computing);
    }
    void print() const {
        Outcome outcome;
        for (const auto& [steps, times] : times_) {
            const std::string after = " " + std::to_string(steps);
            outcome.add("seconds" + after, quantile(times.whole, 0.5))
                .add("posting" + after, quantile(times.posting, 0.5))
                .add("computing" + after, quantile(times.computing, 0.5));
        }
        outcome.add("step_ns", step_seconds() * 1e9).print();
    }

private:
    struct Times {
        std::vector<double> whole, posting, computing;
    };

    static double step_seconds() {
        constexpr std::uint64_t steps = 100'000;
        std::vector<double> times;
        volatile std::uint64_t value = 1;
        for (int i = 0; i < 21; ++i) {
            const double begin = seconds_now();
            value = overlap::computed(value, steps);
            times.push_back((seconds_now() - begin) / steps);
        }
        return quantile(times, 0.5);
    }

    std::map<std::uint64_t, Times> times_;
};

/// Process 0. A Partner has `room()`, where the next message's bytes go, `post()`, which begins to send them,
/// and `wait()`, which returns the answer.
template <class Partner>
void measure_overlap(const OverlapTask& task, Partner& partner) {
    OverlapTimes times;
    std::uint64_t round = 0;
    const auto one = [&](std::uint64_t steps, bool counts) {
        const std::span<std::uint8_t> data = partner.room();
        overlap::fill(++round, data);
        const std::uint64_t sum = overlap::sum_of(data);
        const double begin = seconds_now();
        partner.post();
        const double posted = seconds_now();
        const std::uint64_t value = overlap::computed(round, steps);
        const double computed = seconds_now();
        const std::uint64_t answer = partner.wait();
        const double end = seconds_now();
        if (answer != sum || value != overlap::after_steps(round, steps))
            throw std::runtime_error("a wrong sum, or a wrong number");
        if (counts) times.add(steps, end - begin, posted - begin, computed - posted);
    };
    for (std::uint64_t pass = 0; pass < OverlapTask::passes; ++pass)
        for (const std::uint64_t steps : task.steps)
            for (std::uint64_t i = 0; i < OverlapTask::rounds_first + task.rounds_of_pass(); ++i)
                one(steps, i >= OverlapTask::rounds_first);
    times.print();
}

}  // namespace heddle::bench
