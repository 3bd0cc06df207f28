#include "runtime/native/mesh.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

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

/// How long the sender naps between the writes of a stream of messages: meanwhile they gather, and nobody has
/// to wake it.
constexpr std::chrono::microseconds nap{20};

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
    std::vector<std::unique_ptr<Flow>> flows;  ///< likewise
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
    void sleep_until_work(const std::vector<Link*>& blocked, std::chrono::nanoseconds time_max);
    void look_for_dead_hosts();

    void receive_all();
    void receive_from_one(Link& link, Polling& polling);
    void receive_from_many(Polling& polling);
    bool receive_from(Link& link, Link::When when);
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
    std::vector<Link*> blocked;        ///< their sockets have no room
    prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds: naps are short
    bool streams = false;              ///< there was something to write after the last sleep
    Deadline next_look = Clock::now() + look_period;
    for (;;) {
        // Read first: what was posted before the stop is still sent.
        const bool last = stopping.load(std::memory_order_acquire);
        {
            const std::lock_guard lock(sender_mutex);
            turn.swap(waiting);
            sender_sleeps = turn.empty() && !streams;
        }
        if (turn.empty()) {
            if (last && (blocked.empty() || is_lost())) return;
            sleep_until_work(blocked, streams && !last ? std::chrono::nanoseconds(nap) : look_period);
            streams = false;
            turn = blocked;
        } else {
            streams = true;
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
void Mesh::State::sleep_until_work(const std::vector<Link*>& blocked, std::chrono::nanoseconds time_max) {
    std::vector<pollfd> entries{{sender_wake.get(), POLLIN, 0}};
    for (const Link* link : blocked) entries.push_back({link->socket(), POLLOUT, 0});
    const timespec most{time_max.count() / 1'000'000'000, time_max.count() % 1'000'000'000};
    ppoll(entries.data(), entries.size(), &most, nullptr);
    if (entries[0].revents) clear_event(sender_wake);
}

void Mesh::State::look_for_dead_hosts() {
    for (const auto& link : links)
        if (link && host_is_dead(link->socket(), host_patience)) link->give_up("its machine does not answer");
}

// --- the receiver module

void Mesh::State::receive_all() {
    Polling polling(options.receive, options.core_is_free);
    Link* alone = nullptr;
    for (const auto& link : links)
        if (link && nodes == 2) alone = link.get();
    // One call that blocks is cheaper than two, of which one waits and one reads.
    if (alone) receive_from_one(*alone, polling);
    receive_from_many(polling);
}

/// False where nothing more comes from there.
bool Mesh::State::receive_from(Link& link, Link::When when) {
    const std::string failure =
        link.receive([&](FrameKind kind, std::span<const std::byte> payload,
                         runtime::Body body) { take(link, kind, payload, std::move(body)); },
                     when);
    if (stopping.load(std::memory_order_acquire)) return false;
    if (!failure.empty()) lose(link.peer(), failure);
    return failure.empty() && !link.ended();
}

/// Until the mesh stops, or nothing more comes.
void Mesh::State::receive_from_one(Link& link, Polling& polling) {
    // The only calls that do not say themselves that they must not wait are meant to.
    fcntl(link.socket(), F_SETFL, fcntl(link.socket(), F_GETFL) & ~O_NONBLOCK);
    const auto at_first = polling.never() ? Link::When::comes : Link::When::now;
    Link::When when = at_first;
    for (std::uint64_t before = link.received(); receive_from(link, when); before = link.received()) {
        when = at_first;
        if (link.received() != before) {
            polling.found();
        } else if (!polling.again()) {
            when = Link::When::comes;
        }
    }
}

void Mesh::State::receive_from_many(Polling& polling) {
    const Descriptor set(epoll_create1(EPOLL_CLOEXEC));
    const auto watch = [&](int descriptor, Link* link) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = link;
        HEDDLE_ASSERT(epoll_ctl(set.get(), EPOLL_CTL_ADD, descriptor, &event) == 0);
    };
    watch(receiver_wake.get(), nullptr);
    for (const auto& link : links)
        if (link && nodes > 2) watch(link->socket(), link.get());
    std::vector<epoll_event> events_seen(64);
    int patience = 0;
    while (!stopping.load(std::memory_order_acquire)) {
        const int count =
            epoll_wait(set.get(), events_seen.data(), static_cast<int>(events_seen.size()), patience);
        if (count > 0) polling.found();
        patience = count > 0 || (nodes > 2 && polling.again()) ? 0 : -1;
        for (int i = 0; i < count; ++i) {
            Link* link = static_cast<Link*>(events_seen[static_cast<std::size_t>(i)].data.ptr);
            if (link && !receive_from(*link, Link::When::now))
                epoll_ctl(set.get(), EPOLL_CTL_DEL, link->socket(), nullptr);
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
        case FrameKind::mark:
            post(link, FrameKind::handled, runtime::Bytes(payload.begin(), payload.end()));
            break;
        case FrameKind::handled: {
            std::uint64_t number = 0;
            std::memcpy(&number, payload.data(), std::min(sizeof number, payload.size()));
            flows[link.peer()]->handled(number);
            break;
        }
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
    for (const auto& flow : flows)
        if (flow) flow->open();
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
    state_->flows.resize(state_->nodes);
    for (const auto& link : state_->links) {
        if (!link) continue;
        const auto post_mark = [state = state_.get(), to = link.get()](std::uint64_t number) {
            const auto bytes = std::as_bytes(std::span(&number, 1));
            state->post(*to, FrameKind::mark, runtime::Bytes(bytes.begin(), bytes.end()));
        };
        state_->flows[link->peer()] = std::make_unique<Flow>(options.window, post_mark);
    }
}

Mesh::~Mesh() {
    state_->stopping.store(true, std::memory_order_release);
    signal_event(state_->sender_wake);
    signal_event(state_->receiver_wake);
    for (const auto& link : state_->links)
        if (link) link->stop_receiving();
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

void Mesh::send(NodeId to, runtime::Bytes message, runtime::Body body, Sender sender) {
    HEDDLE_ASSERT(to < state_->nodes && to != state_->rank);
    Flow& flow = *state_->flows[to];
    flow.before(message.size() + (body ? body->size() : 0), sender);
    state_->post(*state_->links[to], FrameKind::message, std::move(message), std::move(body));
    flow.after();
}

void Mesh::pad(NodeId to, std::uint64_t bytes, Sender sender) {
    Flow& flow = *state_->flows[to];
    flow.before(bytes, sender);
    state_->post(*state_->links[to], FrameKind::padding, runtime::Bytes(bytes, std::byte{0}));
    flow.after();
}

bool Mesh::part() {
    for (const auto& link : state_->links)
        if (link) state_->post(*link, FrameKind::goodbye, {});
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->parted == state_->nodes - 1 || state_->lost; });
    return !state_->lost;
}

}  // namespace heddle::native
