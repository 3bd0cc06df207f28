// Describes a filament's function at compile time: its program, its arguments, and its name for messages. An
// argument is a plain value: an address means nothing on another node.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"

namespace heddle::filaments {

class Filaments;
class Processor;
class Ranges;

// NOLINTBEGIN(readability-identifier-naming): the paper's names
/// What post-phase code returns: the phase is over, or all its filaments run again.
enum PostPhase : std::uint8_t { F_DONE, F_CONTINUE };
// NOLINTEND(readability-identifier-naming)

namespace detail {

template <class T>
constexpr bool is_plain_value() {
    return std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T> &&
           !std::is_null_pointer_v<T>;
}

/// A whole number, and no character or truth value.
template <class T>
constexpr bool is_number() {
    return std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
           !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> &&
           !std::is_same_v<T, char32_t>;
}

/// A value for an argument of type T. A number must fit.
template <class T, class Given>
T plain_value(const Given& given) {
    static_assert(!std::is_pointer_v<std::decay_t<Given>>,
                  "a filament's arguments are plain values: give an index or a dsm::Shared, not an address");
    if constexpr (is_number<T>() && is_number<Given>()) HEDDLE_ASSERT(std::in_range<T>(given));
    return static_cast<T>(given);
}

template <class Arguments, std::size_t... I, class... Given>
Arguments plain_values(std::index_sequence<I...> /*all*/, const Given&... given) {
    return Arguments{plain_value<std::tuple_element_t<I, Arguments>>(given)...};
}

template <class P, class... A>
struct CodeOf {
    static_assert((!std::is_reference_v<A> && ...),
                  "a filament takes its arguments by value, because it runs after it was created");
    static_assert((is_plain_value<std::decay_t<A>>() && ...),
                  "a filament's arguments are plain values: give an index or a dsm::Shared, not an address");
    using Program = P;
    using Arguments = std::tuple<std::decay_t<A>...>;
    /// Says what the filament of these arguments, and the next ones of its run, so many in all, touch.
    using DeclareRanges = void (P::*)(Ranges&, std::decay_t<A>..., std::uint64_t count);
    /// Does what the filament of these arguments, and the next ones of its run, so many in all, would do one
    /// after the other.
    using ExecuteStrip = void (P::*)(Processor&, std::decay_t<A>..., std::uint64_t count);
};

template <class Code>
struct Signature;
template <class P, class... A>
struct Signature<void (P::*)(Processor&, A...)> : CodeOf<P, A...> {};
template <class P, class... A>
struct Signature<void (P::*)(Processor&, A...) const> : CodeOf<P, A...> {};

/// `jacobi` of &heddle::Jacobi::jacobi, as the compiler spells it.
template <auto code>
constexpr std::string_view code_name() {
    std::string_view name = __PRETTY_FUNCTION__;
    name = name.substr(name.find("code = ") + 7);
    name = name.substr(0, name.find_first_of(";]"));
    return name.substr(name.rfind("::") == std::string_view::npos ? 0 : name.rfind("::") + 2);
}

/// A number that follows from a text alone (FNV-1a).
constexpr std::uint32_t digest(std::string_view text, std::uint32_t from = 2166136261U) {
    for (const char c : text) from = (from ^ static_cast<unsigned char>(c)) * 16777619U;
    return from;
}

}  // namespace detail

/// The filaments that execute P::function(Processor&, arguments...). `code`: the function's address.
template <auto code>
struct FilamentCode : detail::Signature<decltype(code)> {
    using Arguments = typename detail::Signature<decltype(code)>::Arguments;

    static constexpr std::size_t arity = std::tuple_size_v<Arguments>;
    static constexpr std::string_view name = detail::code_name<code>();

    /// Whether neighbours, whose last arguments are equally far apart, can be executed as a loop.
    static constexpr bool makes_runs() {
        if constexpr (arity == 0) {
            return false;
        } else {
            return detail::is_number<std::tuple_element_t<arity - 1, Arguments>>() &&
                   std::equality_comparable<Arguments>;
        }
    }
};

}  // namespace heddle::filaments
