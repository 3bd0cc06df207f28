// The collective operations, and the algorithms that each has. An algorithm is a pure function: for a rank's
// call it gives the rank's steps. Its file in algorithms/ names its source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/spmd/steps.hpp"

namespace heddle::spmd {

/// With n the `count` of a call and p ranks. Blocks lie in the order of the ranks.
enum class Operation : std::uint8_t {
    barrier,     ///< no rank returns before all have called
    broadcast,   ///< output: n elements of the root, which are there already at the root
    reduce,      ///< input: n; output at the root: n, combined element by element in the order of the ranks
    all_reduce,  ///< the same, and each rank has the output
    reduce_scatter,  ///< input: p n; output: n, the rank's block of the combined arrays
    scan,            ///< input: n; output: n, combined over the ranks up to this one
    gather,          ///< input: n; output at the root: p n
    scatter,         ///< input at the root: p n; output: n
    all_gather,      ///< input: n; output: p n
    all_to_all,      ///< input and output: p n, a block for each rank and one from each
};

constexpr Operation operations[] = {Operation::barrier,    Operation::broadcast,      Operation::reduce,
                                    Operation::all_reduce, Operation::reduce_scatter, Operation::scan,
                                    Operation::gather,     Operation::scatter,        Operation::all_gather,
                                    Operation::all_to_all};

const char* name_of(Operation operation);
/// Whether all ranks must name the same root.
bool has_root(Operation operation);
/// Whether it has an operator.
bool combines(Operation operation);

struct Algorithm {
    Operation operation;
    std::string name;
    std::string help;
    bool commutes;  ///< it combines in another order than that of the ranks: the operator must commute
    void (*steps)(const Call& call, Steps& steps);
    bool independent = false;  ///< its steps may be done in any order, by several threads
    int levels = 1;  ///< 2 and 3: it takes groups of ranks (Call::levels); without them it is another one
};

/// All, by operation; the first of each operation is what a program gets that names none.
const std::vector<Algorithm>& all_algorithms();

/// In place of an algorithm's name: the one with the lowest price (pricing.hpp).
constexpr std::string_view automatic = "auto";

/// An algorithm of an operation; the empty name is the first one's. Throws Error with the names that there
/// are.
const Algorithm& find_algorithm(Operation operation, std::string_view name);

}  // namespace heddle::spmd
