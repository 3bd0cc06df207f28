// Connects this node to all other nodes, dispatches received frames, and reports a node that is lost.
#include "runtime/native/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "host/limits.hpp"
#include "runtime/native/rendezvous.hpp"

namespace heddle::native {

namespace {

/// How long the host of a node may leave data unacknowledged before the node counts as lost, and how long to
/// try to tell others of a loss.
constexpr std::chrono::seconds host_patience{8};
constexpr std::chrono::milliseconds farewell_max{200};

runtime::Bytes abort_payload(NodeId node, const std::string& reason) {
    runtime::Bytes payload(sizeof node + reason.size());
    std::memcpy(payload.data(), &node, sizeof node);
    std::memcpy(payload.data() + sizeof node, reason.data(), reason.size());
    return payload;
}

}  // namespace

Peers::Peers(const MeshOptions& given)
    : options(given),
      rank(given.membership.rank),
      nodes(given.membership.nodes),
      fingerprint(given.agreement.fingerprint()) {
    links.resize(nodes);
    host::allow_open_files(nodes + Listener::pending_max(nodes) + 64,
                           fmt::format("a run of {} nodes", nodes));
    connect_all();
    flows.resize(nodes);
    for (const auto& link : links) {
        if (!link) continue;
        const auto post_mark = [this, to = link.get()](std::uint64_t number) {
            const auto bytes = std::as_bytes(std::span(&number, 1));
            post(*to, FrameKind::mark, runtime::Bytes(bytes.begin(), bytes.end()), {});
        };
        flows[link->peer()] = std::make_unique<Flow>(options.window, post_mark);
    }
}

// --- meeting

/// On the listener's thread.
std::string Peers::admit(const Identity& peer) {
    const std::lock_guard lock(mutex);
    if (peer.rank >= nodes || peer.rank <= rank)
        return fmt::format("node {} is not expected here", peer.rank);
    if (links[peer.rank]) return fmt::format("node {} is connected already", peer.rank);
    // The rendezvous has compared the nodes. This refuses a process of another run that has the key.
    if (peer.fingerprint != fingerprint) return fmt::format("node {} belongs to another run", peer.rank);
    return {};
}

void Peers::accept(Descriptor socket, const Session& session) {
    const std::lock_guard lock(mutex);
    links[session.peer.rank] = std::make_unique<Link>(std::make_unique<SocketStream>(std::move(socket)),
                                                      session, options.frame_bytes_max);
    ++connected;
    changed.notify_all();
}

void Peers::connect_all() {
    const Identity self{rank, nodes, fingerprint, {}};
    listener_ = std::make_unique<Listener>(
        options.address, options.membership.key, self,
        Listener::Callbacks{
            [this](const Identity& peer) { return admit(peer); },
            [this](Descriptor socket, const Session& session) { accept(std::move(socket), session); }});
    const std::vector<std::string> table =
        meet(options.membership, options.agreement, listener_->address(), options.meeting_max);
    const Deadline deadline = Clock::now() + options.meeting_max;
    // The nearest lower node first, so that not all nodes begin with node 0.
    for (NodeId node = rank; node-- > 0;) {
        Connection connection = introduce_until(
            table[node], options.membership.key, [&self](int) { return self; }, node, deadline);
        accept(std::move(connection.socket), connection.session);
    }
    std::unique_lock lock(mutex);
    changed.wait_until(lock, deadline, [this] { return connected == nodes - 1; });
    for (NodeId node = 0; node < nodes; ++node)
        if (node != rank && !links[node])
            throw Error(fmt::format("node {} did not connect to node {} within {} s", node, rank,
                                    static_cast<double>(options.meeting_max.count()) / 1000));
}

// --- receiving

bool Peers::receive_from(Link& link, Link::When when) {
    const std::string failure =
        link.receive([&](FrameKind kind, std::span<const std::byte> payload,
                         runtime::Body body) { take(link, kind, payload, std::move(body)); },
                     when);
    if (stopping.load(std::memory_order_acquire)) return false;
    if (!failure.empty()) lose(link.peer(), failure);
    return failure.empty() && !link.ended();
}

void Peers::take(Link& link, FrameKind kind, std::span<const std::byte> payload, runtime::Body body) {
    switch (kind) {
        case FrameKind::message:
            events.deliver(link.peer(), payload, std::move(body));
            break;
        case FrameKind::padding:
            break;
        case FrameKind::mark:
            post(link, FrameKind::handled, runtime::Bytes(payload.begin(), payload.end()), {});
            break;
        case FrameKind::handled: {
            std::uint64_t number = 0;
            std::memcpy(&number, payload.data(), std::min(sizeof number, payload.size()));
            flows[link.peer()]->handled(number);
            news();
            break;
        }
        case FrameKind::goodbye: {
            {
                const std::lock_guard lock(mutex);
                ++parted;
                changed.notify_all();
            }
            news();
            break;
        }
        case FrameKind::abort: {
            NodeId node = link.peer();
            std::memcpy(&node, payload.data(), std::min(sizeof node, payload.size()));
            payload = payload.subspan(std::min(sizeof node, payload.size()));
            lose(node, {reinterpret_cast<const char*>(payload.data()), payload.size()});
            break;
        }
        default:
            events.control(link.peer(), kind, payload);
            news();
    }
}

void Peers::lose(NodeId node, const std::string& reason) {
    {
        const std::lock_guard lock(mutex);
        if (std::exchange(lost, true)) return;
        changed.notify_all();
    }
    for (const auto& flow : flows)
        if (flow) flow->open();
    // The others are told first: when this process ends too, they must not take it for the cause.
    for (const auto& link : links)
        if (link && link->peer() != node && !link->ended())
            post(*link, FrameKind::abort, abort_payload(node, reason), {});
    write_all_until(Clock::now() + farewell_max);
    events.lost(node, reason);
    news();
}

void Peers::look_for_dead_hosts() {
    for (const auto& link : links)
        if (link && host_is_dead(link->descriptor(), host_patience))
            link->give_up("its machine does not answer");
}

}  // namespace heddle::native
