// Data movement of distributed arrays (Chiang, Wu, Lin, sections 3.1.3 to 3.1.5): any layout to any,
// transposes and other permutations of dimensions, shifts; and exchanges of blocks of different sizes. All
// threads of a node make the call, with the node's arrays, as all collective calls.
//
//     const Redistribution columns_of(rows, columns);         // once; the threads may share it
//     redistribute(self, columns_of, mine, mine_by_columns);
//
// A node's array has the elements that its layout gives it, row by row, the last dimension fastest. A
// layout's nodes are the ranks from 0 on; there may be more ranks, which have no elements. Input and output
// must not overlap. Calls throw Error for arrays that do not fit.
#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

#include "model/spmd/exchange.hpp"
#include "model/spmd/layout.hpp"
#include "model/spmd/spmd.hpp"

namespace heddle::spmd {

/// What a shift does with the elements that it moves out of the array.
enum class Ends : std::uint8_t {
    circular,  ///< they come in at the other end: Fortran's CSHIFT
    end_off    ///< they are dropped: EOSHIFT. Elements that none comes to keep the value that the output has
};

/// From each element's owner in one layout to its owner in another one: what ScaLAPACK's pdgemr2d does for
/// two dimensions.
class Redistribution final : public Exchange {
public:
    /// Throws Error if the layouts have different extents, or no elements.
    Redistribution(const Layout& from, const Layout& to);
    /// Dimension d of `to` is dimension `axes[d]` of `from`. Throws Error also if `axes` is no permutation.
    static Redistribution permuted(const Layout& from, const Layout& to, std::vector<std::size_t> axes);
    /// Element (i, j) becomes element (j, i).
    static Redistribution transposed(const Layout& from, const Layout& to);
    /// Element i becomes element i + `by[d]` in each dimension d.
    static Redistribution shifted(const Layout& layout, std::vector<std::int64_t> by, Ends ends);

    /// Another side of the tiles in which elements are transposed; 0: no tiles (Chiang, Wu, Lin, section 4).
    void set_tile(Index side) { tile_ = side; }

    Index elements() const override { return to_.elements(); }
    std::uint32_t fingerprint() const override { return fingerprint_; }
    Index count(RankId from, RankId to) const override;
    Movement packing(RankId from, RankId to) const override;
    Movement unpacking(RankId from, RankId to) const override;
    Movement own(RankId rank) const override;

    /// How many elements a rank's arrays have.
    Index input_elements(RankId rank) const;
    Index output_elements(RankId rank) const;
    /// How many ranks there must be.
    RankId ranks() const { return std::max(from_.nodes(), to_.nodes()); }

private:
    Redistribution(Kind kind, const Layout& from, const Layout& to, std::vector<std::size_t> axes,
                   std::vector<std::int64_t> by, Ends ends);
    void check() const;
    std::uint32_t hash() const;
    std::vector<Strip> strips(std::size_t dimension, RankId from, RankId to) const;
    std::vector<MovedDimension> dimensions(RankId from, RankId to) const;
    Movement movement(std::vector<MovedDimension> dimensions) const;

    Layout from_;
    Layout to_;
    std::vector<std::size_t> axes_;
    std::vector<std::int64_t> by_;
    Ends ends_;
    Index tile_ = Movement::tile;
    std::uint32_t fingerprint_ = 0;
};

namespace detail {

/// Checks that they fit. `in` and `out`: elements of the rank's arrays.
void expect_arrays(RankId rank, RankId ranks, const Redistribution& what, Index in, Index out);
/// The sum. Throws Error unless there is a count for each rank, and they are those of an array's elements.
void expect_blocks(RankId rank, RankId ranks, const char* call, std::span<const Index> counts,
                   Index elements);
/// Throws Error unless an array of so many elements is the rank's block.
void expect_block(RankId rank, const char* call, Index count, Index elements);

template <class Self, class In, class Out>
auto exchange(Self& self, const Exchange& what, const In& input, Out& output) {
    using T = ElementOf<Out>;
    static_assert(fit_each_other<In, Out>,
                  "input and output have elements of one type, and both are declared or neither is");
    static_assert(std::is_trivially_copyable_v<T>, "elements travel as plain bytes");
    if constexpr (is_declared<std::remove_cv_t<Out>>) {
        return self.exchange(what, sizeof(T));
    } else {
        return self.exchange(
            what, std::as_bytes(std::span(std::ranges::data(input), std::ranges::size(input))),
            std::as_writable_bytes(std::span(std::ranges::data(output), std::ranges::size(output))),
            sizeof(T));
    }
}

}  // namespace detail

/// `self`: a thread, or `start()` of it for a split-phase call; so in all calls below.
template <class Self, Elements In, Elements Out>
auto redistribute(Self&& self, const Redistribution& what, const In& input, Out&& output) {
    detail::expect_arrays(self.rank(), self.ranks(), what, elements_in(input), elements_in(output));
    return detail::exchange(self, self.keep(what), input, output);
}

/// Each rank sends rank r `to_each[r]` elements and gets `from_each[r]` elements of it. Blocks lie in the
/// order of the ranks. Where there are no elements there is no message. All ranks must agree.
template <class Self, Elements In, Elements Out>
auto all_to_some(Self&& self, const In& input, const std::vector<Index>& to_each, Out&& output,
                 const std::vector<Index>& from_each) {
    detail::expect_blocks(self.rank(), self.ranks(), "all_to_some", to_each, elements_in(input));
    detail::expect_blocks(self.rank(), self.ranks(), "all_to_some", from_each, elements_in(output));
    return detail::exchange(self, self.keep(Blocks(self.rank(), to_each, from_each)), input, output);
}

/// Each rank gets the elements of all, `counts[r]` of rank r.
template <class Self, Elements In, Elements Out>
auto all_gather_some(Self&& self, const In& input, Out&& output, const std::vector<Index>& counts) {
    detail::expect_blocks(self.rank(), self.ranks(), "all_gather_some", counts, elements_in(output));
    detail::expect_block(self.rank(), "all_gather_some", counts[self.rank()], elements_in(input));
    return detail::exchange(self, self.keep(Blocks::gathered(self.rank(), counts)), input, output);
}

/// The paper's all-scatter, "identical to all-to-all personalized communication" (section 3.1.4).
template <class Self, Elements In, Elements Out>
auto all_scatter(Self&& self, const In& input, Out&& output, std::string_view algorithm = {}) {
    return self.all_to_all(input, output, algorithm);
}

}  // namespace heddle::spmd
