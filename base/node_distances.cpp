// Groups nodes by the latency between them, and computes mean latencies from the groups.
#include "base/node_distances.hpp"

#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/assert.hpp"

namespace heddle {

NodeDistances::NodeDistances(NodeId nodes, Time latency) : mean_(latency) {
    sort(std::vector<std::uint32_t>(nodes, 0));
}

NodeDistances::NodeDistances(const std::vector<std::uint32_t>& labels, const Latency& latency, Time mean)
    : mean_(mean) {
    sort(labels);
    if (groups() > groups_max || !latency) return;
    for (std::uint32_t from = 0; from < groups(); ++from) {
        for (std::uint32_t to = 0; to < groups(); ++to) {
            const auto near = members(from);
            if (from != to) {
                between_.push_back(latency(near.front(), members(to).front()));
            } else {
                between_.push_back(near.size() > 1 ? latency(near[0], near[1]) : Time::zero());
            }
        }
    }
}

NodeDistances::NodeDistances(const std::vector<std::uint32_t>& labels, RouteTable exact)
    : exact_(std::move(exact)) {
    sort(labels);
}

/// Numbers the groups, and collects the nodes of each.
void NodeDistances::sort(const std::vector<std::uint32_t>& labels) {
    HEDDLE_ASSERT(!labels.empty());
    std::unordered_map<std::uint32_t, std::uint32_t> number;  // never iterated over
    std::vector<std::size_t> sizes;
    for (const std::uint32_t label : labels) {
        const auto [found, is_new] = number.try_emplace(label, static_cast<std::uint32_t>(sizes.size()));
        if (is_new) sizes.push_back(0);
        ++sizes[found->second];
        group_.push_back(found->second);
    }
    first_.assign(sizes.size() + 1, 0);
    std::inclusive_scan(sizes.begin(), sizes.end(), first_.begin() + 1);
    members_.resize(labels.size());
    std::vector<std::size_t> next = first_;
    for (NodeId node = 0; node < nodes(); ++node) members_[next[group_[node]]++] = node;
}

Time NodeDistances::latency(NodeId from, NodeId to) const {
    if (from == to) return Time::zero();
    if (exact_) return exact_->between(from, to).latency;
    if (between_.empty()) return mean_;
    return between_[std::size_t{group_[from]} * groups() + group_[to]];
}

}  // namespace heddle
