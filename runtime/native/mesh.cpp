// The sender thread and the receiver thread of a node, and the connections that they serve.
#include "runtime/native/mesh.hpp"

#include <poll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include "base/assert.hpp"
#include "host/machine.hpp"
#include "runtime/native/peers.hpp"
#include "runtime/native/reception.hpp"
#include "runtime/native/thread_priority.hpp"

namespace heddle::native {

namespace {

/// How long the sender sleeps at most while a link waits for room that its descriptor does not report. The
/// receiver hears of such room, but it may have ended already.
constexpr std::chrono::milliseconds room_look{5};

}  // namespace

struct Mesh::State final : Peers {
    using Peers::Peers;

    // The links that have something to send. A thread that posts makes the system call that wakes the sender
    // only if `sender_sleeps`.
    std::mutex sender_mutex;
    std::vector<Link*> waiting;
    std::vector<Link*> ended;  ///< nothing more comes from there: to be closed when all has been written
    bool sender_sleeps = false;
    std::size_t blocked_links = 0;  ///< as the sender found them; more is to be written there
    /// After the stop the sender gives up what is blocked: a node that leaves does not wait for a process
    /// that is stopped. Written before the stop.
    Deadline write_until = Deadline::max();
    Descriptor sender_wake = host::make_event();
    std::thread sender;
    std::thread receiver;

    Reception reception{options.receive,
                        options.times.receiver,
                        options.core_is_free,
                        options.has_core,
                        {.attend = [this](Link& link) { return attend_to(link); },
                         .over = [this](Link& link) { note_ended(link); },
                         .between = [this] { run_calls(); }}};

    void post(Link& link, FrameKind kind, runtime::Bytes&& payload, runtime::SentBody&& body) override;
    void write_all_until(Deadline deadline) override;
    void send_all();
    void sleep_until_work(const std::vector<Link*>& blocked, std::chrono::nanoseconds time_max);

    void room(Link& link) override;
    void take_up(Link& link) override { reception.add(link); }
    void wake_receiver() override { reception.wake(); }
    void note_ended(Link& link);
    void close_ended(std::vector<Link*>& closing);
};

// --- the sender module

void Mesh::State::post(Link& link, FrameKind kind, runtime::Bytes&& payload, runtime::SentBody&& body) {
    std::optional<Reception::Writing> writing;
    if (body) writing.emplace(reception, body->size());
    if (!link.post(kind, std::move(payload), std::move(body))) return;
    writing.reset();
    bool wake = false;
    {
        const std::lock_guard lock(sender_mutex);
        waiting.push_back(&link);
        wake = std::exchange(sender_sleeps, false);
    }
    if (wake) host::signal_event(sender_wake);
}

void Mesh::State::write_all_until(Deadline deadline) {
    while (Clock::now() < deadline) {
        {
            const std::lock_guard lock(sender_mutex);
            if (sender_sleeps && blocked_links == 0) return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void Mesh::State::send_all() {
    std::vector<Link*> turn;
    std::vector<Link*> blocked;  ///< their sockets have no room
    std::vector<Link*> closing;
    bool streams = false;  ///< there was something to write after the last sleep
    Deadline next_look = Clock::now() + look_period;
    for (;;) {
        // Read first: what was posted before the stop is still sent.
        const bool last = stopping.load(std::memory_order_acquire);
        {
            const std::lock_guard lock(sender_mutex);
            turn.swap(waiting);
            closing.insert(closing.end(), ended.begin(), ended.end());
            ended.clear();
            sender_sleeps = turn.empty() && !streams;
            blocked_links = blocked.size();
        }
        if (turn.empty()) {
            if (last && (blocked.empty() || is_lost() || Clock::now() >= write_until)) return;
            sleep_until_work(blocked, streams && !last ? options.times.sender : look_period);
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
        if (!closing.empty()) close_ended(closing);
        if (Clock::now() >= next_look) {
            look_for_dead_hosts();
            next_look = Clock::now() + look_period;
        }
    }
}

/// The receiver has looked at them for the last time, so no other thread uses their streams.
void Mesh::State::close_ended(std::vector<Link*>& closing) {
    std::erase_if(closing, [](Link* link) {
        if (link->flush() == Link::Flushed::blocked) return false;
        link->close();
        return true;
    });
}

/// Until a thread posts, a blocked socket has room again, or it is time to look at the hosts.
void Mesh::State::sleep_until_work(const std::vector<Link*>& blocked, std::chrono::nanoseconds time_max) {
    std::vector<pollfd> entries{{sender_wake.get(), POLLIN, 0}};
    for (Link* link : blocked) {
        if (!link->stream().tells_room()) {
            time_max = std::min<std::chrono::nanoseconds>(time_max, room_look);
        } else {
            entries.push_back({link->descriptor(), POLLOUT, 0});
        }
    }
    const timespec most{time_max.count() / 1'000'000'000, time_max.count() % 1'000'000'000};
    ppoll(entries.data(), entries.size(), &most, nullptr);
    if (entries[0].revents) host::clear_event(sender_wake);
}

// --- the receiver module

/// Nothing more comes from there.
void Mesh::State::note_ended(Link& link) {
    if (presence(link) != Presence::gone || !options.at_start) return;
    const std::lock_guard lock(sender_mutex);
    ended.push_back(&link);
    host::signal_event(sender_wake);
}

/// The sender writes. Its mutex is not needed: the event stays set until the sender has seen it.
void Mesh::State::room(Link& /*link*/) {
    host::signal_event(sender_wake);
}

// --- the whole

Mesh::Mesh(const MeshOptions& options) : state_(std::make_unique<State>(options)) {}

Mesh::~Mesh() {
    state_->end_admitting();
    state_->stopping.store(true, std::memory_order_release);
    host::signal_event(state_->sender_wake);
    state_->reception.wake();
    if (state_->sender.joinable()) state_->sender.join();
    if (state_->receiver.joinable()) state_->receiver.join();
}

void Mesh::start(Events events) {
    state_->events = std::move(events);
    state_->for_each_link([this](Link& link) { state_->take_up(link); });
    // Returns whether the thread runs before the workers.
    const auto settle = [state = state_.get()] {
        const MeshOptions& options = state->options;
        (void)host::bind_to_cores(options.cores);  // cores that refuse cost speed only
        prctl(PR_SET_TIMERSLACK, 1000UL);          // nanoseconds: naps are short
        return options.amid_workers && options.receive != Receive::poll && run_before_others();
    };
    state_->sender = std::thread([settle, state = state_.get()] {
        (void)settle();
        state->send_all();
    });
    state_->receiver = std::thread([settle, state = state_.get()] {
        const bool first = settle();
        state->reception.receive(state->stopping, !first);
    });
    state_->begin_admitting();
}

void Mesh::post(NodeId to, FrameKind kind, runtime::Bytes payload, runtime::SentBody body) {
    HEDDLE_ASSERT(to < state_->nodes && to != state_->rank);
    if (Link* const link = state_->any_link(to))
        state_->post(*link, kind, std::move(payload), std::move(body));
}

void Mesh::send(NodeId to, NetworkId network, runtime::Bytes&& message, runtime::SentBody&& body,
                Sender sender) {
    HEDDLE_ASSERT(to < state_->nodes && to != state_->rank);
    Flow& flow = state_->flow(to, network);
    flow.before(message.size() + body->size(), sender);
    state_->post(*state_->link(to, network), FrameKind::message, std::move(message), std::move(body));
    flow.after();
}

void Mesh::pad(NodeId to, NetworkId network, std::uint64_t bytes, Sender sender) {
    Flow& flow = state_->flow(to, network);
    flow.before(bytes, sender);
    state_->post(*state_->link(to, network), FrameKind::padding, runtime::Bytes(bytes, std::byte{0}), {});
    flow.after();
}

Deadline Mesh::rest(Parker& parker, Deadline from, Deadline until, std::chrono::nanoseconds spin) {
    return state_->reception.rest(parker, from, until, spin);
}

Deadline Mesh::receive_until(Parker& parker, Deadline from, Deadline until, std::chrono::nanoseconds spin,
                             const std::function<bool()>& done) {
    return state_->reception.receive_until(parker, from, until, spin, done);
}

bool Mesh::look_in_passing(Deadline now) {
    return state_->reception.look_in_passing(now);
}

void Mesh::rouse() {
    state_->reception.rouse();
}

bool Mesh::part() {
    if (state_->options.at_start) state_->end_admitting();
    state_->say_goodbye();
    {
        std::unique_lock lock(state_->mutex);
        state_->changed.wait(lock, [this] { return !state_->any_member() || state_->lost; });
        if (state_->lost) return false;
    }
    state_->settle_at_end();
    return true;
}

void Mesh::leave() {
    state_->leaving.store(true, std::memory_order_relaxed);
    state_->end_admitting();
    state_->say_goodbye();
    const Deadline deadline = Clock::now() + Peers::goodbye_max;
    state_->write_until = deadline;
    {
        std::unique_lock lock(state_->mutex);
        state_->changed.wait_until(lock, deadline, [this] { return !state_->any_member(); });
    }
    state_->settle(deadline);  // nodes that arrive say no goodbye
}

void Mesh::call(std::function<void()> code) {
    state_->call(std::move(code));
}

void Mesh::begin() {
    state_->take_part();
}

void Mesh::expect(NodeId node) {
    state_->expect(node);
}

void Mesh::has_joined(NodeId node) {
    state_->has_joined(node);
}

std::vector<NodeId> Mesh::connected() const {
    return state_->connected();
}

}  // namespace heddle::native
