// Finds the elements that two parts of a dimension have in common, with their places in both: one part before
// a redistribution, one after it. It intersects periodic sets block by block, in a single period, and so does
// not visit elements (after Ramaswamy, Banerjee: "Automatic generation of efficient array redistribution
// routines for distributed memory multicomputers", 1995).
#pragma once

#include <vector>

#include "model/spmd/layout.hpp"

namespace heddle::spmd {

/// Runs of `length` adjacent elements: `count` of them at equal steps, and all that `repeats` times. `from`
/// and `to` are local places of the first element. The elements are ordered as a loop over repeats, runs and
/// elements visits them.
struct Strip {
    Index length = 1;
    Index from = 0;
    Index to = 0;
    Index count = 1;
    Index from_step = 0;
    Index to_step = 0;
    Index repeats = 1;
    Index from_stride = 0;
    Index to_stride = 0;

    Index size() const { return length * count * repeats; }
};

/// Element `from` + i of the source becomes element `to` + i of the target, for i below `length`.
struct Stretch {
    Index from = 0;
    Index to = 0;
    Index length = 0;
};

/// The elements of a stretch that part `from_part` has and part `to_part` gets. The number of strips does not
/// depend on the number of periods.
std::vector<Strip> common(const Dealt& from, std::uint32_t from_part, const Dealt& to, std::uint32_t to_part,
                          const Stretch& stretch);

Index size_of(const std::vector<Strip>& strips);

/// The same with one side packed: its places are 0, 1, ... in the order of the elements.
std::vector<Strip> packed_at_target(std::vector<Strip> strips);
std::vector<Strip> packed_at_source(std::vector<Strip> strips);

}  // namespace heddle::spmd
