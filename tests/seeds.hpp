// How many seeds a test tries in this build.
#pragma once

#include <cstdint>

namespace heddle::testing_seeds {

/// A fifth under ThreadSanitizer, which keeps maps of fibers that have ended: a process may have 65,530.
constexpr std::uint64_t seeds(std::uint64_t all) {
#if defined(__SANITIZE_THREAD__)
    return all / 5;
#else
    return all;
#endif
}

/// A test that goes through sizes one by one takes each fifth under ThreadSanitizer, where strands are slow.
#if defined(__SANITIZE_THREAD__)
constexpr unsigned stride = 5;
#else
constexpr unsigned stride = 1;
#endif

}  // namespace heddle::testing_seeds
