// Makes an experiment for each combination of values that a `compare` section asks for. Runs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/experiment.hpp"

namespace heddle::configs {

struct Combination {
    std::vector<std::string> values;   ///< of the compared keys, in their order, as people write them
    std::string words;                 ///< keys and values in one line: `platform.nodes=4 seed=2`
    std::vector<Override> assignment;  ///< what it sets, as `--set` takes it
    Experiment experiment;             ///< with these values and without a `compare` section
};

struct Combinations {
    Experiment base;                ///< the file's own values
    std::vector<std::string> keys;  ///< what is compared, in the order of the file
    std::vector<Combination> all;   ///< the points of the last axis change fastest

    /// For each of `all`, the one that its speedup is relative to; empty if the file states no baseline.
    std::vector<std::size_t> baselines;

    // Of a file with a `published` section.
    std::optional<Combination> baseline;                    ///< of speedups
    std::vector<std::optional<double>> published_speedups;  ///< of each of `all`
    struct PublishedCell {
        std::size_t cell = 0;   ///< of `all`
        std::size_t other = 0;  ///< of an improvement: the cell that it is over
        double value = 0;
    };
    std::vector<PublishedCell> published_seconds;
    std::vector<PublishedCell> published_improvements;  ///< percent
};

/// The most combinations, and the most cells (combinations with their repeats), that a file may have: more
/// than that is a mistake.
inline constexpr std::size_t combinations_max = 100'000;
inline constexpr std::size_t cells_max = 100'000;

/// Whether a file without a `compare` section is a mistake, or has one combination, of its own values.
enum class Axes : std::uint8_t { needed, optional };

/// Reads an experiment and all of its combinations. Throws Error for whatever is wrong with one of them: it
/// then names the values that do not go together.
Combinations read_combinations(const std::string& path, const std::vector<Override>& overrides = {},
                               Axes axes = Axes::needed);
Combinations read_combinations_text(const std::string& text, const std::string& file,
                                    const std::vector<Override>& overrides = {}, Axes axes = Axes::needed);

}  // namespace heddle::configs
