// Arrays of collective calls that are only declared: the calls send the same messages, and no array takes
// memory. For sizes that one machine cannot simulate otherwise, and to simulate faster.
#pragma once

#include <cstdint>
#include <ranges>
#include <type_traits>
#include <utility>

namespace heddle::spmd {

/// An array of `count` elements of type T without memory. If a call's input is declared, so is its output. In
/// simulation copies and operators take the time that they would take with elements; natively they take none.
template <class T>
class Declared {
public:
    using value_type = T;

    explicit Declared(std::uint64_t count) : count_(count) {}
    std::uint64_t size() const { return count_; }

private:
    std::uint64_t count_;
};

template <class Range>
inline constexpr bool is_declared = false;
template <class T>
inline constexpr bool is_declared<Declared<T>> = true;

/// What collective calls take as input or output.
template <class Range>
concept Elements = std::ranges::contiguous_range<Range> || is_declared<std::remove_cvref_t<Range>>;

template <Elements Range>
auto* data_of(Range& range) {
    if constexpr (is_declared<std::remove_cv_t<Range>>) {
        return static_cast<typename Range::value_type*>(nullptr);
    } else {
        return std::ranges::data(range);
    }
}

template <Elements Range>
std::uint64_t elements_in(const Range& range) {
    if constexpr (is_declared<Range>) {
        return range.size();
    } else {
        return std::ranges::size(range);
    }
}

template <class Range>
using ElementOf = std::remove_cv_t<std::remove_pointer_t<decltype(data_of(std::declval<Range&>()))>>;

/// An input and an output that fit each other.
template <class In, class Out>
inline constexpr bool fit_each_other =
    std::is_same_v<ElementOf<In>, ElementOf<Out>>&& is_declared<std::remove_cv_t<In>> ==
    is_declared<std::remove_cv_t<Out>>;

}  // namespace heddle::spmd
