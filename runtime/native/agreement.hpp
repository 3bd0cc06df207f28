// The facts that all processes of a run must have in common: the program and the experiment. Nodes whose
// agreements differ refuse each other, because a function's number or an address would mean different things
// to them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "runtime/backend.hpp"

namespace heddle::native {

struct Agreement {
    /// The functions that travel by number, a line each (runtime::registered_functions).
    std::string program;
    /// A hash of everything that determines the run.
    std::uint64_t experiment = 0;
    /// The settings, a line `key = value` each. They only explain why `experiment` differs.
    std::string settings;

    /// A hash of the program and the experiment: processes with equal ones may work together.
    std::uint64_t fingerprint() const;
};

/// As bytes for a message, and back. Nothing if the bytes are malformed.
runtime::Bytes pack(const Agreement& agreement);
std::optional<Agreement> unpack_agreement(std::span<const std::byte> bytes);

/// The error for nodes `a` and `b`, whose agreements have different fingerprints. It names the first thing
/// that differs, and which node has what.
Error disagreement(NodeId a, const Agreement& of_a, NodeId b, const Agreement& of_b);

}  // namespace heddle::native
