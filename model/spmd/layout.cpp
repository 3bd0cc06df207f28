// Computes with layouts of distributed arrays: which part has an element, and at which local index.
#include "model/spmd/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace heddle::spmd {

namespace {

Index block_of(Index extent, const Distribution& distribution, std::uint32_t parts) {
    if (parts == 0) throw Error("a dimension is dealt out to no part", "give it at least 1");
    // Beyond the extent there is no element that a larger block could have.
    const Index most = std::max<Index>(1, extent);
    if (distribution.kind == Distribution::Kind::cyclic) return std::clamp<Index>(distribution.size, 1, most);
    if (distribution.kind == Distribution::Kind::undistributed) {
        if (parts != 1)
            throw Error(fmt::format("an undistributed dimension has {} parts", parts),
                        "give it 1, or a distribution");
        return most;
    }
    const Index even = std::max<Index>(1, (extent + parts - 1) / parts);
    if (distribution.size == 0) return even;
    if (distribution.size < even)
        throw Error(
            fmt::format("BLOCK({}) has {} parts, with too little room for {} elements", distribution.size,
                        parts, extent),
            fmt::format("BLOCK({}) has room; CYCLIC({}) deals out further turns", even, distribution.size));
    return std::min(distribution.size, most);
}

/// The parts of all dimensions together, which are nodes or threads.
std::uint32_t product_of(std::uint64_t parts, std::uint32_t of_next, const char* what) {
    if (parts * of_next > std::numeric_limits<std::uint32_t>::max())
        throw Error(fmt::format("a layout has more than 4294967295 {}", what),
                    "deal its dimensions out to fewer parts");
    return static_cast<std::uint32_t>(parts * of_next);
}

/// The first index from `from` on that is among the references, or one above them.
Index next_reference(const Bounds& references, Index from) {
    if (from <= references.lower) return references.lower;
    const Index after = (from - references.lower) % references.stride;
    return after < references.block ? from : from + references.stride - after;
}

/// After so many blocks of a part the references lie in them as before.
Index blocks_until_repeated(const Dealt& nodes, const Bounds& references) {
    return references.stride / std::gcd(references.stride, nodes.block() * nodes.parts());
}

/// Whether one of the references is among the elements of a part that lie there, in its local indices.
bool has_reference(const Dealt& nodes, std::uint32_t part, Index local, Index end, const Bounds& references) {
    // The first block may lack its begin.
    Index blocks = blocks_until_repeated(nodes, references) + 1;
    for (; local < end && blocks > 0; --blocks) {
        const Index next = std::min(end, (local / nodes.block() + 1) * nodes.block());
        const Index global = nodes.global(part, local);
        if (next_reference(references, global) < std::min(references.upper, global + (next - local)))
            return true;
        local = next;
    }
    return false;
}

/// The least common multiple; at least `enough`, if it is not less.
Index common_multiple(Index a, Index b, Index enough) {
    const Index factor = a / std::gcd(a, b);
    return factor > enough / b ? std::max(enough, a) : factor * b;
}

/// Which threads of a part of the nodes have one of the references. It goes through the threads' blocks:
/// until all repeats, and in each block of the nodes until threads and references repeat.
std::vector<bool> threads_with_references(const Dealt& nodes, const Dealt& threads, std::uint32_t part,
                                          const Bounds& references) {
    std::vector<bool> found(threads.parts());
    const Index begin = nodes.count_below(std::min(references.lower, nodes.extent()), part);
    const Index last = nodes.count_below(std::min(references.upper, nodes.extent()), part);
    if (begin >= last) return found;
    const Index repeated =
        common_multiple(common_multiple(threads.block() * threads.parts(), nodes.block(), last),
                        blocks_until_repeated(nodes, references) * nodes.block(), last);
    const Index end = begin + std::min(last - begin, repeated);
    const Index within_block = common_multiple(threads.block() * threads.parts(), references.stride, last);
    std::uint32_t missing = threads.parts();
    for (Index local = begin; local < end && missing > 0;) {
        const Index next = std::min(end, (local / threads.block() + 1) * threads.block());
        const std::uint32_t thread = threads.owner(local);
        if (!found[thread] && has_reference(nodes, part, local, next, references)) {
            found[thread] = true;
            --missing;
        }
        const Index block = next / nodes.block() * nodes.block();
        local = next - std::max(begin, block) >= within_block ? block + nodes.block() : next;
    }
    return found;
}

}  // namespace

Index Bounds::size() const {
    if (empty()) return 0;
    const Index length = upper - lower;
    return length / stride * block + std::min(block, length % stride);
}

Dealt::Dealt(Index extent, Distribution distribution, std::uint32_t parts)
    : extent_(extent), block_(block_of(extent, distribution, parts)), parts_(parts) {}

Index Dealt::count_below(Index global, std::uint32_t part) const {
    const Index turn = block_ * parts_;
    const Index rest = global % turn;
    const Index before = block_ * part;
    return global / turn * block_ + (rest > before ? std::min(block_, rest - before) : 0);
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
        nodes_ = product_of(nodes_, given.node_parts, "nodes");
        threads_ = product_of(threads_, given.thread_parts, "threads");
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
        std::vector<Owner> here;
        for (std::uint32_t part = 0; part < levels.nodes.parts(); ++part) {
            const std::vector<bool> found =
                threads_with_references(levels.nodes, levels.within(part), part, references[d]);
            for (std::uint32_t thread = 0; thread < levels.thread_parts; ++thread)
                if (found[thread]) here.push_back({part, thread});
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
