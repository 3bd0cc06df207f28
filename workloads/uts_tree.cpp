#include "workloads/uts_tree.hpp"

#include <nettle/sha1.h>

#include <cmath>
#include <cstring>
#include <numbers>

namespace heddle::workloads {

namespace {

void put_big_endian(std::uint8_t* at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

using Digest = std::array<std::uint8_t, SHA1_DIGEST_SIZE>;

Digest digest(const std::uint8_t* bytes, std::size_t count) {
    sha1_ctx context;
    sha1_init(&context);
    sha1_update(&context, count, bytes);
    Digest result;
    sha1_digest(&context, result.size(), result.data());
    return result;
}

/// The node's random number in [0, 1): the last 31 bits of its state.
double uniform_of(const UtsNode& node) {
    std::uint32_t value = 0;
    for (int i = 16; i < 20; ++i) value = value << 8 | node.state[static_cast<std::size_t>(i)];
    return static_cast<double>(value & 0x7fffffffU) / 2147483648.0;
}

constexpr std::int32_t most_children = 100;

}  // namespace

UtsNode UtsTree::root() const {
    std::uint8_t start[20] = {};
    put_big_endian(start + 16, static_cast<std::uint32_t>(seed));
    return {digest(start, sizeof start), 0};
}

UtsNode UtsTree::child(const UtsNode& node, std::int32_t index) {
    std::uint8_t message[24];
    std::memcpy(message, node.state.data(), 20);
    put_big_endian(message + 20, static_cast<std::uint32_t>(index));
    return {digest(message, sizeof message), node.depth + 1};
}

std::int32_t UtsTree::binomial_children(double uniform) const {
    return uniform < non_leaf_probability ? non_leaf_children : 0;
}

std::int32_t UtsTree::geometric_children(const UtsNode& node, double uniform) const {
    double branching = root_branching;
    if (node.depth > 0) {
        const double at = node.depth;
        switch (shape) {
            case Shape::linear:
                branching = root_branching * (1.0 - at / depth);
                break;
            case Shape::exponential:
                branching = root_branching * std::pow(at, -std::log(root_branching) / std::log(depth));
                break;
            case Shape::cyclic:
                branching = node.depth > 5 * depth
                                ? 0.0
                                : std::pow(root_branching, std::sin(2.0 * std::numbers::pi * at / depth));
                break;
            case Shape::fixed:
                branching = node.depth < depth ? root_branching : 0.0;
                break;
        }
    }
    const double stop = 1.0 / (1.0 + branching);
    return static_cast<std::int32_t>(std::floor(std::log(1.0 - uniform) / std::log(1.0 - stop)));
}

std::int32_t UtsTree::children(const UtsNode& node) const {
    if (type == Type::binomial && node.depth == 0)
        return static_cast<std::int32_t>(std::floor(root_branching));
    const double uniform = uniform_of(node);
    const bool geometric =
        type == Type::geometric || (type == Type::hybrid && node.depth < shift * static_cast<double>(depth));
    const std::int32_t count = geometric ? geometric_children(node, uniform) : binomial_children(uniform);
    return count > most_children ? most_children : count;
}

}  // namespace heddle::workloads
