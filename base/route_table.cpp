// Routes between nodes in three forms: equal for all pairs, by the levels of a tree, or row by row.
#include "base/route_table.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle {

RouteTable RouteTable::equal(Route route) {
    RouteTable table;
    table.uniform_ = true;
    table.kinds_ = {route};
    table.nodes_ = 2;
    return table;
}

RouteTable RouteTable::tree(NodeId nodes, std::vector<NodeId> below, std::vector<Route> at_level) {
    HEDDLE_ASSERT(!below.empty() && below.size() == at_level.size() && below.back() >= nodes);
    RouteTable table;
    table.nodes_ = nodes;
    table.uniform_ = below.front() >= nodes;
    table.below_ = std::move(below);
    table.kinds_ = std::move(at_level);
    return table;
}

RouteTable RouteTable::rows(NodeId nodes, Fetch fetch) {
    RouteTable table;
    table.nodes_ = nodes;
    table.fetch_ = std::move(fetch);
    table.rows_.resize(nodes);
    if (nodes > rows_all) return table;
    for (NodeId node = 0; node < nodes; ++node) table.row(node);
    table.uniform_ = table.kinds_.size() == 1;
    return table;
}

RouteTable::Plain RouteTable::plain() const {
    if (uniform_) return {nodes_, {kinds_.front()}, {nodes_}, {}};
    if (!below_.empty()) return {nodes_, kinds_, below_, {}};
    for (NodeId node = 0; node < nodes_; ++node) row(node);
    return {nodes_, kinds_, {}, rows_};
}

RouteTable RouteTable::of(Plain plain) {
    const auto require = [](bool fits) {
        if (!fits) throw Error("the routes between nodes do not fit each other", "write the schedule again");
    };
    require(plain.nodes > 0 && !plain.kinds.empty());
    for (const Route& kind : plain.kinds) require(kind.latency >= Time::zero() && kind.bandwidth > 0);
    if (!plain.below.empty()) {
        require(plain.below.size() == plain.kinds.size() && plain.below.back() >= plain.nodes);
        require(plain.below.front() > 0 && std::is_sorted(plain.below.begin(), plain.below.end()));
        return tree(plain.nodes, std::move(plain.below), std::move(plain.kinds));
    }
    require(plain.rows.size() == plain.nodes);
    for (const auto& row : plain.rows) {
        require(row.size() == plain.nodes);
        for (const std::uint32_t kind : row) require(kind < plain.kinds.size());
    }
    return rows(plain.nodes, [plain](NodeId from) {
        std::vector<Route> row;
        for (const std::uint32_t kind : plain.rows[from]) row.push_back(plain.kinds[kind]);
        return row;
    });
}

const std::vector<std::uint32_t>& RouteTable::row(NodeId from) const {
    std::vector<std::uint32_t>& row = rows_[from];
    if (!row.empty()) return row;
    const std::vector<Route> routes = fetch_(from);
    HEDDLE_ASSERT(routes.size() == nodes_);
    row.resize(nodes_);
    for (NodeId to = 0; to < nodes_; ++to) {
        if (to == from) continue;
        const Route& route = routes[to];
        const auto [kind, is_new] = kind_of_.try_emplace({route.latency.count(), route.bandwidth},
                                                         static_cast<std::uint32_t>(kinds_.size()));
        if (is_new) kinds_.push_back(route);
        row[to] = kind->second;
    }
    return row;
}

const RouteTable::Route& RouteTable::between(NodeId from, NodeId to) const {
    if (uniform_) return kinds_.front();
    if (below_.empty()) return kinds_[row(from)[to]];
    std::size_t level = 0;
    while (from / below_[level] != to / below_[level]) ++level;
    return kinds_[level];
}

NodeId RouteTable::same_until(NodeId from, NodeId to) const {
    if (uniform_) return nodes_;
    if (below_.empty()) {
        const std::vector<std::uint32_t>& kinds = row(from);
        const auto start = kinds.begin() + to;
        const auto end =
            std::find_if(start, kinds.end(), [start](std::uint32_t kind) { return kind != *start; });
        return static_cast<NodeId>(end - kinds.begin());
    }
    // From a subtree that both share, the subtree of one level less that holds `from` is left out.
    std::size_t level = 0;
    while (from / below_[level] != to / below_[level]) ++level;
    const std::uint64_t shared_end = (std::uint64_t{to} / below_[level] + 1) * below_[level];
    const NodeId inner = level == 0 ? from : from / below_[level - 1] * below_[level - 1];
    return inner > to ? inner : static_cast<NodeId>(std::min<std::uint64_t>(shared_end, nodes_));
}

/// Ordered pairs of nodes whose lowest common switch has that level.
std::vector<std::uint64_t> RouteTable::pairs_at_level() const {
    std::vector<std::uint64_t> pairs;
    std::uint64_t lower = 0;
    for (const NodeId below : below_) {
        const std::uint64_t full = nodes_ / below, rest = nodes_ % below;
        const std::uint64_t each = std::uint64_t{below} * (below - 1);
        const std::uint64_t all = full * each + (rest > 0 ? rest * (rest - 1) : 0);
        pairs.push_back(all - lower);
        lower = all;
    }
    return pairs;
}

/// The nodes whose routes the mean looks at.
std::vector<NodeId> RouteTable::sources() const {
    constexpr NodeId sampled = 16;
    const NodeId count = nodes_ <= rows_all ? nodes_ : sampled;
    std::vector<NodeId> found;
    for (NodeId i = 0; i < count; ++i)
        found.push_back(static_cast<NodeId>(std::uint64_t{i} * nodes_ / count));
    return found;
}

RouteTable::Mean RouteTable::mean() const {
    if (nodes_ < 2) return {};
    std::vector<std::uint64_t> count(kinds_.size(), 1);
    if (!below_.empty()) {
        count = pairs_at_level();
    } else if (fetch_) {
        const std::vector<NodeId> from = sources();
        for (const NodeId source : from) row(source);  // may find new kinds
        count.assign(kinds_.size(), 0);
        for (const NodeId source : from) {
            for (NodeId to = 0; to < nodes_; ++to) {
                if (to != source) ++count[row(source)[to]];
            }
        }
    }
    double all = 0;
    Mean sum;
    for (std::size_t kind = 0; kind < count.size(); ++kind) {
        if (count[kind] == 0) continue;
        const auto pairs = static_cast<double>(count[kind]);
        all += pairs;
        sum.latency += pairs * to_seconds(kinds_[kind].latency);
        sum.seconds_per_byte += pairs / kinds_[kind].bandwidth;
    }
    return {sum.latency / all, sum.seconds_per_byte / all};
}

RouteTable::Bounds RouteTable::bounds() const {
    Bounds bounds;
    if (fetch_ && nodes_ > rows_all) return bounds;
    const std::vector<std::uint64_t> count =
        below_.empty() ? std::vector<std::uint64_t>(kinds_.size(), 1) : pairs_at_level();
    bool first = true;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
        if (count[kind] == 0) continue;
        const double latency = to_seconds(kinds_[kind].latency), byte = 1 / kinds_[kind].bandwidth;
        if (first) bounds.least = bounds.most = {latency, byte};
        bounds.least = {std::min(bounds.least.latency, latency),
                        std::min(bounds.least.seconds_per_byte, byte)};
        bounds.most = {std::max(bounds.most.latency, latency), std::max(bounds.most.seconds_per_byte, byte)};
        first = false;
    }
    return bounds;
}

}  // namespace heddle
