#include "runtime/native/mesh.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "runtime/native/doorkeeper.hpp"
#include "runtime/native/link.hpp"
#include "runtime/native/rendezvous.hpp"

namespace heddle::native {

namespace {

/// How long the host of a node may leave data unacknowledged before the node counts as lost, how often to
/// look, and how long to try to tell others of a loss.
constexpr std::chrono::seconds host_patience{8};
constexpr std::chrono::seconds look_period{1};
constexpr std::chrono::milliseconds farewell_max{200};

runtime::Bytes abort_payload(NodeId node, const std::string& reason) {
    runtime::Bytes payload(sizeof node + reason.size());
    std::memcpy(payload.data(), &node, sizeof node);
    std::memcpy(payload.data() + sizeof node, reason.data(), reason.size());
    return payload;
}

}  // namespace

struct Mesh::State {
    MeshOptions options;
    NodeId rank;
    NodeId nodes;
    std::vector<std::unique_ptr<Link>> links;  ///< by rank; none for this node. Complete once met
    Events events;
    std::atomic<bool> stopping{false};

    // Meeting and parting.
    std::mutex mutex;
    std::condition_variable changed;
    NodeId connected = 0;
    NodeId parted = 0;
    bool lost = false;
    std::string refused;

    // Who has something to send. `sender_sleeps` saves the system call where the sender will look anyway.
    std::mutex sender_mutex;
    std::vector<Link*> waiting;
    bool sender_sleeps = false;
    Descriptor sender_wake = make_event();
    Descriptor receiver_wake = make_event();
    std::thread sender;
    std::thread receiver;

    std::unique_ptr<Doorkeeper> doorkeeper;  ///< the last member: its thread uses those above

    void connect_all();
    std::string admit(const Identity& peer);
    void welcome(Descriptor socket, const Session& session);
    std::string other_program(NodeId node, std::uint64_t fingerprint) const;

    void post(Link& link, FrameKind kind, runtime::Bytes payload, runtime::Body body = {});
    void send_all();
    void sleep_until_work(const std::vector<Link*>& blocked);
    void look_for_dead_hosts();

    void receive_all();
    void take(Link& link, FrameKind kind, std::span<const std::byte> payload, runtime::Body body);
    void lose(NodeId node, const std::string& reason);

    bool is_lost() {
        const std::lock_guard lock(mutex);
        return lost;
    }
};

// --- meeting

std::string Mesh::State::other_program(NodeId node, std::uint64_t fingerprint) const {
    if (fingerprint == options.fingerprint) return {};
    return fmt::format("node {} runs another program than node {} (fingerprints {:016x} and {:016x})", node,
                       rank, fingerprint, options.fingerprint);
}

/// On the doorkeeper's thread.
std::string Mesh::State::admit(const Identity& peer) {
    const std::lock_guard lock(mutex);
    if (peer.rank >= nodes || peer.rank <= rank)
        return fmt::format("node {} has no business here", peer.rank);
    if (links[peer.rank]) return fmt::format("node {} is connected already", peer.rank);
    std::string reason = other_program(peer.rank, peer.fingerprint);
    if (!reason.empty()) {
        refused = reason;
        changed.notify_all();
    }
    return reason;
}

void Mesh::State::welcome(Descriptor socket, const Session& session) {
    const std::lock_guard lock(mutex);
    links[session.peer.rank] = std::make_unique<Link>(std::move(socket), session, options.frame_bytes_max);
    ++connected;
    changed.notify_all();
}

void Mesh::State::connect_all() {
    const char* advice = "start every node from the same binary";
    const Identity self{rank, nodes, options.fingerprint, {}};
    doorkeeper = std::make_unique<Doorkeeper>(
        options.address, options.membership.key, self,
        Doorkeeper::Host{
            [this](const Identity& peer) { return admit(peer); },
            [this](Descriptor socket, const Session& session) { welcome(std::move(socket), session); }});
    const std::vector<std::string> table =
        meet(options.membership, doorkeeper->address(), options.meeting_max);
    const Deadline deadline = Clock::now() + options.meeting_max;
    for (NodeId node = 0; node < rank; ++node) {
        Descriptor socket = connect_to(table[node], deadline);
        const Session session = introduce(socket.get(), options.membership.key, self, node, deadline);
        if (const auto reason = other_program(node, session.peer.fingerprint); !reason.empty())
            throw Error(reason, advice);
        welcome(std::move(socket), session);
    }
    std::unique_lock lock(mutex);
    changed.wait_until(lock, deadline, [this] { return connected == nodes - 1 || !refused.empty(); });
    if (!refused.empty()) throw Error(refused, advice);
    for (NodeId node = 0; node < nodes; ++node)
        if (node != rank && !links[node])
            throw Error(fmt::format("node {} did not connect to node {} within {} s", node, rank,
                                    static_cast<double>(options.meeting_max.count()) / 1000));
}

// --- the sender module

void Mesh::State::post(Link& link, FrameKind kind, runtime::Bytes payload, runtime::Body body) {
    if (!link.post(kind, std::move(payload), std::move(body))) return;
    bool wake = false;
    {
        const std::lock_guard lock(sender_mutex);
        waiting.push_back(&link);
        wake = std::exchange(sender_sleeps, false);
    }
    if (wake) signal_event(sender_wake);
}

void Mesh::State::send_all() {
    std::vector<Link*> turn;
    std::vector<Link*> blocked;  ///< their sockets have no room
    Deadline next_look = Clock::now() + look_period;
    for (;;) {
        // Read first: what was posted before the stop is still sent.
        const bool last = stopping.load(std::memory_order_acquire);
        {
            const std::lock_guard lock(sender_mutex);
            turn.swap(waiting);
            sender_sleeps = turn.empty();
        }
        if (turn.empty()) {
            if (last && (blocked.empty() || is_lost())) return;
            sleep_until_work(blocked);
            turn.swap(blocked);
        }
        for (Link* link : turn) {
            const bool is_blocked = link->flush() == Link::Flushed::blocked;
            const auto place = std::find(blocked.begin(), blocked.end(), link);
            if (is_blocked && place == blocked.end()) blocked.push_back(link);
            if (!is_blocked && place != blocked.end()) blocked.erase(place);
        }
        turn.clear();
        if (Clock::now() >= next_look) {
            look_for_dead_hosts();
            next_look = Clock::now() + look_period;
        }
    }
}

/// Until somebody posts, a blocked socket has room again, or it is time to look at the hosts.
void Mesh::State::sleep_until_work(const std::vector<Link*>& blocked) {
    std::vector<pollfd> entries{{sender_wake.get(), POLLIN, 0}};
    for (const Link* link : blocked) entries.push_back({link->socket(), POLLOUT, 0});
    poll(entries.data(), entries.size(), static_cast<int>(std::chrono::milliseconds(look_period).count()));
    if (entries[0].revents) clear_event(sender_wake);
}

void Mesh::State::look_for_dead_hosts() {
    for (const auto& link : links)
        if (link && host_is_dead(link->socket(), host_patience)) link->give_up("its machine does not answer");
}

// --- the receiver module

void Mesh::State::receive_all() {
    const Descriptor set(epoll_create1(EPOLL_CLOEXEC));
    const auto watch = [&](int descriptor, Link* link) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = link;
        HEDDLE_ASSERT(epoll_ctl(set.get(), EPOLL_CTL_ADD, descriptor, &event) == 0);
    };
    watch(receiver_wake.get(), nullptr);
    for (const auto& link : links)
        if (link) watch(link->socket(), link.get());
    std::vector<epoll_event> events_seen(64);
    while (!stopping.load(std::memory_order_acquire)) {
        const int count = epoll_wait(set.get(), events_seen.data(), static_cast<int>(events_seen.size()), -1);
        for (int i = 0; i < count; ++i) {
            Link* link = static_cast<Link*>(events_seen[static_cast<std::size_t>(i)].data.ptr);
            if (!link) continue;
            const std::string failure =
                link->receive([&](FrameKind kind, std::span<const std::byte> payload, runtime::Body body) {
                    take(*link, kind, payload, std::move(body));
                });
            if (!failure.empty() || link->ended())
                epoll_ctl(set.get(), EPOLL_CTL_DEL, link->socket(), nullptr);
            if (!failure.empty()) lose(link->peer(), failure);
        }
    }
}

void Mesh::State::take(Link& link, FrameKind kind, std::span<const std::byte> payload, runtime::Body body) {
    switch (kind) {
        case FrameKind::message:
            events.deliver(link.peer(), payload, std::move(body));
            break;
        case FrameKind::padding:
            break;
        case FrameKind::goodbye: {
            const std::lock_guard lock(mutex);
            ++parted;
            changed.notify_all();
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
    }
}

void Mesh::State::lose(NodeId node, const std::string& reason) {
    {
        const std::lock_guard lock(mutex);
        if (std::exchange(lost, true)) return;
        changed.notify_all();
    }
    // The others are told first: when this process ends too, they must not take it for the cause.
    for (const auto& link : links)
        if (link && link->peer() != node && !link->ended())
            post(*link, FrameKind::abort, abort_payload(node, reason));
    for (const Deadline deadline = Clock::now() + farewell_max; Clock::now() < deadline;) {
        {
            const std::lock_guard lock(sender_mutex);
            if (sender_sleeps) break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    events.lost(node, reason);
}

// --- the whole

Mesh::Mesh(const MeshOptions& options) : state_(std::make_unique<State>()) {
    state_->options = options;
    state_->rank = options.membership.rank;
    state_->nodes = options.membership.nodes;
    state_->links.resize(state_->nodes);
    state_->connect_all();
}

Mesh::~Mesh() {
    state_->stopping.store(true, std::memory_order_release);
    signal_event(state_->sender_wake);
    signal_event(state_->receiver_wake);
    if (state_->sender.joinable()) state_->sender.join();
    if (state_->receiver.joinable()) state_->receiver.join();
}

void Mesh::start(Events events) {
    state_->events = std::move(events);
    state_->sender = std::thread([state = state_.get()] { state->send_all(); });
    state_->receiver = std::thread([state = state_.get()] { state->receive_all(); });
}

void Mesh::post(NodeId to, FrameKind kind, runtime::Bytes payload, runtime::Body body) {
    HEDDLE_ASSERT(to < state_->nodes && to != state_->rank);
    state_->post(*state_->links[to], kind, std::move(payload), std::move(body));
}

bool Mesh::part() {
    for (const auto& link : state_->links)
        if (link) state_->post(*link, FrameKind::goodbye, {});
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->parted == state_->nodes - 1 || state_->lost; });
    return !state_->lost;
}

}  // namespace heddle::native
