#include "runtime/native/rendezvous.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "runtime/native/doorkeeper.hpp"
#include "runtime/native/frame.hpp"
#include "runtime/native/handshake.hpp"

namespace heddle::native {

namespace {

constexpr std::chrono::seconds write_patience{2};
constexpr std::uint64_t table_bytes_max = 16U << 20;

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<std::string> lines_of(const runtime::Bytes& bytes) {
    std::vector<std::string> lines(1);
    for (const std::byte byte : bytes) {
        if (byte == std::byte{'\n'})
            lines.emplace_back();
        else
            lines.back().push_back(static_cast<char>(byte));
    }
    lines.pop_back();
    return lines;
}

}  // namespace

struct Rendezvous::State {
    struct Guest {
        Descriptor socket;
        Session session;
    };

    NodeId nodes;
    std::chrono::milliseconds meeting_max;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<NodeId, Guest> guests;  ///< who has come in this round
    Deadline deadline = Deadline::max();
    std::set<NodeId> ended;
    bool stopping = false;
    std::unique_ptr<Doorkeeper> doorkeeper;
    std::thread thread;

    std::string admit(const Identity& peer) {
        const std::lock_guard lock(mutex);
        if (peer.rank >= nodes) return fmt::format("there is no node {}", peer.rank);
        if (guests.contains(peer.rank)) return fmt::format("node {} has come already", peer.rank);
        return {};
    }

    void welcome(Descriptor socket, const Session& session) {
        const std::lock_guard lock(mutex);
        if (guests.empty()) deadline = Clock::now() + meeting_max;
        guests[session.peer.rank] = {std::move(socket), session};
        changed.notify_one();
    }

    /// Sends everybody who waits the same frame; the next to come begins a new round.
    void answer_all(FrameKind kind, const std::string& text) {
        for (auto& [rank, guest] : guests) {
            Sealer sealer(guest.session.send_key);
            // Who cannot be reached will be missed by the others, and reported by them.
            (void)write_frame(guest.socket.get(), sealer, kind, bytes_of(text),
                              Clock::now() + write_patience);
        }
        guests.clear();
        deadline = Deadline::max();
    }

    std::string missing() const {
        std::string list;
        for (NodeId rank = 0; rank < nodes; ++rank)
            if (!guests.contains(rank)) list += fmt::format("{}{}", list.empty() ? "" : ", ", rank);
        return list;
    }

    void run() {
        std::unique_lock lock(mutex);
        while (!stopping) {
            if (guests.size() == nodes) {
                std::string table;
                for (const auto& [rank, guest] : guests) table += guest.session.peer.address + '\n';
                answer_all(FrameKind::table, table);
            } else if (!guests.empty() && !ended.empty()) {
                answer_all(FrameKind::abort, fmt::format("the process of node {} has ended", *ended.begin()));
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

Rendezvous::Rendezvous(NodeId nodes, const Key& key, const std::string& address,
                       std::chrono::milliseconds meeting_max)
    : state_(std::make_unique<State>()) {
    State& state = *state_;
    state.nodes = nodes;
    state.meeting_max = meeting_max;
    const Identity self{rendezvous_rank, nodes, 0, {}};
    state.doorkeeper = std::make_unique<Doorkeeper>(
        address, key, self,
        Doorkeeper::Host{[&state](const Identity& peer) { return state.admit(peer); },
                         [&state](Descriptor socket, const Session& session) {
                             state.welcome(std::move(socket), session);
                         }});
    state.thread = std::thread([&state] { state.run(); });
}

Rendezvous::~Rendezvous() {
    state_->doorkeeper.reset();
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
        state_->changed.notify_one();
    }
    state_->thread.join();
}

std::string Rendezvous::address() const {
    return state_->doorkeeper->address();
}

void Rendezvous::node_ended(NodeId node) {
    const std::lock_guard lock(state_->mutex);
    state_->ended.insert(node);
    state_->changed.notify_one();
}

std::vector<std::string> meet(const Membership& membership, const std::string& listening_address,
                              std::chrono::milliseconds meeting_max) {
    const Deadline deadline = Clock::now() + meeting_max;
    try {
        const Descriptor socket = connect_to(membership.rendezvous, deadline);
        Identity self{membership.rank, membership.nodes, 0, listening_address};
        const std::string host = host_of(listening_address);
        if (host == "0.0.0.0" || host == "::") {
            const std::string seen = local_address(socket.get());
            self.address = seen.substr(0, seen.rfind(':') + 1) + port_of(listening_address);
        }
        const Session session = introduce(socket.get(), membership.key, self, rendezvous_rank, deadline);
        Opener opener(session.receive_key, table_bytes_max);
        // The rendezvous itself gives up in time; the second more is for its answer to arrive.
        const Frame frame =
            read_frame(socket.get(), opener, deadline + meeting_max + std::chrono::seconds(1));
        if (frame.kind == FrameKind::abort)
            throw Error(
                std::string(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size()));
        std::vector<std::string> table = lines_of(frame.payload);
        if (frame.kind != FrameKind::table || table.size() != membership.nodes)
            throw Error("it sent no table of the nodes");
        return table;
    } catch (const Error& error) {
        throw Error(fmt::format("node {} did not meet the others at the rendezvous {}: {}", membership.rank,
                                membership.rendezvous, error.message()),
                    error.advice());
    }
}

}  // namespace heddle::native
