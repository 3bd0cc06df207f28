#include "sim/network.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::sim {

Network::Network(SimgridProcess& simgrid, const heddle::Network& settings)
    : simgrid_(simgrid),
      nodes_(static_cast<NodeId>(simgrid.facts().hosts.size())),
      lookahead_(simgrid.facts().lookahead),
      contention_(settings.contention),
      gap_(settings.gap),
      small_bytes_(settings.small_message_bytes),
      blocks_(nodes_),
      kinds_(1),
      late_until_(nodes_),
      card_free_(nodes_) {}

void Network::fetch(NodeId from, NodeId first, Block& block) {
    const NodeId count = std::min(block_nodes, nodes_ - first);
    const std::vector<RouteFacts> facts = simgrid_.routes(from, first, count);
    for (NodeId i = 0; i < count; ++i) {
        const auto [kind, is_new] = kind_of_.try_emplace({facts[i].latency, facts[i].bandwidth},
                                                         static_cast<std::uint32_t>(kinds_.size()));
        if (is_new) kinds_.push_back({facts[i].latency, facts[i].bandwidth});
        block[i] = kind->second;
    }
}

const Network::Route& Network::route(NodeId from, NodeId to) {
    auto& row = blocks_[from];
    if (row.empty()) row.resize((nodes_ + block_nodes - 1) / block_nodes);
    auto& block = row[to / block_nodes];
    if (!block) {
        block = std::make_unique<Block>();
        fetch(from, to / block_nodes * block_nodes, *block);
    }
    const Route& found = kinds_[(*block)[to % block_nodes]];
    if (!(found.bandwidth > 0)) {
        throw Error(fmt::format("the platform has no route from node {} to node {}", from, to),
                    "every host must reach every other");
    }
    HEDDLE_ASSERT(found.latency >= lookahead_);
    return found;
}

Path& Network::path(NodeId from, NodeId to) {
    const auto [found, is_new] = paths_.try_emplace(std::uint64_t{from} << 32 | to);
    Path& path = found->second;
    if (is_new) {
        path.links = simgrid_.links(from, to);
        const double latency = to_seconds(route(from, to).latency);
        if (latency > 0) path.weight = 1 / latency;
    }
    return path;
}

void Network::send(Time departure, Message& message) {
    const Route& way = route(message.from, message.to);
    const auto bytes = static_cast<double>(message.size());
    const Time transfer = from_seconds(bytes / way.bandwidth);
    if (!contention_) {
        known_.push_back({departure + transfer + way.latency, &message});
        return;
    }
    Time& card_free = card_free_[message.from];
    const Time start = std::max(departure, card_free);
    if (message.size() < small_bytes_) {
        card_free = start + std::max(gap_, transfer);
        Time arrival = start + transfer + way.latency;
        Time& late_until = late_until_[message.from];
        if (!load_.empty() || arrival < late_until) {
            Path& on_way = path(message.from, message.to);
            const double bandwidth = std::min(way.bandwidth, load_.bandwidth(on_way));
            arrival = start + from_seconds(bytes / bandwidth) + way.latency;
            arrival = std::max(arrival, on_way.last_arrival);  // none overtakes another of the same pair
            on_way.last_arrival = arrival;
            late_until = std::max(late_until, arrival);
        }
        known_.push_back({arrival, &message});
        return;
    }
    card_free = start + gap_;
    // Unique, and the same whatever the other nodes do.
    const std::uint64_t id = std::uint64_t{message.from} << 40 | message.sequence;
    const FlowStart flow{id, start + way.latency - lookahead_, message.from, message.to, message.size()};
    first_unsent_ = std::min(first_unsent_, flow.start);
    // A little less than the formula says, so that no rounding makes it too late.
    earliest_ends_.emplace(flow.start + transfer - transfer / 1000000 - Time(1), id);
    beginning_.emplace(flow.start, id);
    flows_.emplace(id, Flow{&message});
    unsent_.push_back(flow);
}

void Network::begin_window(Time now) {
    while (!beginning_.empty() && beginning_.top().first < now) {
        const auto found = flows_.find(beginning_.top().second);
        beginning_.pop();
        if (found == flows_.end()) continue;  // has ended already
        Flow& flow = found->second;
        flow.loads = true;
        flow.handle = load_.begin(path(flow.message->from, flow.message->to));
    }
}

void Network::take(std::vector<Arrival>& arrivals) {
    arrivals.swap(known_);
    known_.clear();
}

Time Network::quiet_until() {
    if (flows_.empty()) return never;
    while (!flows_.contains(earliest_ends_.top().second)) earliest_ends_.pop();
    // A new flow may speed up another one: it takes bandwidth from a third, which gives way elsewhere.
    return std::max(earliest_ends_.top().first, std::min(simgrid_quiet_, first_unsent_));
}

void Network::advance(Time until) {
    const SimgridProcess::Advance advance = simgrid_.advance(unsent_, until);
    unsent_.clear();
    first_unsent_ = never;
    simgrid_quiet_ = advance.quiet_until;
    for (const FlowEnd& flow : advance.ends) {
        const auto found = flows_.find(flow.id);
        HEDDLE_ASSERT(found != flows_.end());
        const Flow& ended = found->second;
        known_.push_back({flow.end + lookahead_, ended.message});
        if (ended.loads) load_.end(ended.handle);
        flows_.erase(found);
    }
}

}  // namespace heddle::sim
