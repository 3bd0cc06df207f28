// Writes what `heddle tune` found. The YAML file of rules names an algorithm for each collective call. The
// measured times are written as CSV, and as a table for people.
#pragma once

#include <string>
#include <vector>

#include "cli/tuning.hpp"

namespace heddle::cli {

/// A file of rules for spmd::Rules: a head of comments, and behind each rule its measured times and those of
/// the second best. `head`: lines of text, without `#`.
std::string rules_yaml(const std::vector<TunedCall>& calls, const std::vector<std::string>& head);

/// The columns operation, nodes, threads, bytes, algorithm, ran, run and seconds. A call that an algorithm
/// cannot do has no seconds.
std::string tuning_csv(const std::vector<TunedCall>& calls);

/// A line for each call, with what `auto` would choose and what that costs.
std::string tuning_table(const std::vector<TunedCall>& calls);

/// How far `auto` is from the best, in one line; empty if it was not measured.
std::string automatic_in_words(const std::vector<TunedCall>& calls);

/// `all_reduce of 8B on 4 x 2`.
std::string described(const TunedCall& call);

/// Throws Error if `auto` ran an algorithm that refused the same call: then the refusal was that of a moment,
/// such as for memory that other programs had.
void refuse_contradictions(const std::vector<TunedCall>& calls);

}  // namespace heddle::cli
