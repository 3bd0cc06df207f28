// Passes the frames that start and end a run to nodes that only gateways can reach: wraps them, and sends
// them on.
#include "runtime/native/relay.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace heddle::native {

namespace {

/// Ahead of the payload of a frame that is passed on.
struct Label {
    NodeId from;
    NodeId to;
    FrameKind kind;
};

}  // namespace

Relay::Relay(NodeId rank, NodeId nodes, std::shared_ptr<const NetworkRoutes> routes, Transport& transport)
    : rank_(rank), nodes_(nodes), routes_(std::move(routes)), transport_(transport) {}

void Relay::post(NodeId to, FrameKind kind, runtime::Bytes payload) {
    if (!routes_ || routes_->joined(rank_, to)) {
        if (kind == FrameKind::start) transport_.expect(to);
        return transport_.post(to, kind, std::move(payload), {});
    }
    const Label label{rank_, to, kind};
    const auto bytes = std::as_bytes(std::span(&label, 1));
    payload.insert(payload.begin(), bytes.begin(), bytes.end());
    transport_.post(routes_->next(rank_, to).to, FrameKind::relay, std::move(payload), {});
}

void Relay::take(NodeId from, FrameKind kind, std::span<const std::byte> payload,
                 const std::function<void(NodeId, FrameKind, std::span<const std::byte>)>& handle) {
    if (kind != FrameKind::relay) return handle(from, kind, payload);
    Label label{};
    if (!routes_ || payload.size() < sizeof label) return;
    std::memcpy(&label, payload.data(), sizeof label);
    if (label.from >= nodes_ || label.to >= nodes_ || label.from == rank_ || label.kind == FrameKind::relay)
        return;
    if (label.to == rank_) return handle(label.from, label.kind, payload.subspan(sizeof label));
    const NodeId next = routes_->next(rank_, label.to).to;
    if (label.kind == FrameKind::start && next == label.to) transport_.expect(next);
    transport_.post(next, FrameKind::relay, {payload.begin(), payload.end()}, {});
}

std::vector<NodeId> Relay::farthest_first() const {
    std::vector<NodeId> order;
    for (NodeId node = 0; node < nodes_; ++node)
        if (node != rank_) order.push_back(node);
    if (routes_)
        std::ranges::stable_sort(order, std::greater{},
                                 [this](NodeId node) { return routes_->hops(rank_, node); });
    return order;
}

}  // namespace heddle::native
