// A thread of the launcher that collects the nodes' addresses and sends all of them to each. Also the nodes'
// part of that exchange.
#include "runtime/native/rendezvous.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "base/error.hpp"
#include "runtime/native/frame.hpp"
#include "runtime/native/handshake.hpp"
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

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines(1);
    for (const char c : text) {
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back().push_back(c);
    }
    lines.pop_back();
    return lines;
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

    NodeId nodes;
    std::chrono::milliseconds meeting_max;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<NodeId, Visitor> visitors;  ///< of this round, by rank
    Deadline deadline = Deadline::max();
    std::optional<NodeId> first_ended;
    bool stopping = false;
    std::unique_ptr<Listener> listener;
    std::thread thread;

    std::string admit(const Identity& peer) {
        const std::lock_guard lock(mutex);
        if (peer.rank >= nodes) return fmt::format("there is no node {}", peer.rank);
        if (visitors.contains(peer.rank)) return fmt::format("node {} has come already", peer.rank);
        return {};
    }

    void accept(Descriptor socket, const Session& session) {
        const std::lock_guard lock(mutex);
        if (visitors.empty()) deadline = Clock::now() + meeting_max;
        visitors.emplace(session.peer.rank,
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
        for (NodeId rank = 0; rank < nodes; ++rank)
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

    /// All nodes have come.
    void conclude() {
        const std::uint64_t fingerprint = visitors.begin()->second.session.peer.fingerprint;
        const auto other = std::ranges::find_if(visitors, [fingerprint](const auto& entry) {
            return entry.second.session.peer.fingerprint != fingerprint;
        });
        if (other != visitors.end()) return refuse(visitors.begin()->first, other->first);
        std::string table;
        for (const auto& [rank, visitor] : visitors) table += visitor.session.peer.address + '\n';
        answer_all(FrameKind::table, table);
    }

    void run() {
        std::unique_lock lock(mutex);
        while (!stopping) {
            if (visitors.size() == nodes) {
                conclude();
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

Rendezvous::Rendezvous(NodeId nodes, const Credentials& credentials, const std::string& address,
                       std::chrono::milliseconds meeting_max, const PortRange& ports)
    : state_(std::make_unique<State>()) {
    State& state = *state_;
    state.nodes = nodes;
    state.meeting_max = meeting_max;
    const Identity self{rendezvous_rank, nodes, 0, {}};
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
    const std::lock_guard lock(state_->mutex);
    if (!state_->first_ended) state_->first_ended = node;
    state_->changed.notify_one();
}

namespace {

/// What this node says of itself at the rendezvous, over `socket`.
Identity identity_of(const Membership& membership, const Agreement& agreement,
                     const std::string& listening_address, int socket) {
    Identity self{membership.rank, membership.nodes, agreement.fingerprint(), listening_address};
    const std::string host = host_of(listening_address);
    if (host == "0.0.0.0" || host == "::") {
        const std::string seen = local_address(socket);
        self.address = seen.substr(0, seen.rfind(':') + 1) + port_of(listening_address);
    }
    return self;
}

/// The rendezvous's answer, after the descriptions that it asks for.
Frame await_answer(const Connection& connection, const Agreement& agreement, Deadline deadline) {
    Sealer sealer(connection.session.send_key, protection);
    Opener opener(connection.session.receive_key, protection, table_bytes_max);
    for (;;) {
        Frame frame = read_frame(connection.socket.get(), opener, deadline);
        if (frame.kind != FrameKind::describe) return frame;
        const std::string failure = write_frame(connection.socket.get(), sealer, FrameKind::description,
                                                pack(agreement), Clock::now() + frame_patience);
        if (!failure.empty()) throw Error(failure);
    }
}

}  // namespace

std::vector<std::string> meet(const Membership& membership, const Agreement& agreement,
                              const std::string& listening_address, std::chrono::milliseconds meeting_max) {
    const Deadline deadline = Clock::now() + meeting_max;
    Frame answer{};
    try {
        const Connection connection = introduce_until(
            membership.rendezvous, membership.credentials,
            [&](int socket) { return identity_of(membership, agreement, listening_address, socket); },
            rendezvous_rank, deadline);
        // The rendezvous itself gives up in time. The second more is for its answer to arrive.
        answer = await_answer(connection, agreement, deadline + meeting_max + std::chrono::seconds(1));
        if (answer.kind == FrameKind::abort) throw Error(text_of(answer.payload));
    } catch (const Error& error) {
        throw Error(fmt::format("node {} did not meet the others at the rendezvous {}: {}", membership.rank,
                                membership.rendezvous, error.message()),
                    error.advice());
    }
    std::vector<std::string> lines = lines_of(text_of(answer.payload));
    if (answer.kind == FrameKind::disagree && lines.size() == 2) throw Error(lines[0], lines[1]);
    if (answer.kind != FrameKind::table || lines.size() != membership.nodes)
        throw Error(fmt::format("the rendezvous {} sent no table of the nodes", membership.rendezvous));
    return lines;
}

}  // namespace heddle::native
