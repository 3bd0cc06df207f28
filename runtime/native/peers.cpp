// Connects this node to all other nodes, dispatches received frames, and reports a node that is lost.
#include "runtime/native/peers.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

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
/// How long a node that joins may take to answer an offer of memory.
constexpr std::chrono::seconds answer_patience{3};

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
      fingerprint(given.agreement.fingerprint()),
      links_(nodes),
      presence_(nodes),
      met_(nodes) {
    host::allow_open_files(nodes + Listener::pending_max(nodes) + 64,
                           fmt::format("a run of {} nodes", nodes));
    flows.resize(nodes);
    for (NodeId node = 0; node < nodes; ++node) {
        if (node == rank) continue;
        const auto post_mark = [this, node](std::uint64_t number) {
            const auto bytes = std::as_bytes(std::span(&number, 1));
            post(*link(node), FrameKind::mark, runtime::Bytes(bytes.begin(), bytes.end()), {});
        };
        flows[node] = std::make_unique<Flow>(options.window, post_mark);
    }
    meet_all();
}

// --- meeting

/// On the listener's thread.
std::string Peers::admit(const Identity& peer) {
    const std::lock_guard lock(mutex);
    const bool begins = peer.rank > rank && peer.rank < begin();
    const bool comes_later = peer.rank >= begin() && peer.rank < nodes && peer.rank != rank;
    if (!begins && !comes_later) return fmt::format("node {} is not expected here", peer.rank);
    if (met_[peer.rank]) return fmt::format("node {} is connected already", peer.rank);
    // The rendezvous has compared the nodes. This refuses a process of another run that has the key.
    if (peer.fingerprint != fingerprint) return fmt::format("node {} belongs to another run", peer.rank);
    if (peer.protection != options.protection && peer.protection != Protection::local)
        return fmt::format("transport.protection is {} on node {} and {} on node {}", name(peer.protection),
                           peer.rank, name(options.protection), rank);
    return {};
}

/// On the listener's thread, which must not wait. Other threads do the rest.
void Peers::accept(Descriptor socket, const Session& session) {
    const bool local = is_unix_socket(socket.get());
    // Another program may have passed the handshake on from a Unix socket to TCP. What the initiator sends
    // there is not protected, so nothing is sent.
    if (local != (session.peer.protection == Protection::local)) return;
    Visitor visitor{session, {}, {}};
    if (local) {
        const bool shares = options.local == Local::shared_memory;
        const std::size_t ring_bytes = shares ? ring_bytes_for(options.membership.local_count) : 0;
        visitor.local.emplace(offer_memory(std::move(socket), session, ring_bytes));
    } else {
        visitor.socket = std::move(socket);
    }
    const std::lock_guard lock(mutex);
    met_[session.peer.rank] = true;
    visitors_.push_back(std::move(visitor));
    changed.notify_all();
}

/// What accepted the connection waits for the answer to its offer of memory.
Link& Peers::add(Visitor visitor, Deadline deadline) {
    if (!visitor.local)
        return add(visitor.session, {std::make_unique<SocketStream>(std::move(visitor.socket))},
                   options.protection);
    return add(visitor.session, conclude_offer(std::move(*visitor.local), deadline), Protection::local);
}

/// What made the connection waits for that offer.
Link& Peers::add(Connection connection, Deadline deadline) {
    const Session session = connection.session;
    if (is_unix_socket(connection.socket.get()))
        return add(session, take_offer(std::move(connection), deadline), Protection::local);
    return add(session, {std::make_unique<SocketStream>(std::move(connection.socket))}, options.protection);
}

Link& Peers::add(const Session& session, LocalStream stream, Protection protection) {
    const NodeId peer = session.peer.rank;
    auto made =
        std::make_unique<Link>(std::move(stream.stream), session, options.frame_bytes_max, protection);
    Link& link = *made;
    prepare(link);
    const std::lock_guard lock(mutex);
    if (!stream.word.empty() && !std::exchange(said_why_no_memory_, true))
        spdlog::warn("node {} shares no memory with node {} ({}): they use a Unix socket", rank, peer,
                     stream.word);
    made_.push_back(std::move(made));
    const bool begins_together = rank < begin() && peer < begin();
    presence_[peer].store(begins_together ? Presence::member : Presence::arriving, std::memory_order_release);
    links_[peer].store(&link, std::memory_order_release);
    return link;
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

/// By a Unix socket if the node is on this machine, or else by TCP. No connection: it listens no more.
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
    const Refused refused = joins() ? Refused::none : Refused::again;
    return introduce_until([&] { return connect_to(address, deadline, options.from, refused); },
                           options.membership.credentials, identify, node, deadline);
}

void Peers::meet_all() {
    listen();
    const std::vector<std::string> table =
        meet(options.membership, options.agreement, listener_->address(), options.meeting_max);
    const Deadline deadline = Clock::now() + options.meeting_max;
    if (joins()) return connect_to_present(table, deadline);
    // The nearest lower node first, so that not all nodes begin with node 0.
    for (NodeId node = rank; node-- > 0;) {
        Connection connection = connect_to_node(node, table[node], deadline);
        if (options.udp && !is_unix_socket(connection.socket.get())) {
            offer_by_datagrams(std::move(connection.socket), connection.session);
        } else {
            add(std::move(connection), deadline);
        }
    }
    await_higher(deadline);
    if (!by_datagrams_.empty())
        for (auto& [session, stream] :
             meet_by_datagrams(std::exchange(by_datagrams_, {}), *options.udp, deadline + datagrams_max))
            add(session, {std::move(stream)}, options.protection);
}

/// The connection over TCP stays, and tells of the peer's end. The thread that runs the node.
void Peers::offer_by_datagrams(Descriptor socket, const Session& session) {
    by_datagrams_.push_back(offer_datagrams(std::move(socket), session, *options.udp));
}

/// Waits for the nodes that connect to this one at the start.
void Peers::await_higher(Deadline deadline) {
    const auto next = [this] {
        return std::ranges::find_if(
            visitors_, [this](const Visitor& visitor) { return visitor.session.peer.rank < begin(); });
    };
    std::unique_lock lock(mutex);
    while (made_.size() + by_datagrams_.size() < begin() - 1 &&
           changed.wait_until(lock, deadline, [&] { return next() != visitors_.end(); })) {
        const auto place = next();
        Visitor visitor = std::move(*place);
        visitors_.erase(place);
        lock.unlock();
        if (options.udp && !visitor.local) {
            offer_by_datagrams(std::move(visitor.socket), visitor.session);
        } else {
            add(std::move(visitor), deadline);
        }
        lock.lock();
    }
    const auto by_datagrams = [this](NodeId node) {
        return std::ranges::any_of(by_datagrams_,
                                   [&](const UdpPeer& peer) { return peer.session.peer.rank == node; });
    };
    for (NodeId node = 0; node < begin(); ++node)
        if (node != rank && !link(node) && !by_datagrams(node))
            throw Error(fmt::format("node {} did not connect to node {} within {} s", node, rank,
                                    static_cast<double>(options.meeting_max.count()) / 1000));
}

// --- joining

/// Connects to those that are there now. Later ones connect to this node.
void Peers::connect_to_present(const std::vector<std::string>& table, Deadline deadline) {
    {
        const std::lock_guard lock(mutex);
        for (NodeId node = 0; node < nodes; ++node) met_[node] = !table[node].empty();
    }
    for (NodeId node = 0; node < nodes; ++node) {
        if (table[node].empty() || node == rank || connect_if_open(node, table[node], deadline)) continue;
        // Node 0 stays to the end. Another one has left, or has ended; then node 0 knows how.
        if (node == 0) throw RunOver(fmt::format("the run was over before node {} joined", rank));
    }
}

/// False: it listens no more.
bool Peers::connect_if_open(NodeId node, const std::string& address, Deadline deadline) {
    for (bool again = false;; again = true) {
        Connection connection = connect_to_node(node, address, deadline);
        if (!connection.socket) return false;
        try {
            add(std::move(connection), deadline);
            return true;
        } catch (const Error&) {
            if (again) throw;  // it may have ended its listening meanwhile: the next attempt says so
        }
    }
}

void Peers::begin_admitting() {
    if (!options.at_start) return;
    {
        const std::lock_guard lock(mutex);
        admitting_ = true;
    }
    admitting_thread_ = std::thread([this] { admit_all(); });
}

void Peers::end_admitting() {
    listener_.reset();
    {
        const std::lock_guard lock(mutex);
        admitting_ = false;
        if (answering_) shutdown(answering_.get(), SHUT_RDWR);
        changed.notify_all();
    }
    if (admitting_thread_.joinable()) admitting_thread_.join();
}

/// The thread that waits for those that join, so that no other thread does.
void Peers::admit_all() {
    std::unique_lock lock(mutex);
    for (;;) {
        changed.wait(lock, [this] { return !admitting_ || !visitors_.empty(); });
        if (!admitting_) break;
        Visitor visitor = std::move(visitors_.front());
        visitors_.pop_front();
        if (visitor.local) answering_ = Descriptor(dup(visitor.local->socket.get()));
        lock.unlock();
        admit_visitor(std::move(visitor));
        lock.lock();
        answering_.reset();
    }
    visitors_.clear();
}

void Peers::admit_visitor(Visitor visitor) {
    const NodeId node = visitor.session.peer.rank;
    try {
        Link& link = add(std::move(visitor), Clock::now() + answer_patience);
        // The other node counts on this connection once it knows that this node receives from it.
        call([this, &link] {
            take_up(link);
            post(link, FrameKind::linked, {}, {});
        });
    } catch (const Error& error) {
        const std::lock_guard lock(mutex);
        met_[node] = false;
        if (admitting_)
            spdlog::warn("node {} was about to join and gave up ({}): the run goes on without it", node,
                         error.message());
    }
}

void Peers::call(std::function<void()> code) {
    {
        const std::lock_guard lock(mutex);
        calls_.push_back(std::move(code));
        calls_wait_.store(true, std::memory_order_release);
    }
    wake_receiver();
}

void Peers::run_waiting_calls() {
    std::vector<std::function<void()>> now;
    {
        const std::lock_guard lock(mutex);
        now.swap(calls_);
        calls_wait_.store(false, std::memory_order_relaxed);
    }
    for (const auto& code : now) code();
}

std::vector<NodeId> Peers::connected() const {
    std::vector<NodeId> list;
    for_each_link([&](const Link& link) { list.push_back(link.peer()); });
    return list;
}

// --- parting

bool Peers::any_member() const {
    return std::ranges::any_of(presence_, [](const auto& presence) {
        return presence.load(std::memory_order_acquire) == Presence::member;
    });
}

void Peers::say_goodbye() {
    for_each_link([this](Link& link) { post(link, FrameKind::goodbye, {}, {}); });
}

/// The other node has said goodbye. If nodes may leave, this one says it too, and does without the other.
void Peers::part_from(Link& link) {
    if (options.at_start) post(link, FrameKind::goodbye, {}, {});
    go(link);
}

/// It ended without a goodbye, but before it was a member, or after this node was one.
void Peers::drop(Link& link, const std::string& reason) {
    if (presence(link.peer()) == Presence::gone) return;
    if (!leaving.load(std::memory_order_relaxed) && !joins())
        spdlog::warn("node {} ended before it had joined ({}): the run goes on without it", link.peer(),
                     reason);
    go(link);
}

void Peers::go(Link& link) {
    {
        const std::lock_guard lock(mutex);
        presence_[link.peer()].store(Presence::gone, std::memory_order_release);
        changed.notify_all();
    }
    flows[link.peer()]->open();
    if (events.gone) events.gone(link.peer());
    news();
}

// --- receiving

bool Peers::receive_from(Link& link, Link::When when) {
    const std::string failure =
        link.receive([&](FrameKind kind, std::span<const std::byte> payload,
                         runtime::Body body) { take(link, kind, payload, std::move(body)); },
                     when);
    if (stopping.load(std::memory_order_acquire)) return false;
    if (link.is_blocked() && link.stream().room_has_come()) room(link);
    if (failure.empty()) return !link.ended();
    const bool takes_part = (begun_ || !joins()) && !leaving.load(std::memory_order_relaxed);
    const bool counts = presence(link.peer()) == Presence::member && takes_part;
    if (counts || !options.at_start) {
        lose(link.peer(), failure);
    } else {
        drop(link, failure);
    }
    return false;
}

/// A frame of a node that arrives makes it a member here.
void Peers::see(Link& link, FrameKind kind) {
    if (presence(link.peer()) == Presence::arriving && kind != FrameKind::goodbye && kind != FrameKind::abort)
        presence_[link.peer()].store(Presence::member, std::memory_order_release);
}

void Peers::take(Link& link, FrameKind kind, std::span<const std::byte> payload, runtime::Body body) {
    if (options.at_start) see(link, kind);
    if (kind == FrameKind::start) begun_ = true;
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
        case FrameKind::goodbye:
            part_from(link);
            break;
        case FrameKind::abort: {
            // What a node says that never became a member does not end the run.
            if (presence(link.peer()) == Presence::arriving && !joins()) break;
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
        if (leaving.load(std::memory_order_relaxed) || std::exchange(lost, true)) return;
        changed.notify_all();
    }
    for (const auto& flow : flows)
        if (flow) flow->open();
    // The others are told first: when this process ends too, they must not take it for the cause.
    for_each_link([&](Link& link) {
        if (link.peer() != node && !link.ended())
            post(link, FrameKind::abort, abort_payload(node, reason), {});
    });
    write_all_until(Clock::now() + farewell_max);
    settle(Clock::now() + farewell_max);
    events.lost(node, reason);
    news();
}

// Each node serves all its connections meanwhile, so nodes that wait for each other's acknowledgements get
// them.
void Peers::settle(Deadline deadline) {
    if (!options.udp) return;  // and a link may be closed meanwhile, where nodes leave
    for (auto pause = settle_pause;; pause = std::min(2 * pause, settle_pause_max)) {
        bool all = true;
        for_each_link([&all](Link& link) { all = link.stream().settle() && all; });
        if (all || Clock::now() >= deadline) return;
        std::this_thread::sleep_for(pause);
    }
}

void Peers::look_for_dead_hosts() {
    for_each_link([this](Link& link) {
        if (presence(link.peer()) != Presence::gone && host_is_dead(link.stream().lifeline(), host_patience))
            link.give_up("its machine does not answer");
    });
}

}  // namespace heddle::native
