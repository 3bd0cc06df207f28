// Computes with layouts of distributed arrays: which part has an element, and at which local index.
#include "model/spmd/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"

namespace heddle::spmd {

namespace {

Index block_of(Index extent, const Distribution& distribution, std::uint32_t parts) {
    if (parts == 0) throw Error("a dimension is dealt out to no part", "give it at least 1");
    if (distribution.kind == Distribution::Kind::cyclic) return std::max<Index>(1, distribution.size);
    if (distribution.kind == Distribution::Kind::undistributed) {
        if (parts != 1)
            throw Error(fmt::format("an undistributed dimension has {} parts", parts),
                        "give it 1, or a distribution");
        return std::max<Index>(1, extent);
    }
    const Index even = std::max<Index>(1, (extent + parts - 1) / parts);
    if (distribution.size == 0) return even;
    if (distribution.size < even)
        throw Error(
            fmt::format("BLOCK({}) has {} parts, with too little room for {} elements", distribution.size,
                        parts, extent),
            fmt::format("BLOCK({}) has room; CYCLIC({}) deals out further turns", even, distribution.size));
    return distribution.size;
}

}  // namespace

Index Bounds::size() const {
    if (empty()) return 0;
    const Index length = upper - lower;
    return length / stride * block + std::min(block, length % stride);
}

Dealt::Dealt(Index extent, Distribution distribution, std::uint32_t parts)
    : extent_(extent), block_(block_of(extent, distribution, parts)), parts_(parts) {}

Index Dealt::count(std::uint32_t part) const {
    const Index turn = block_ * parts_;
    const Index rest = extent_ % turn;
    const Index before = block_ * part;
    return extent_ / turn * block_ + (rest > before ? std::min(block_, rest - before) : 0);
}

std::uint32_t Dealt::owner(Index global) const {
    return static_cast<std::uint32_t>(global / block_ % parts_);
}

Bounds Dealt::bounds(std::uint32_t part) const {
    const Index own = count(part);
    if (own == 0) return {};
    const Index lower = block_ * part;
    const Index upper = global(part, own - 1) + 1;
    if (upper - lower <= block_) return {lower, upper, upper - lower, upper - lower};
    return {lower, upper, block_ * parts_, block_};
}

Layout::Layout(const std::vector<Dimension>& dimensions) {
    for (const Dimension& given : dimensions) {
        const Levels levels{Dealt(given.extent, given.nodes, given.node_parts), given.threads,
                            given.thread_parts};
        levels.within(0);  // the part that has the most
        dimensions_.push_back(levels);
        nodes_ *= given.node_parts;
        threads_ *= given.thread_parts;
    }
}

Index Layout::elements() const {
    Index product = 1;
    for (const Levels& levels : dimensions_) product *= levels.nodes.extent();
    return product;
}

std::uint32_t Layout::node_part(NodeId node, std::size_t dimension) const {
    for (std::size_t d = dimensions_.size(); --d > dimension;) node /= dimensions_[d].nodes.parts();
    return node % dimensions_[dimension].nodes.parts();
}

std::uint32_t Layout::thread_part(std::uint32_t thread, std::size_t dimension) const {
    for (std::size_t d = dimensions_.size(); --d > dimension;) thread /= dimensions_[d].thread_parts;
    return thread % dimensions_[dimension].thread_parts;
}

void Layout::expect(std::size_t indices) const {
    if (indices == dimensions_.size()) return;
    throw Error(fmt::format("{} indices for an array of {} dimensions", indices, dimensions_.size()),
                "give one for each dimension");
}

std::vector<Index> Layout::extents(NodeId node) const {
    if (node >= nodes_) return std::vector<Index>(dimensions_.size());
    std::vector<Index> all;
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
        all.push_back(dimensions_[d].nodes.count(node_part(node, d)));
    return all;
}

std::vector<Bounds> Layout::domain_of_node(NodeId node) const {
    if (node >= nodes_) return std::vector<Bounds>(dimensions_.size());
    std::vector<Bounds> domain;
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
        domain.push_back(dimensions_[d].nodes.bounds(node_part(node, d)));
    return domain;
}

std::vector<Bounds> Layout::domain_of_thread(NodeId node, std::uint32_t thread) const {
    if (node >= nodes_ || thread >= threads_) return std::vector<Bounds>(dimensions_.size());
    std::vector<Bounds> domain;
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
        domain.push_back(dimensions_[d].within(node_part(node, d)).bounds(thread_part(thread, d)));
    return domain;
}

NodeId Layout::owner_node(std::span<const Index> global) const {
    return owner_thread(global).node;
}

Owner Layout::owner_thread(std::span<const Index> global) const {
    expect(global.size());
    Owner owner;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
        const Levels& levels = dimensions_[d];
        const std::uint32_t part = levels.nodes.owner(global[d]);
        const std::uint32_t thread = levels.within(part).owner(levels.nodes.local(global[d]));
        owner.node = owner.node * levels.nodes.parts() + part;
        owner.thread = owner.thread * levels.thread_parts + thread;
    }
    return owner;
}

// The owners are the product, over the dimensions, of the parts that own one of the references there.
std::vector<Owner> Layout::owner_threads(std::span<const Bounds> references) const {
    expect(references.size());
    std::vector<Owner> owners{{}};
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
        const Levels& levels = dimensions_[d];
        const auto parts = static_cast<std::size_t>(levels.nodes.parts()) * levels.thread_parts;
        std::set<Owner> here;
        const Index upper = std::min(references[d].upper, levels.nodes.extent());
        for (Index i = references[d].lower; i < upper && here.size() < parts; ++i) {
            if (!references[d].contains(i)) continue;
            const std::uint32_t part = levels.nodes.owner(i);
            here.insert({part, levels.within(part).owner(levels.nodes.local(i))});
        }
        std::vector<Owner> longer;
        for (const Owner& before : owners)
            for (const Owner& part : here)
                longer.push_back({before.node * levels.nodes.parts() + part.node,
                                  before.thread * levels.thread_parts + part.thread});
        owners = std::move(longer);
    }
    std::ranges::sort(owners);
    return owners;
}

std::vector<Index> Layout::global(NodeId node, std::span<const Index> local) const {
    expect(local.size());
    std::vector<Index> all;
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
        all.push_back(dimensions_[d].nodes.global(node_part(node, d), local[d]));
    return all;
}

std::vector<Index> Layout::local(std::span<const Index> global) const {
    expect(global.size());
    std::vector<Index> all;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) all.push_back(dimensions_[d].nodes.local(global[d]));
    return all;
}

}  // namespace heddle::spmd
