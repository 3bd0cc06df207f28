// A collective call without its types, as the executor, the threads of a node and the other ranks see it.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "model/spmd/algorithm.hpp"
#include "model/spmd/exchange.hpp"

namespace heddle::spmd {

/// How elements are combined. It refers to the caller's code.
struct Operator {
    /// into[i] = into[i] op from[i], or with `other_first` from[i] op into[i], for `count` elements.
    using Apply = void (*)(const void* code, std::byte* into, const std::byte* from, Index count,
                           bool other_first);
    Apply apply = nullptr;
    const void* code = nullptr;
    bool commutes = true;
};

/// An operation that is associative and does not commute. Others are taken to do both.
template <class Code>
struct InOrder {
    Code code;
};
template <class Code>
InOrder(Code) -> InOrder<Code>;

template <class Op>
inline constexpr bool is_in_order = false;
template <class Code>
inline constexpr bool is_in_order<InOrder<Code>> = true;

namespace detail {

template <class T, class Code>
void apply(const void* code, std::byte* into, const std::byte* from, Index count, bool other_first) {
    const Code& combine = *static_cast<const Code*>(code);
    for (Index i = 0; i < count; ++i, into += sizeof(T), from += sizeof(T)) {
        T own;
        T other;
        std::memcpy(&own, into, sizeof(T));
        std::memcpy(&other, from, sizeof(T));
        own = other_first ? combine(other, own) : combine(own, other);
        std::memcpy(into, &own, sizeof(T));
    }
}

}  // namespace detail

template <class T, class Code>
Operator operator_of(const Code& code) {
    return {&detail::apply<T, Code>, &code, true};
}
template <class T, class Code>
Operator operator_of(const InOrder<Code>& in_order) {
    return {&detail::apply<T, Code>, &in_order.code, false};
}

struct Request {
    Operation operation = Operation::barrier;
    const Algorithm* algorithm = nullptr;
    bool by_price = false;  ///< the call says `auto`: rules do not choose
    RankId root = 0;
    Index count = 0;  ///< Call::count
    Index element_bytes = 1;
    Operator combine = {};
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    /// Input and output are only declared (declared.hpp): there is no memory, and messages have no content.
    bool declared = false;
    bool split_phase = false;
    const Exchange* exchange = nullptr;  ///< if it is one; then there is no algorithm

    const char* name() const { return exchange ? name_of(exchange->kind()) : name_of(operation); }
};

/// Throws Error if input and output, of so many elements, overlap.
void expect_apart(const Request& request, Index input, Index output);
[[noreturn]] void refuse_sizes(const Request& request, RankId ranks);

/// Throws Error unless two threads of a node make the same call, with the same arrays.
void expect_alike(NodeId node, std::uint32_t thread, const Request& request, std::uint32_t other_thread,
                  const Request& other);

/// What all ranks must say alike, and each message carries. Plain bytes.
struct Signature {
    std::uint64_t number = 0;  ///< of the call at its rank
    std::uint64_t count = 0;
    std::uint32_t element_bytes = 0;
    std::uint32_t root = 0;
    std::uint32_t operation = 0;  ///< and the flags `declared`, `split_phase`
    std::uint32_t algorithm = 0;  ///< its place in the table; `end` for the end of the program

    static constexpr std::uint32_t end = ~std::uint32_t{0};
    /// Of an exchange: `operation` is its kind, `root` its fingerprint.
    static constexpr std::uint32_t exchange = end - 1;
    static constexpr std::uint32_t declared = 1U << 31U;
    static constexpr std::uint32_t split_phase = 1U << 30U;

    bool operator==(const Signature&) const = default;
};

Signature signature_of(const Request& request, std::uint64_t number);
/// "all_reduce (ring) of 100 elements of 8 bytes".
std::string in_words(const Signature& signature);

}  // namespace heddle::spmd
