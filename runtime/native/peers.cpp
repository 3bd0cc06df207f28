// Dispatches received frames, closes the connections to other nodes, and reports a node that is lost.
#include "runtime/native/peers.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "base/assert.hpp"

namespace heddle::native {

namespace {

/// How long the host of a node may leave data unacknowledged before the node counts as lost, and how long to
/// try to tell others of a loss.
constexpr std::chrono::milliseconds farewell_max{200};

/// Between two looks whether everything has been acknowledged.
constexpr std::chrono::microseconds settle_pause{50}, settle_pause_max{1000};

runtime::Bytes abort_payload(NodeId node, const std::string& reason) {
    runtime::Bytes payload(sizeof node + reason.size());
    std::memcpy(payload.data(), &node, sizeof node);
    std::memcpy(payload.data() + sizeof node, reason.data(), reason.size());
    return payload;
}

}  // namespace

Link* Peers::any_link(NodeId node) const {
    for (NetworkId number = 0; number < options.networks.size(); ++number)
        if (Link* const found = link(node, number)) return found;
    HEDDLE_ASSERT(options.at_start);
    return nullptr;
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
    if (presence(link) == Presence::gone) return;
    if (!leaving.load(std::memory_order_relaxed) && !joins())
        spdlog::warn("node {} ended before it had joined ({}): the run goes on without it", link.peer(),
                     reason);
    go(link);
}

void Peers::go(Link& link) {
    {
        const std::lock_guard lock(mutex);
        presence_[place_of(link)].store(Presence::gone, std::memory_order_release);
        changed.notify_all();
    }
    flow(link.peer(), link.network()).open();
    if (events.gone) events.gone(link.peer());
    news();
}

// --- receiving

bool Peers::receive_from(Link& link) {
    const std::string failure =
        link.receive([&](FrameKind kind, std::span<const std::byte> payload,
                         runtime::Body body) { take(link, kind, payload, std::move(body)); },
                     [&](std::span<const std::byte> message, std::uint64_t bytes) {
                         return events.room ? events.room(link.peer(), message, bytes) : Link::Room();
                     });
    if (stopping.load(std::memory_order_acquire)) return false;
    if (link.is_blocked() && link.stream().room_has_come()) room(link);
    if (failure.empty()) return !link.ended();
    const bool takes_part = (begun_ || !joins()) && !leaving.load(std::memory_order_relaxed);
    const bool counts = presence(link) == Presence::member && takes_part;
    if (counts || !options.at_start) {
        lose(link.peer(), failure);
    } else {
        drop(link, failure);
    }
    return false;
}

bool Peers::attend_to(Link& link) {
    return receive_from(link) || (link.ended() && link.stream().serve_peer());
}

/// A frame of a node that arrives makes it a member here, unless a node that joins sends such frames before
/// it begins.
void Peers::see(Link& link, FrameKind kind) {
    if (presence(link) != Presence::arriving || kind == FrameKind::goodbye || kind == FrameKind::abort)
        return;
    const bool before = kind == FrameKind::linked || kind == FrameKind::ready || kind == FrameKind::pong ||
                        kind == FrameKind::relay;
    if (before && link.peer() >= begin()) return;
    presence_[place_of(link)].store(Presence::member, std::memory_order_release);
}

/// The padding makes this node a member at the others, whatever it sends next.
void Peers::take_part() {
    begun_ = true;
    for_each_link([this](Link& link) { post(link, FrameKind::padding, {}, {}); });
}

// Invariant: if node 0 counts a node that joins, either that node ends with a goodbye, or the run learns of
// its loss. Its neighbor on the way to node 0 sees to that: the neighbor expects the node from the moment in
// which it passes the frame on.
void Peers::expect(NodeId node) {
    if (node < begin()) return;
    bool is_there = false;
    for (NetworkId number = 0; number < options.networks.size(); ++number) {
        Link* const one = link(node, number);
        if (!one || presence(*one) == Presence::gone) continue;
        is_there = true;
        presence_[place_of(*one)].store(Presence::member, std::memory_order_release);
    }
    // Later: the caller may hold locks that `lost` takes.
    if (!is_there) call([this, node] { lose(node, "it ended when it was about to begin"); });
}

void Peers::has_joined(NodeId node) {
    for (NetworkId number = 0; number < options.networks.size(); ++number)
        if (Link* const one = link(node, number); one && presence(*one) == Presence::arriving)
            presence_[place_of(*one)].store(Presence::member, std::memory_order_release);
}

void Peers::take(Link& link, FrameKind kind, std::span<const std::byte> payload, runtime::Body body) {
    if (options.at_start) see(link, kind);
    switch (kind) {
        case FrameKind::message:
            events.deliver(link.peer(), payload, std::move(body), link.in_room());
            break;
        case FrameKind::padding:
            break;
        case FrameKind::mark:
            post(link, FrameKind::handled, runtime::Bytes(payload.begin(), payload.end()), {});
            break;
        case FrameKind::handled: {
            std::uint64_t number = 0;
            std::memcpy(&number, payload.data(), std::min(sizeof number, payload.size()));
            flow(link.peer(), link.network()).handled(number);
            news();
            break;
        }
        case FrameKind::goodbye:
            part_from(link);
            break;
        case FrameKind::abort: {
            // What a node says that never became a member does not end the run.
            if (presence(link) == Presence::arriving && !joins()) break;
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
    for (const auto& one : flows_)
        if (one) one->open();
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
std::optional<NodeId> Peers::settle(Deadline deadline, Presence least) {
    // Elsewhere the system does it.
    if (std::ranges::none_of(options.networks, [](const MeshNetwork& one) { return one.udp.has_value(); }))
        return std::nullopt;
    write_all_until(deadline);  // else a goodbye that no stream has yet would count as acknowledged
    for (auto pause = settle_pause;; pause = std::min(2 * pause, settle_pause_max)) {
        std::optional<NodeId> missing;
        for_each_link([&](Link& link) {
            if (presence(link) >= least && !link.settle()) missing = link.peer();
        });
        if (!missing || Clock::now() >= deadline) return missing;
        std::this_thread::sleep_for(pause);
    }
}

void Peers::settle_at_end() {
    if (const auto late = settle(Clock::now() + settle_max, Presence::member))
        spdlog::warn("node {} has not acknowledged all that node {} sent: gave up after {} s", *late, rank,
                     settle_max.count());
}

void Peers::look_for_dead_hosts() {
    for_each_link([this](Link& link) {
        const int lifeline = link.stream().lifeline();
        if (lifeline >= 0 && presence(link) != Presence::gone && host_is_dead(lifeline, host_patience))
            link.give_up("its machine does not answer");
    });
}

}  // namespace heddle::native
