// Connects this node to all other nodes, dispatches received frames, and reports a node that is lost.
#include "runtime/native/peers.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "host/limits.hpp"
#include "runtime/native/rendezvous.hpp"
#include "runtime/native/unix_socket.hpp"

namespace heddle::native {

namespace {

/// How long the host of a node may leave data unacknowledged before the node counts as lost, and how long to
/// try to tell others of a loss.
constexpr std::chrono::seconds host_patience{8};
constexpr std::chrono::milliseconds farewell_max{200};

/// Between two looks whether everything has been acknowledged.
constexpr std::chrono::microseconds settle_pause{50}, settle_pause_max{1000};

/// How long datagrams may take to come through when all processes have connected by TCP.
constexpr std::chrono::seconds datagrams_max{4};

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
    if (met_[peer.rank]) return fmt::format("node {} is connected already", peer.rank);
    // The rendezvous has compared the nodes. This refuses a process of another run that has the key.
    if (peer.fingerprint != fingerprint) return fmt::format("node {} belongs to another run", peer.rank);
    if (peer.protection != options.protection && peer.protection != Protection::local)
        return fmt::format("transport.protection is {} on node {} and {} on node {}", name(peer.protection),
                           peer.rank, name(options.protection), rank);
    return {};
}

/// On the listener's thread, which must not wait. `await_higher` does the rest for peers on this machine.
void Peers::accept(Descriptor socket, const Session& session) {
    const bool local = is_unix_socket(socket.get());
    // Another program may have passed the handshake on from a Unix socket to TCP. What the initiator sends
    // there is not protected, so nothing is sent.
    if (local != (session.peer.protection == Protection::local)) return;
    std::optional<LocalPeer> peer;
    if (local) {
        const bool shares = options.local == Local::shared_memory;
        const std::size_t ring_bytes = shares ? ring_bytes_for(options.membership.local_count) : 0;
        peer.emplace(offer_memory(std::move(socket), session, ring_bytes));
    }
    {
        const std::lock_guard lock(mutex);
        met_[session.peer.rank] = true;
        if (peer) local_.push_back(std::move(*peer));
        changed.notify_all();
    }
    if (!local) add_socket({std::move(socket), session});
}

/// A connection over TCP, which carries the bytes or, by UDP, only tells of the peer's end.
void Peers::add_socket(Connection connection) {
    if (!options.udp)
        return add(connection.session, {std::make_unique<SocketStream>(std::move(connection.socket))},
                   options.protection);
    UdpPeer peer = offer_datagrams(std::move(connection.socket), connection.session, *options.udp);
    const std::lock_guard lock(mutex);
    by_datagrams_.push_back(std::move(peer));
    changed.notify_all();
}

void Peers::add(const Session& session, LocalStream stream, Protection protection) {
    const std::lock_guard lock(mutex);
    if (!stream.word.empty() && !std::exchange(said_why_no_memory_, true))
        spdlog::warn("node {} shares no memory with node {} ({}): they use a Unix socket", rank,
                     session.peer.rank, stream.word);
    links[session.peer.rank] =
        std::make_unique<Link>(std::move(stream.stream), session, options.frame_bytes_max, protection);
    ++connected;
    changed.notify_all();
}

/// Over TCP, and for processes of this machine over a Unix socket.
void Peers::listen() {
    std::vector<Descriptor> listening;
    listening.push_back(listen_on(options.address, options.ports));
    if (options.local != Local::tcp) {
        const std::string address = local_address(listening.front().get());
        try {
            listening.push_back(listen_at_name(local_name(rank, address, fingerprint)));
        } catch (const Error& error) {
            spdlog::warn("node {} uses TCP to processes of its own machine: {}", rank, error.message());
        }
    }
    listener_ = std::make_unique<Listener>(
        std::move(listening), options.membership.credentials, identity(options.protection),
        Listener::Callbacks{
            [this](const Identity& peer) { return admit(peer); },
            [this](Descriptor socket, const Session& session) { accept(std::move(socket), session); }});
}

/// By a Unix socket if the node is on this machine, or else by TCP.
Connection Peers::connect_to_node(NodeId node, const std::string& address, Deadline deadline) {
    const auto identify = [this](int socket) {
        return identity(is_unix_socket(socket) ? Protection::local : options.protection);
    };
    if (options.local != Local::tcp) {
        const std::string name = local_name(node, address, fingerprint);
        try {
            Connection connection = introduce_until([&] { return connect_to_name(name, deadline); },
                                                    options.membership.credentials, identify, node, deadline);
            if (connection.socket) return connection;
        } catch (const Error& error) {
            spdlog::warn("node {} uses TCP to node {}: {}", rank, node, error.message());
        }
    }
    return introduce_until([&] { return connect_to(address, deadline, options.from); },
                           options.membership.credentials, identify, node, deadline);
}

void Peers::connect_all() {
    met_.resize(nodes);
    listen();
    const std::vector<std::string> table =
        meet(options.membership, options.agreement, listener_->address(), options.meeting_max);
    const Deadline deadline = Clock::now() + options.meeting_max;
    // The nearest lower node first, so that not all nodes begin with node 0.
    for (NodeId node = rank; node-- > 0;) {
        Connection connection = connect_to_node(node, table[node], deadline);
        const Session session = connection.session;
        if (is_unix_socket(connection.socket.get())) {
            add(session, take_offer(std::move(connection), deadline), Protection::local);
        } else {
            add_socket(std::move(connection));
        }
    }
    await_higher(deadline);
    if (!by_datagrams_.empty())
        for (auto& [session, stream] :
             meet_by_datagrams(std::exchange(by_datagrams_, {}), *options.udp, deadline + datagrams_max))
            add(session, {std::move(stream)}, options.protection);
}

/// Waits for the nodes that connect to this one, and for the answers of those on this machine.
void Peers::await_higher(Deadline deadline) {
    std::unique_lock lock(mutex);
    const auto all_came = [this] { return connected + by_datagrams_.size() == nodes - 1; };
    while (changed.wait_until(lock, deadline, [&] { return all_came() || !local_.empty(); }) &&
           !local_.empty()) {
        LocalPeer peer = std::move(local_.back());
        local_.pop_back();
        lock.unlock();
        const Session session = peer.session;
        add(session, conclude_offer(std::move(peer), deadline), Protection::local);
        lock.lock();
    }
    const auto by_datagrams = [this](NodeId node) {
        return std::ranges::any_of(by_datagrams_,
                                   [&](const UdpPeer& peer) { return peer.session.peer.rank == node; });
    };
    for (NodeId node = 0; node < nodes; ++node)
        if (node != rank && !links[node] && !by_datagrams(node))
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
    if (link.is_blocked() && link.stream().room_has_come()) room(link);
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
    settle(Clock::now() + farewell_max);
    events.lost(node, reason);
    news();
}

// Each node serves all its connections meanwhile, so nodes that wait for each other's acknowledgements get
// them.
void Peers::settle(Deadline deadline) {
    for (auto pause = settle_pause;; pause = std::min(2 * pause, settle_pause_max)) {
        bool all = true;
        for (const auto& link : links) all = (!link || link->stream().settle()) && all;
        if (all || Clock::now() >= deadline) return;
        std::this_thread::sleep_for(pause);
    }
}

void Peers::look_for_dead_hosts() {
    for (const auto& link : links)
        if (link && host_is_dead(link->stream().lifeline(), host_patience))
            link->give_up("its machine does not answer");
}

}  // namespace heddle::native
