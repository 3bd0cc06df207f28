// The random tree of the UTS benchmark: a node's state is the SHA-1 digest of its parent's and its own
// number.
#include "workloads/uts_tree.hpp"

#include <nettle/sha1.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>

namespace heddle::workloads {

namespace {

using Digest = std::array<std::uint8_t, SHA1_DIGEST_SIZE>;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the words of a block are written as they lie");

/// Words of a block that are written at once, because the library reads them at once: it would wait for two
/// writes longer than it computes.
using Pair = std::uint64_t __attribute__((vector_size(16)));

/// One block of SHA-1 with its end mark and its length (FIPS 180-4, section 5.1.1).
using Block = std::array<Pair, SHA1_BLOCK_SIZE / sizeof(Pair)>;

/// Of so short a message that the library would spend more time on what long ones need.
Digest digest(const Block& block) {
    std::array<std::uint32_t, 5> words = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    nettle_sha1_compress(words.data(), reinterpret_cast<const std::uint8_t*>(block.data()));
    for (std::uint32_t& word : words) word = __builtin_bswap32(word);
    return std::bit_cast<Digest>(words);
}

/// Twenty bytes, and a number where there is one.
Block block_of(const Digest& bytes, std::optional<std::uint32_t> number) {
    Pair first;
    std::uint32_t fifth = 0;
    std::memcpy(&first, bytes.data(), sizeof first);
    std::memcpy(&fifth, bytes.data() + sizeof first, sizeof fifth);
    constexpr std::uint64_t end_mark = 0x80;
    const std::uint64_t after = number ? __builtin_bswap32(*number) : end_mark;
    const std::uint64_t bits = number ? 192 : 160;
    return {first, Pair{fifth | after << 32, number ? end_mark : 0}, Pair{},
            Pair{0, __builtin_bswap64(bits)}};
}

/// The node's random number in [0, 1): the last 31 bits of its state.
double uniform_of(const UtsNode& node) {
    std::uint32_t value = 0;
    for (int i = 16; i < 20; ++i) value = value << 8 | node.state[static_cast<std::size_t>(i)];
    return static_cast<double>(value & 0x7fffffffU) / 2147483648.0;
}

}  // namespace

UtsNode UtsTree::root() const {
    Digest start = {};
    const std::uint32_t number = __builtin_bswap32(static_cast<std::uint32_t>(seed));
    std::memcpy(start.data() + 16, &number, sizeof number);
    return {digest(block_of(start, std::nullopt)), 0};
}

UtsNode UtsTree::child(const UtsNode& node, std::int32_t index) {
    return {digest(block_of(node.state, static_cast<std::uint32_t>(index))), node.depth + 1};
}

std::int32_t UtsTree::binomial_children(double uniform) const {
    return uniform < non_leaf_probability ? non_leaf_children : 0;
}

bool UtsTree::geometric_at(std::int32_t at_depth) const {
    return type == Type::geometric || (type == Type::hybrid && at_depth < shift * static_cast<double>(depth));
}

double UtsTree::branching_at(std::int32_t at_depth) const {
    if (at_depth == 0) return root_branching;
    const double at = at_depth;
    switch (shape) {
        case Shape::linear:
            return root_branching * std::max(0.0, 1.0 - at / depth);
        case Shape::exponential:
            // The exponent is a division by zero: minus infinity for b > 1, and b = 1 is its limit.
            if (depth == 1) return at_depth == 1 ? root_branching : 0;
            return root_branching * std::pow(at, -std::log(root_branching) / std::log(depth));
        case Shape::cyclic:
            if (at_depth > 5 * depth) return 0;
            return std::pow(root_branching, std::sin(2.0 * std::numbers::pi * at / depth));
        case Shape::fixed:
            break;
    }
    return at_depth < depth ? root_branching : 0.0;
}

std::int32_t UtsTree::geometric_children(const UtsNode& node, double uniform) const {
    const double branching = branching_at(node.depth);
    if (branching == 0) return 0;  // the formula says so too, by way of an infinity
    const double stop = 1.0 / (1.0 + branching);
    return static_cast<std::int32_t>(std::floor(std::log(1.0 - uniform) / std::log(1.0 - stop)));
}

std::int32_t UtsTree::children(const UtsNode& node) const {
    if (type == Type::binomial && node.depth == 0)
        return static_cast<std::int32_t>(std::floor(root_branching));
    const double uniform = uniform_of(node);
    const std::int32_t count =
        geometric_at(node.depth) ? geometric_children(node, uniform) : binomial_children(uniform);
    return count > children_max ? children_max : count;
}

std::vector<double> UtsTree::expected_nodes() const {
    // Cyclic trees, the deepest, end at five times `depth`. No tree that can be searched has more nodes than
    // `most`.
    constexpr double most = 1e15;
    const auto end = static_cast<std::size_t>(std::min<std::int64_t>(std::int64_t{5} * depth + 1, 100'000));
    // T3L expects more than one child of a node, and so infinitely many nodes.
    const double rest = 1 - non_leaf_probability * non_leaf_children;
    const double below_binomial = rest > 0 ? std::min(most, 1 / rest) : most;
    std::vector<double> expected(end + 1, 1);
    for (std::size_t k = expected.size(); k-- > 0;) {
        const auto at_depth = static_cast<std::int32_t>(k);
        const double below = k < end ? expected[k + 1] : 1;
        expected[k] =
            geometric_at(at_depth) ? std::min(most, 1 + branching_at(at_depth) * below) : below_binomial;
    }
    return expected;
}

}  // namespace heddle::workloads
