// A thread of the launcher that collects the nodes' addresses and sends all of them to each. Also the nodes'
// part of that exchange.
#include "runtime/native/rendezvous.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

#include "base/error.hpp"
#include "runtime/native/frame.hpp"
#include "runtime/native/handshake.hpp"
#include "runtime/native/interfaces.hpp"
#include "runtime/native/listener.hpp"

namespace heddle::native {

namespace {

/// How long the rendezvous waits for one node to take or to send a frame.
constexpr std::chrono::seconds frame_patience{2};

constexpr std::uint64_t table_bytes_max = 16U << 20;

/// The nodes have not compared their settings yet.
constexpr Protection protection = Protection::encryption;

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(const runtime::Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Each ends with `end`.
std::vector<std::string> parts_of(const std::string& text, char end) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == end)
            parts.emplace_back();
        else
            parts.back().push_back(c);
    }
    parts.pop_back();
    return parts;
}

/// Of two nodes, in one network or in several, each with an address or an empty one in each network. The same
/// address in two networks is that of two machines.
bool share_address(const std::string& a, const std::string& b) {
    const std::vector<std::string> of_a = parts_of(a + ' ', ' ');
    const std::vector<std::string> of_b = parts_of(b + ' ', ' ');
    for (std::size_t network = 0; network < std::min(of_a.size(), of_b.size()); ++network)
        if (!of_a[network].empty() && of_a[network] == of_b[network]) return true;
    return false;
}

std::vector<std::string> lines_of(const std::string& text) {
    return parts_of(text, '\n');
}

/// A node in several networks says so in place of its address, and sends the addresses in a frame.
constexpr std::string_view several = "several";

/// A node that asks for processes says so in place of its address, which no colon follows.
constexpr std::string_view asking = "start";

std::string text_of(const StartRequest& request) {
    return request.node ? fmt::format("{} node {}", asking, *request.node)
                        : fmt::format("{} {}", asking, request.count);
}

/// Nothing: it is an address.
std::optional<StartRequest> request_from(std::string_view text) {
    if (!text.starts_with(asking) || text.find(':') != std::string_view::npos) return std::nullopt;
    const std::string_view number = text.substr(text.rfind(' ') + 1);
    NodeId value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    if (text.find(" node ") != std::string_view::npos) return StartRequest{1, value};
    return StartRequest{value, {}};
}

}  // namespace

struct Rendezvous::State {
    /// A node that waits for the others.
    struct Visitor {
        Descriptor socket;
        Session session;
        Sealer sealer;
        Opener opener;
    };

    Places places;
    std::chrono::milliseconds meeting_max;
    std::function<void(const StartRequest&)> ask;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<NodeId, Visitor> visitors;  ///< that are to begin the next run, by rank
    std::map<NodeId, Visitor> joining;   ///< that wait to join, by rank

    // The present run, where others may join it.
    enum class Stage : std::uint8_t { none, on, over } stage = Stage::none;
    std::map<NodeId, std::string> present;  ///< the addresses of those that have come and have not ended
    std::set<NodeId> joined;                ///< each may join once
    std::uint64_t fingerprint = 0;
    Agreement agreement;  ///< of node 0
    Deadline deadline = Deadline::max();
    bool met = false;  ///< all nodes, for an earlier run
    std::optional<NodeId> first_ended;
    bool stopping = false;
    std::unique_ptr<Listener> listener;
    std::thread thread;

    State(Places given, std::chrono::milliseconds meeting, std::function<void(const StartRequest&)> asked)
        : places(given), meeting_max(meeting), ask(std::move(asked)) {}

    std::string admit(const Identity& peer) {
        const std::lock_guard lock(mutex);
        if (peer.rank >= places.capacity) return fmt::format("there is no node {}", peer.rank);
        if (request_from(peer.address)) return ask ? "" : "this rendezvous starts no processes";
        if (visitors.contains(peer.rank) || joining.contains(peer.rank) || joined.contains(peer.rank))
            return fmt::format("node {} has come already", peer.rank);
        return {};
    }

    void accept(Descriptor socket, const Session& session) {
        if (const auto request = request_from(session.peer.address)) return ask(*request);
        const std::lock_guard lock(mutex);
        const bool joins = session.peer.rank >= places.at_start;
        // On a busy machine many nodes take long, so each that comes gives the others more time. Before a
        // later run node 0 checks the last answer for as long as it takes, and its end would be known.
        if (!joins && (!met || session.peer.rank == 0 || visitors.contains(0)))
            deadline = Clock::now() + meeting_max;
        (joins ? joining : visitors)
            .emplace(session.peer.rank,
                     Visitor{std::move(socket), session, Sealer(session.send_key, protection),
                             Opener(session.receive_key, protection, table_bytes_max)});
        changed.notify_one();
    }

    static void answer(Visitor& visitor, FrameKind kind, const std::string& text) {
        // A node that cannot be reached will be missed and reported by the others.
        (void)write_frame(visitor.socket.get(), visitor.sealer, kind, bytes_of(text),
                          Clock::now() + frame_patience);
    }

    /// Sends the same frame to all visitors. The next node that comes begins a new round.
    void answer_all(FrameKind kind, const std::string& text) {
        for (auto& [rank, visitor] : visitors) answer(visitor, kind, text);
        visitors.clear();
        deadline = Deadline::max();
    }

    std::string missing() const {
        std::string list;
        for (NodeId rank = 0; rank < places.at_start; ++rank)
            if (!visitors.contains(rank)) list += fmt::format("{}{}", list.empty() ? "" : ", ", rank);
        return list;
    }

    static Agreement agreement_of(Visitor& visitor) {
        answer(visitor, FrameKind::describe, {});
        const Frame frame = read_frame(visitor.socket.get(), visitor.opener, Clock::now() + frame_patience);
        auto agreement = unpack_agreement(frame.payload);
        if (frame.kind != FrameKind::description || !agreement) throw Error("it sent no description");
        return *agreement;
    }

    /// Two nodes have different fingerprints: finds out what differs, and tells all.
    void refuse(NodeId a, NodeId b) {
        try {
            const Error error =
                disagreement(a, agreement_of(visitors.at(a)), b, agreement_of(visitors.at(b)));
            answer_all(FrameKind::disagree, error.message() + '\n' + error.advice() + '\n');
        } catch (const Error& error) {
            answer_all(FrameKind::abort,
                       fmt::format("node {} runs another program or experiment than node {} ({})", b, a,
                                   error.message()));
        }
    }

    /// Those of nodes in several networks are in a frame of their own.
    static void read_addresses(Visitor& visitor) {
        if (visitor.session.peer.address != several) return;
        const Frame frame = read_frame(visitor.socket.get(), visitor.opener, Clock::now() + frame_patience);
        visitor.session.peer.address = text_of(frame.payload);
        if (frame.kind != FrameKind::addresses || lines_of(visitor.session.peer.address + '\n').size() != 1)
            throw Error("it sent no addresses");
    }

    /// False: all have been told what is missing.
    bool read_all_addresses() {
        for (auto& [rank, visitor] : visitors) {
            try {
                read_addresses(visitor);
            } catch (const Error& error) {
                answer_all(FrameKind::abort, fmt::format("node {} is gone: {}", rank, error.message()));
                return false;
            }
        }
        return true;
    }

    /// All nodes have come.
    void conclude() {
        const std::uint64_t first = visitors.begin()->second.session.peer.fingerprint;
        const auto other = std::ranges::find_if(
            visitors, [first](const auto& entry) { return entry.second.session.peer.fingerprint != first; });
        if (!read_all_addresses()) return;
        if (other != visitors.end()) return refuse(visitors.begin()->first, other->first);
        std::map<NodeId, std::string> addresses;
        for (const auto& [rank, visitor] : visitors) addresses[rank] = visitor.session.peer.address;
        if (places.at_start < places.capacity && !open_run(addresses, first)) return;
        answer_all(FrameKind::table, table_of(addresses));
        met = true;
    }

    /// A line for each node; empty where it takes no part.
    std::string table_of(const std::map<NodeId, std::string>& addresses) const {
        std::string table;
        for (NodeId rank = 0; rank < places.capacity; ++rank) {
            if (const auto entry = addresses.find(rank); entry != addresses.end()) table += entry->second;
            table += '\n';
        }
        return table;
    }

    /// From now on others may join. False: all have been told why not.
    bool open_run(const std::map<NodeId, std::string>& addresses, std::uint64_t of_all) {
        try {
            agreement = agreement_of(visitors.begin()->second);
        } catch (const Error& error) {
            answer_all(FrameKind::abort, fmt::format("node 0 is gone: {}", error.message()));
            return false;
        }
        fingerprint = of_all;
        present = addresses;
        joined.clear();
        stage = Stage::on;
        return true;
    }

    /// Tells the first of those that wait to join of all before it.
    void let_join() {
        auto entry = joining.extract(joining.begin());
        const NodeId rank = entry.key();
        Visitor& visitor = entry.mapped();
        if (stage == Stage::over) return answer(visitor, FrameKind::over, {});
        try {
            read_addresses(visitor);
        } catch (const Error&) {
            return;  // it has ended; the others do not know of it
        }
        if (visitor.session.peer.fingerprint != fingerprint) return refuse_joining(rank, visitor);
        joined.insert(rank);
        // Two processes cannot listen at one address: the earlier one has left, and its end is not known yet.
        std::erase_if(present, [&](const auto& other) {
            return share_address(other.second, visitor.session.peer.address);
        });
        const std::string table = table_of(present);
        present[rank] = visitor.session.peer.address;
        answer(visitor, FrameKind::table, table);
    }

    /// Only this node is refused: the run goes on.
    void refuse_joining(NodeId rank, Visitor& visitor) const {
        try {
            const Error error = disagreement(0, agreement, rank, agreement_of(visitor));
            answer(visitor, FrameKind::disagree, error.message() + '\n' + error.advice() + '\n');
        } catch (const Error&) {
            answer(visitor, FrameKind::abort,
                   fmt::format("node {} runs another program or experiment than node 0", rank));
        }
    }

    void run() {
        std::unique_lock lock(mutex);
        while (!stopping) {
            if (visitors.size() == places.at_start) {
                conclude();
            } else if (stage != Stage::none && !joining.empty()) {
                let_join();
            } else if (!visitors.empty() && first_ended) {
                answer_all(FrameKind::abort, fmt::format("the process of node {} has ended", *first_ended));
            } else if (Clock::now() >= deadline) {
                answer_all(FrameKind::abort, fmt::format("node {} did not come within {} s", missing(),
                                                         static_cast<double>(meeting_max.count()) / 1000));
            } else if (deadline == Deadline::max()) {
                changed.wait(lock);
            } else {
                changed.wait_until(lock, deadline);
            }
        }
    }
};

Rendezvous::Rendezvous(Places places, const Credentials& credentials, const std::string& address,
                       std::chrono::milliseconds meeting_max, const PortRange& ports,
                       std::function<void(const StartRequest&)> ask)
    : state_(std::make_unique<State>(places, meeting_max, std::move(ask))) {
    State& state = *state_;
    const Identity self{rendezvous_rank, places.capacity, 0, {}};
    std::vector<Descriptor> listening;
    listening.push_back(listen_on(address, ports));
    state.listener = std::make_unique<Listener>(
        std::move(listening), credentials, self,
        Listener::Callbacks{[&state](const Identity& peer) { return state.admit(peer); },
                            [&state](Descriptor socket, const Session& session) {
                                state.accept(std::move(socket), session);
                            }});
    state.thread = std::thread([&state] { state.run(); });
}

Rendezvous::~Rendezvous() {
    state_->listener.reset();
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
        state_->changed.notify_one();
    }
    state_->thread.join();
}

std::string Rendezvous::address() const {
    return state_->listener->address();
}

void Rendezvous::node_ended(NodeId node) {
    State& state = *state_;
    const std::lock_guard lock(state.mutex);
    if (!state.first_ended && node < state.places.at_start) state.first_ended = node;
    state.present.erase(node);
    if (node == 0) state.stage = State::Stage::over;
    state.changed.notify_one();
}

namespace {

/// What this node says of itself at the rendezvous.
Identity identity_of(const Membership& membership, const Agreement& agreement, std::string address) {
    return {membership.rank, membership.nodes, agreement.fingerprint(), std::move(address)};
}

/// A wildcard is replaced by the host that the rendezvous sees over `socket`. Empty: the node does not listen
/// there, as where MPI carries the network.
std::string reachable(const std::string& listening, int socket) {
    if (listening.empty()) return {};
    if (!is_wildcard(host_of(listening))) return listening;
    const std::string seen = local_address(socket);
    return seen.substr(0, seen.rfind(':') + 1) + port_of(listening);
}

/// The rendezvous's answer, after the descriptions that it asks for. No limit: the rendezvous alone knows how
/// long the nodes may take (launch --meeting-time), and tells them to give up. If it ends, so does the
/// connection.
Frame await_answer(const Connection& connection, const Agreement& agreement,
                   const std::vector<std::string>& listening) {
    Sealer sealer(connection.session.send_key, protection);
    Opener opener(connection.session.receive_key, protection, table_bytes_max);
    if (listening.size() > 1) {
        std::string text;
        for (const std::string& address : listening)
            text += reachable(address, connection.socket.get()) + ' ';
        const std::string failure = write_frame(connection.socket.get(), sealer, FrameKind::addresses,
                                                bytes_of(text), Clock::now() + frame_patience);
        if (!failure.empty()) throw Error(failure);
    }
    for (;;) {
        Frame frame = read_frame(connection.socket.get(), opener, Deadline::max());
        if (frame.kind != FrameKind::describe) return frame;
        const std::string failure = write_frame(connection.socket.get(), sealer, FrameKind::description,
                                                pack(agreement), Clock::now() + frame_patience);
        if (!failure.empty()) throw Error(failure);
    }
}

}  // namespace

AddressTable meet(const Membership& membership, const Agreement& agreement,
                  const std::vector<std::string>& listening, std::chrono::milliseconds meeting_max) {
    const Deadline deadline = Clock::now() + meeting_max;
    Frame answer{};
    try {
        const Connection connection = introduce_until(
            membership.rendezvous, membership.credentials,
            [&](int socket) {
                return identity_of(
                    membership, agreement,
                    listening.size() == 1 ? reachable(listening.front(), socket) : std::string(several));
            },
            rendezvous_rank, deadline);
        answer = await_answer(connection, agreement, listening);
        if (answer.kind == FrameKind::abort) throw Error(text_of(answer.payload));
        if (answer.kind == FrameKind::over)
            throw RunOver(fmt::format("the run was over before node {} joined", membership.rank));
    } catch (const RunOver&) {
        throw;
    } catch (const Error& error) {
        throw Error(fmt::format("node {} did not meet the others at the rendezvous {}: {}", membership.rank,
                                membership.rendezvous, error.message()),
                    error.advice());
    }
    std::vector<std::string> lines = lines_of(text_of(answer.payload));
    if (answer.kind == FrameKind::disagree && lines.size() == 2) throw Error(lines[0], lines[1]);
    if (answer.kind != FrameKind::table || lines.size() != membership.nodes)
        throw Error(fmt::format("the rendezvous {} sent no table of the nodes", membership.rendezvous));
    AddressTable table;
    for (const std::string& line : lines) {
        table.push_back(listening.size() == 1 ? std::vector{line} : parts_of(line, ' '));
        table.back().resize(listening.size());
    }
    return table;
}

void ask_for_nodes(const Membership& membership, const StartRequest& request, Deadline deadline) {
    const Identity self{membership.rank, membership.nodes, 0, text_of(request)};
    (void)introduce_until(
        membership.rendezvous, membership.credentials, [&](int) { return self; }, rendezvous_rank, deadline);
}

}  // namespace heddle::native
