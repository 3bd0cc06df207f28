// Rules that choose the algorithm of a collective call, by bytes, nodes and threads. They are read from a
// file.
//
//     all_reduce:
//       - {bytes: [0, 32768], algorithm: recursive_doubling}
//       - {bytes: [32769, 1048576], nodes: [2, 64], threads: [1, 8], algorithm: rabenseifner}
//       - {algorithm: auto}
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "model/spmd/algorithm.hpp"

namespace heddle::spmd {

/// From first to last, both included.
struct RuleRange {
    std::uint64_t first = 0;
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();

    bool has(std::uint64_t value) const { return first <= value && value <= last; }
};

struct Rule {
    Operation operation;
    const Algorithm* algorithm = nullptr;  ///< null: `auto`
    RuleRange bytes = {};                  ///< of an array, or of a rank's block (Operation)
    RuleRange nodes = {};
    RuleRange threads = {};  ///< of a node
};

/// What a rule is asked for.
struct RuleCase {
    Operation operation;
    std::uint64_t bytes = 0;
    std::uint64_t nodes = 1;
    std::uint64_t threads = 1;
    bool commutes = true;  ///< the operator
};

class Rules {
public:
    explicit Rules(std::vector<Rule> rules = {}) : rules_(std::move(rules)) {}

    /// Reads a file's text. Throws Error with line and advice for all that is not as above: unknown keys,
    /// operations and algorithms, keys that are stated twice, ranges that are empty.
    static Rules parse(const std::string& text, const std::string& file);

    /// The algorithm of the first rule that fits; null for `auto`, and if none fits. Rules whose algorithm
    /// needs an operator that commutes do not fit another one.
    const Algorithm* find(const RuleCase& asked) const;

    const std::vector<Rule>& all() const { return rules_; }

private:
    std::vector<Rule> rules_;
};

}  // namespace heddle::spmd
