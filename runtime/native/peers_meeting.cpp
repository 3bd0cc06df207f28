// Connects this node to the other nodes. At the start it connects over each of its networks in turn. While a
// run goes on, it connects to nodes that join.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "host/limits.hpp"
#include "runtime/native/peers.hpp"
#include "runtime/native/udp_stream.hpp"
#include "runtime/native/unix_socket.hpp"

namespace heddle::native {

namespace {

/// The others' steps, taken together, may not take longer.
constexpr std::chrono::hours all_steps_max{24};
/// How long a node that joins may take to answer an offer of memory.
constexpr std::chrono::seconds answer_patience{3};

/// ` over network "left"`; nothing where one network joins all.
std::string over(const MeshNetwork& network) {
    return network.name.empty() ? "" : fmt::format(" over network \"{}\"", network.name);
}

}  // namespace

std::size_t files_of_links(const std::vector<MeshNetwork>& networks, NodeId nodes) {
    std::size_t files = 0;
    for (const MeshNetwork& one : networks)
        files += (one.udp ? UdpStream::open_files : 1) * std::size_t{nodes};
    return files;
}

Peers::Peers(const MeshOptions& given)
    : options(given),
      rank(given.membership.rank),
      nodes(given.membership.nodes),
      fingerprint(given.agreement.fingerprint()),
      network_stride_(given.networks.size() == 1 ? 0 : nodes),
      links_(places()),
      presence_(places()),
      flows_(places()),
      met_(places()) {
    host::allow_open_files(files_of_links(options.networks, nodes) + Listener::pending_max(nodes) + 64,
                           fmt::format("a run of {} nodes", nodes));
    for (NetworkId number = 0; number < options.networks.size(); ++number) {
        for (NodeId node = 0; node < nodes; ++node) {
            if (node == rank || !network(number).joins(rank) || !network(number).joins(node)) continue;
            const auto post_mark = [this, node, number](std::uint64_t mark) {
                const auto bytes = std::as_bytes(std::span(&mark, 1));
                post(*link(node, number), FrameKind::mark, runtime::Bytes(bytes.begin(), bytes.end()), {});
            };
            flows_[place(node, number)] = std::make_unique<Flow>(options.window, post_mark);
        }
    }
    meet_all();
}

// --- meeting

/// On a listener's thread.
std::string Peers::admit(const Identity& peer, NetworkId number) {
    const std::lock_guard lock(mutex);
    const bool begins = peer.rank > rank && peer.rank < begin();
    const bool comes_later = peer.rank >= begin() && peer.rank < nodes && peer.rank != rank;
    if ((!begins && !comes_later) || !network(number).joins(peer.rank))
        return fmt::format("node {} is not expected here", peer.rank);
    if (met_[place(peer.rank, number)]) return fmt::format("node {} is connected already", peer.rank);
    // The rendezvous has compared the nodes. This refuses a process of another run that has the key.
    if (peer.fingerprint != fingerprint) return fmt::format("node {} belongs to another run", peer.rank);
    if (peer.protection != options.protection && peer.protection != Protection::local)
        return fmt::format("transport.protection is {} on node {} and {} on node {}", name(peer.protection),
                           peer.rank, name(options.protection), rank);
    return {};
}

/// On a listener's thread, which must not wait. Other threads do the rest.
void Peers::accept(Descriptor socket, const Session& session, NetworkId number) {
    const bool local = is_unix_socket(socket.get());
    // Another program may have passed the handshake on from a Unix socket to TCP. What the initiator sends
    // there is not protected, so nothing is sent.
    if (local != (session.peer.protection == Protection::local)) return;
    Visitor visitor{session, {}, {}, number};
    if (local) {
        const bool shares = network(number).local == Local::shared_memory;
        const std::size_t ring_bytes = shares ? ring_bytes_for(options.membership.local_count) : 0;
        visitor.local.emplace(offer_memory(std::move(socket), session, ring_bytes));
    } else {
        visitor.socket = std::move(socket);
    }
    const std::lock_guard lock(mutex);
    met_[place(session.peer.rank, number)] = true;
    visitors_.push_back(std::move(visitor));
    changed.notify_all();
}

/// What accepted the connection waits for the answer to its offer of memory.
Link& Peers::add(Visitor visitor, Deadline deadline) {
    const bool local = visitor.local.has_value();
    LocalStream stream =
        local ? conclude_offer(std::move(*visitor.local), deadline)
              : between_machines(std::move(visitor.socket), visitor.session, visitor.network, deadline);
    {
        // From now on the socket is the link's, which ends with a goodbye and not by `end_admitting`.
        const std::lock_guard lock(mutex);
        answering_.reset();
    }
    return add(visitor.session, std::move(stream), local ? Protection::local : options.protection,
               visitor.network);
}

/// Over UDP waits for the peer. Nodes that begin the run meet by datagrams together (`meet_on`).
LocalStream Peers::between_machines(Descriptor socket, const Session& session, NetworkId number,
                                    Deadline deadline) const {
    if (!network(number).udp) return {std::make_unique<SocketStream>(std::move(socket))};
    const UdpOptions& udp = *network(number).udp;
    std::vector<UdpPeer> one;
    one.push_back(offer_datagrams(std::move(socket), session, udp));
    return {std::move(meet_by_datagrams(std::move(one), udp, deadline).front().stream)};
}

/// What made the connection waits for that offer.
Link& Peers::add(Connection connection, NetworkId number, Deadline deadline) {
    const Session session = connection.session;
    if (is_unix_socket(connection.socket.get()))
        return add(session, take_offer(std::move(connection), deadline), Protection::local, number);
    return add(session, between_machines(std::move(connection.socket), session, number, deadline),
               options.protection, number);
}

Link& Peers::add(const Session& session, LocalStream stream, Protection protection, NetworkId number) {
    const NodeId peer = session.peer.rank;
    auto made = std::make_unique<Link>(std::move(stream.stream), session, options.frame_bytes_max, protection,
                                       number);
    Link& link = *made;
    prepare(link);
    const std::lock_guard lock(mutex);
    if (!stream.word.empty() && !std::exchange(said_why_no_memory_, true))
        spdlog::warn("node {} shares no memory with node {} ({}): they use a Unix socket", rank, peer,
                     stream.word);
    made_.push_back(std::move(made));
    const bool begins_together = rank < begin() && peer < begin();
    presence_[place_of(link)].store(begins_together ? Presence::member : Presence::arriving,
                                    std::memory_order_release);
    links_[place_of(link)].store(&link, std::memory_order_release);
    return link;
}

/// Over TCP, and for processes of this machine over a Unix socket. Returns where: host:port, or
/// `fresh_local_address`.
std::string Peers::listen_on_network(NetworkId number) {
    const MeshNetwork& here = network(number);
    std::vector<Descriptor> listening;
    std::string address;
    if (here.in_machine) {
        address = fresh_local_address();
    } else {
        listening.push_back(listen_on(here.address, here.ports));
        address = local_address(listening.front().get());
    }
    if (here.local != Local::tcp) {
        try {
            listening.push_back(listen_at_name(local_name(rank, number, address, fingerprint)));
        } catch (const Error& error) {
            if (here.in_machine) throw;
            spdlog::warn("node {} uses TCP to processes of its own machine: {}", rank, error.message());
        }
    }
    listeners_.push_back(std::make_unique<Listener>(
        std::move(listening), options.membership.credentials, identity(options.protection),
        Listener::Callbacks{[this, number](const Identity& peer) { return admit(peer, number); },
                            [this, number](Descriptor socket, const Session& session) {
                                accept(std::move(socket), session, number);
                            }}));
    return address;
}

/// By a Unix socket, or none: the node does not listen on this machine.
Connection Peers::connect_in_machine(NodeId node, NetworkId number, const std::string& address,
                                     Deadline deadline) {
    const std::string name = local_name(node, number, address, fingerprint);
    return introduce_until([&] { return connect_to_name(name, deadline); }, options.membership.credentials,
                           [this](int) { return identity(Protection::local); }, node, deadline);
}

/// By a Unix socket if the node is on this machine, or else by TCP. No connection: it listens no more.
Connection Peers::connect_to_node(NodeId node, NetworkId number, const std::string& address,
                                  Deadline deadline) {
    const MeshNetwork& here = network(number);
    if (here.in_machine) {
        Connection connection = connect_in_machine(node, number, address, deadline);
        if (connection.socket || (joins() && is_of_this_machine(address))) return connection;
        throw Error(fmt::format("node {} cannot reach node {}{}: it is not on the same machine", rank, node,
                                over(here)),
                    "start both on one machine, or give that network another transport");
    }
    if (here.local != Local::tcp) {
        try {
            Connection connection = connect_in_machine(node, number, address, deadline);
            if (connection.socket) return connection;
        } catch (const Error& error) {
            spdlog::warn("node {} uses TCP to node {}: {}", rank, node, error.message());
        }
    }
    const Refused refused = joins() ? Refused::none : Refused::again;
    return introduce_until([&] { return connect_to(address, deadline, here.from, refused); },
                           options.membership.credentials,
                           [this](int) { return identity(options.protection); }, node, deadline);
}

void Peers::meet_all() {
    std::vector<std::string> addresses(options.networks.size());
    for (NetworkId number = 0; number < addresses.size(); ++number)
        if (network(number).joins(rank)) addresses[number] = listen_on_network(number);
    const AddressTable table = meet(options.membership, options.agreement, addresses, options.meeting_max);
    if (joins()) return connect_to_present(table, step_deadline());
    // All take the networks in the same order. So a node that waits for others in one of them waits for
    // nodes that are in this or an earlier one, and no circle of waiting nodes can form.
    for (NetworkId number = 0; number < addresses.size(); ++number)
        if (network(number).joins(rank)) meet_on(number, table);
}

/// For the next node to connect or to answer. If many meet on a busy machine, all of them take long.
Deadline Peers::step_deadline() const {
    return Clock::now() + options.meeting_max;
}

/// Until then each other node has taken all its steps, or has given up and closed its connections.
Deadline Peers::all_steps_deadline() const {
    const std::chrono::milliseconds all =
        options.meeting_max * (std::size_t{begin()} * options.networks.size());
    return Clock::now() + std::min<std::chrono::milliseconds>(all, all_steps_max);
}

void Peers::meet_on(NetworkId number, const AddressTable& table) {
    // The nearest lower node first, so that not all nodes begin with node 0.
    for (NodeId node = rank; node-- > 0;) {
        if (!begins_with(node, number)) continue;
        const Deadline step = step_deadline();
        Connection connection = connect_to_node(node, number, table[node][number], step);
        if (network(number).udp && !is_unix_socket(connection.socket.get())) {
            offer_by_datagrams(std::move(connection.socket), connection.session, number);
        } else {
            add(std::move(connection), number, step);
        }
    }
    await_higher(number);
    if (by_datagrams_.empty()) return;
    const auto datagrams_max =
        std::max<std::chrono::milliseconds>(datagrams_max_default, options.meeting_max);
    for (auto& [session, stream] : meet_by_datagrams(std::exchange(by_datagrams_, {}), *network(number).udp,
                                                     all_steps_deadline() + datagrams_max, datagrams_max))
        add(session, {std::move(stream)}, options.protection, number);
}

/// The connection over TCP stays, and tells of the peer's end. The thread that runs the node.
void Peers::offer_by_datagrams(Descriptor socket, const Session& session, NetworkId number) {
    by_datagrams_.push_back(offer_datagrams(std::move(socket), session, *network(number).udp));
}

/// A node that begins the run and is not connected over that network yet; this one: there is none.
NodeId Peers::missing(NetworkId number) const {
    for (NodeId node = 0; node < begin(); ++node) {
        if (!begins_with(node, number) || link(node, number)) continue;
        if (!std::ranges::any_of(by_datagrams_,
                                 [&](const UdpPeer& peer) { return peer.session.peer.rank == node; }))
            return node;
    }
    return rank;
}

/// Waits for the nodes that connect to this one at the start.
void Peers::await_higher(NetworkId number) {
    Deadline deadline = step_deadline();
    const auto next = [&] {
        return std::ranges::find_if(visitors_, [&](const Visitor& visitor) {
            return visitor.session.peer.rank < begin() && visitor.network == number;
        });
    };
    std::unique_lock lock(mutex);
    while (missing(number) != rank &&
           changed.wait_until(lock, deadline, [&] { return next() != visitors_.end(); })) {
        const auto place = next();
        Visitor visitor = std::move(*place);
        visitors_.erase(place);
        lock.unlock();
        if (network(number).udp && !visitor.local) {
            offer_by_datagrams(std::move(visitor.socket), visitor.session, number);
        } else {
            add(std::move(visitor), deadline);
        }
        deadline = step_deadline();
        lock.lock();
    }
    if (const NodeId node = missing(number); node != rank)
        throw Error(fmt::format("node {} did not connect to node {}{} within {} s", node, rank,
                                over(network(number)),
                                static_cast<double>(options.meeting_max.count()) / 1000));
}

// --- joining

/// Connects to those that are there now, over each network that joins them with this node. Later ones connect
/// to this node.
void Peers::connect_to_present(const AddressTable& table, Deadline deadline) {
    const auto is_there = [&](NodeId node, NetworkId number) {
        return node != rank && network(number).joins(rank) && network(number).joins(node) &&
               !table[node][number].empty();
    };
    const auto for_present = [&](const auto& code) {
        for (NetworkId number = 0; number < options.networks.size(); ++number)
            for (NodeId node = 0; node < nodes; ++node)
                if (is_there(node, number)) code(node, number);
    };
    {
        const std::lock_guard lock(mutex);
        for_present([this](NodeId node, NetworkId number) { met_[place(node, number)] = true; });
    }
    // Node 0 and gateways stay to the end. Another one has left, or has ended; then node 0 knows how.
    for_present([&](NodeId node, NetworkId number) {
        (void)connect_if_open(node, number, table[node][number], deadline);
    });
    if (!any_link(options.towards_lead))
        throw RunOver(fmt::format("the run was over before node {} joined", rank));
}

/// False: it listens no more.
bool Peers::connect_if_open(NodeId node, NetworkId number, const std::string& address, Deadline deadline) {
    for (bool again = false;; again = true) {
        Connection connection = connect_to_node(node, number, address, deadline);
        if (!connection.socket) return false;
        try {
            add(std::move(connection), number, deadline);
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
    listeners_.clear();
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
        if (!visitor.local && network(visitor.network).udp)
            answering_ = Descriptor(dup(visitor.socket.get()));
        lock.unlock();
        admit_visitor(std::move(visitor));
        lock.lock();
        answering_.reset();  // it may have given up
    }
    visitors_.clear();
}

void Peers::admit_visitor(Visitor visitor) {
    const NodeId node = visitor.session.peer.rank;
    const NetworkId number = visitor.network;
    try {
        Link& link = add(std::move(visitor), Clock::now() + answer_patience);
        // The other node counts on this connection once it knows that this node receives from it.
        call([this, &link] {
            take_up(link);
            post(link, FrameKind::linked, {}, {});
            if (begun_) post(link, FrameKind::padding, {}, {});  // as `take_part` does
        });
    } catch (const Error& error) {
        const std::lock_guard lock(mutex);
        met_[place(node, number)] = false;
        if (admitting_)
            spdlog::warn("node {} was about to join and gave up ({}): the run goes on without it", node,
                         error.message());
    }
}

}  // namespace heddle::native
