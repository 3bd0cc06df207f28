// The calls that `heddle tune` measures: read from its options, and written as a `compare` section.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/spmd/algorithm.hpp"

namespace heddle::cli {

struct TuningGrid {
    std::vector<spmd::Operation> operations;
    std::vector<std::uint64_t> nodes;
    std::vector<std::uint64_t> threads;
    std::vector<std::uint64_t> bytes;
    /// Some ranks are nearer to each other than others: algorithms with levels are measured too.
    bool levels = false;
};

/// Whether numbers may have a unit of bytes and be 0.
enum class GridUnit : std::uint8_t { count, bytes };

/// The numbers of `8,64,4KiB..1MiB*4`: sorted, each once. A range has its first number, and goes on by
/// factors, of 2 if none is stated, up to its last. No number is above `most`, which is 1e12 or less, so that
/// factors cannot overflow. `option` is for errors. Throws Error.
std::vector<std::uint64_t> grid_values(const std::string& option, const std::string& text, GridUnit unit,
                                       double most = 1e12);

/// The operations of `all_reduce,broadcast`, in the order of spmd::operations; of an empty text those with
/// two or more algorithms. Throws Error.
std::vector<spmd::Operation> grid_operations(const std::string& text);

/// The section, for a file whose workload is `collective`: each algorithm of each operation, and `auto`.
std::string compare_section(const TuningGrid& grid);

}  // namespace heddle::cli
