// For tests: runs the NAS Parallel Benchmarks over shared memory, and checks their published answers.
#pragma once

#include <vector>

#include "tests/filament_workloads_testing.hpp"

namespace heddle::testing_filaments {

inline const std::vector<Small>& nas_workloads() {
    static const std::vector<Small> all{
        {"nas_is", {{"pools", "2"}}, "the 50 ranks published for class S, and all keys sorted"},
        {"nas_cg", {{"pools", "2"}}, "zeta is within 1e-10 of 8.5971775078648, published for class S"},
    };
    return all;
}

inline constexpr Machine nas_machines[] = {{2, 1}, {3, 2}, {1, 2}, {2, 2}, {1, 1}};

}  // namespace heddle::testing_filaments
