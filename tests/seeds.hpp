// For tests that could go on for ever: how many seeds they try.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace heddle::testing_seeds {

/// Whether tests take the time for all: `make check-all` sets HEDDLE_ALL_SEEDS for its release build.
/// ThreadSanitizer keeps maps of fibers that have ended, of which a process may have 65,530, so that all
/// never run under it.
inline bool all_are_tried() {
    static const bool all = std::getenv("HEDDLE_ALL_SEEDS") != nullptr;
    return all;
}

/// How many of `all` seeds, which count from 1, a test tries: elsewhere the first fifth.
inline std::uint64_t seeds(std::uint64_t all) {
    return all_are_tried() ? all : (all + 4) / 5;
}

/// A test that goes through sizes one by one takes each fifth elsewhere.
inline unsigned stride() {
    return all_are_tried() ? 1 : 5;
}

}  // namespace heddle::testing_seeds
