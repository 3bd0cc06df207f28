// Moves elements between two arrays of any number of dimensions, in the memory of one node: packs, unpacks
// and transposes. Several threads may each move a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/spmd/strips.hpp"
#include "runtime/core/copy.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::spmd {

/// A dimension, with the distances of neighbours in it, in elements of the two arrays.
struct MovedDimension {
    std::vector<Strip> strips;
    Index from_stride = 1;
    Index to_stride = 1;
};

/// The product of its dimensions, which are the target's: neighbours in the last one are neighbours there.
class Movement {
public:
    /// Elements of a side of a tile that is transposed: a tile's lines fit into any first-level cache
    /// (Chiang, Wu, Lin, section 4: "tiling the loop").
    static constexpr Index tile = 32;

    explicit Movement(std::vector<MovedDimension> dimensions);
    /// `count` adjacent elements.
    static Movement contiguous(Index count, Index from, Index to);

    Index count() const { return count_; }

    /// Another side of tiles; 0: none, so a sweep goes through a whole row of the target.
    void set_tile(Index side) { tile_ = side; }

    /// Moves part `part` of `parts` on the strand's worker, which pays for it. Null, null: it only pays.
    void move(runtime::Strand& self, Index element_bytes, std::byte* to, const std::byte* from,
              std::uint32_t part, std::uint32_t parts) const;

private:
    struct Runs;
    struct Line;
    struct Part;
    using Visit = std::function<void(const runtime::Copy&, Index to, Index from)>;

    void each_copy(const Part& part, Index element_bytes, const Visit& visit) const;
    void each_place(const Part& part, std::size_t dimension, Index to, Index from,
                    const std::function<void(Index, Index)>& visit) const;
    bool straight() const;

    std::vector<MovedDimension> dimensions_;
    Index count_ = 1;
    Index tile_ = tile;
    std::size_t across_;  ///< of the other dimensions that one whose neighbours are nearest at the source
};

}  // namespace heddle::spmd
