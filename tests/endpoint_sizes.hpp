// For tests: sizes of messages at the limits of what an endpoint takes unasked.
#pragma once

#include <cstdint>

#include "runtime/comm/endpoint.hpp"

namespace heddle::testing_strands {

/// Messages of as many bytes go at once; `in_window` of them fill the window of a receiver.
constexpr std::uint64_t small = runtime::Endpoint::eager_max;
constexpr std::uint64_t in_window = 7;
/// Such messages are announced.
constexpr std::uint64_t large = 100'000;

}  // namespace heddle::testing_strands
