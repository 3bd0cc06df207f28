// Evaluates the runs of `heddle tune`: the algorithm that each measured call takes, and the rules that
// follow. Reads no files and runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/spmd/rules.hpp"

namespace heddle::cli {

/// The runs of a call by one algorithm, or by `auto`.
struct TunedRuns {
    std::string algorithm;
    std::vector<double> seconds = {};  ///< of a call, in each run; empty if it cannot do this call
    std::string ran = {};              ///< of `auto`: what it chose; several have ` + ` between them
    std::string refusal = {};          ///< why it cannot do this call

    bool measured() const { return !seconds.empty(); }
    /// Median over the runs, of which there must be one.
    double median() const;
    /// From the lower to the upper quartile of the runs; 0 of one run.
    double spread() const;
};

/// A collective call as it was measured: by each algorithm, and by `auto`.
struct TunedCall {
    spmd::Operation operation = spmd::Operation::barrier;
    std::uint64_t nodes = 1;
    std::uint64_t threads = 1;
    std::uint64_t bytes = 0;
    std::vector<TunedRuns> algorithms = {};  ///< in the order of spmd::all_algorithms
    TunedRuns automatic = {"auto"};
    std::size_t winner = 0;  ///< of `algorithms`; choose() finds it

    bool measured() const;
    /// The least median. One or more algorithms must have been measured.
    double best_seconds() const;
    const TunedRuns& chosen() const { return algorithms[winner]; }
    /// The runs of what `auto` chose: those by name, if there are any. Its own are a second sample of the
    /// same algorithm, whose noise would look like a cost.
    const TunedRuns& taken_by_automatic() const;
    /// The least median beside the winner's; nothing if no other algorithm can do the call.
    std::optional<std::size_t> runner_up() const;
};

/// Than the least time, as a part of it. A call of one rank may take no time: 0 beside another such.
double how_much_longer(double seconds, double least);

/// What `auto` costs above the best, as a part of it: 0.1 is 10% longer.
std::optional<double> loss_of_automatic(const TunedCall& call);

/// Whether what `auto` chose ties with the best, as choose() has it.
bool automatic_ties(const TunedCall& call);

/// Sorts the calls by operation, nodes, threads and bytes, removes those that no algorithm can do, and finds
/// the winners. Two algorithms tie if their medians differ by no more than the larger of their spreads, or by
/// 1e-9. Of those that tie with the best, each series of sizes takes the ones that make the fewest rules, and
/// of these the ones with the least product of times.
void choose(std::vector<TunedCall>& calls);

/// A rule, and the measured calls that it was made of: from `first` to `last`, places in the list.
struct TunedRule {
    spmd::Rule rule;
    std::size_t first = 0;
    std::size_t last = 0;
};

/// The rules of calls that choose() has been given, in the same order. Neighbouring sizes with one winner
/// share a rule. Between two measured values a range ends at their geometric mean, rounded down. Sizes below
/// the least and above the largest measured one take its rule; numbers of nodes or threads beyond those
/// measured have none.
std::vector<TunedRule> rules_of(const std::vector<TunedCall>& calls);

}  // namespace heddle::cli
