// Serves connections without threads of their own: the worker that sends writes, and a worker that waits
// receives.
#include "runtime/native/polled_mesh.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <limits>
#include <thread>
#include <utility>

#include "base/assert.hpp"
#include "runtime/native/lookout.hpp"
#include "runtime/native/peers.hpp"

namespace heddle::native {

namespace {

/// What is waited for that no core's number means: frames that are no messages.
constexpr Lookout::Concern frames = std::numeric_limits<CoreId>::max();

/// How long a thread sleeps at most while a line waits for room that its descriptor does not report.
constexpr std::chrono::milliseconds room_look{5};

}  // namespace

struct PolledMesh::State final : Peers {
    explicit State(const MeshOptions& given);
    ~State() override { end_admitting(); }

    /// One connection in `set`. The thread that holds the mutex writes to it and says what to watch for. So
    /// if something is left to write, `set` watches for room.
    struct Line {
        std::atomic<Link*> link{nullptr};  ///< set before threads learn of it
        std::mutex mutex{};
        bool reads = true;
        bool writes = false;        ///< the socket had no room
        std::uint32_t watched = 0;  ///< what `set` has been told
        bool to_write = false;      ///< in `later`; the receiver's own
    };

    void post(Link& link, FrameKind kind, runtime::Bytes&& payload, runtime::SentBody&& body) override;
    void write_all_until(Deadline deadline) override;
    void news() override;
    void prepare(Link& link) override { lines[place_of(link)].link = &link; }
    void take_up(Link& link) override;
    void wake_receiver() override { host::signal_event(interrupted); }
    void close_ended();
    bool has_parted() const { return !any_member() && blocked.load(std::memory_order_relaxed) == 0; }

    void hold_back(Flow& flow, std::uint64_t bytes, Sender sender);
    void write(Line& line);
    void watch(Line& line);
    void write_later();
    bool look(Deadline until);
    int wait_for_events(Deadline until);
    bool has_come_in_memory() const;
    bool may_sleep();
    void write_where_room_came();
    void serve(Line& line, std::uint32_t what);
    void receive(Line& line);

    std::vector<Line> lines;                ///< by Peers::place
    std::atomic<std::uint32_t> blocked{0};  ///< lines whose socket had no room
    std::atomic<std::uint64_t> frames_seen{0};
    Descriptor set{epoll_create1(EPOLL_CLOEXEC)};
    Descriptor interrupted = host::make_event();

    // For the thread that receives.
    std::array<epoll_event, 64> events_seen{};
    std::vector<Line*> later;      ///< to be written when what has come is handled
    std::vector<Line*> in_memory;  ///< lines that can be looked at without a system call
    std::vector<Line*> ready;
    std::vector<Line*> ended;  ///< nothing more comes from there: to be closed when all has been written
    std::uint32_t looks = 0;
    std::uint64_t delivered = 0;
    Polling polling{options.receive, options.times.receiver, options.core_is_free};
    Deadline next_look = Clock::now() + look_period;

    Lookout lookout{[this](Deadline until) { return look(until); },
                    [this] { host::signal_event(interrupted); }};
};

PolledMesh::State::State(const MeshOptions& given) : Peers(given), lines(places()) {
    epoll_event event{};
    event.events = EPOLLIN;
    HEDDLE_ASSERT(epoll_ctl(set.get(), EPOLL_CTL_ADD, interrupted.get(), &event) == 0);
    for_each_link([this](Link& link) {
        prepare(link);
        take_up(link);
    });
}

void PolledMesh::State::take_up(Link& link) {
    Line& line = lines[place_of(link)];
    const std::lock_guard lock(line.mutex);
    watch(line);
    if (link.stream().in_memory()) in_memory.push_back(&line);
}

// --- sending

// If a thread's frame is the first that waits on a connection, the thread writes what waits there. The thread
// that receives does so after it has handled what came, so that answers travel together. Any other thread
// does so at once.
void PolledMesh::State::post(Link& link, FrameKind kind, runtime::Bytes&& payload, runtime::SentBody&& body) {
    if (!link.post(kind, std::move(payload), std::move(body))) return;
    Line& line = lines[place_of(link)];
    if (!lookout.is_receiver()) return write(line);
    if (!std::exchange(line.to_write, true)) later.push_back(&line);
}

void PolledMesh::State::write(Line& line) {
    const std::lock_guard lock(line.mutex);
    const bool left = line.link.load()->flush() == Link::Flushed::blocked;
    if (left == line.writes) return;
    line.writes = left;
    blocked.fetch_add(left ? 1 : ~std::uint32_t{0}, std::memory_order_relaxed);
    watch(line);
    // The thread that receives may have heard the peer's bell before this line was counted.
    if (left && line.link.load()->stream().room_has_come()) host::signal_event(interrupted);
}

/// Under the line's mutex.
void PolledMesh::State::watch(Line& line) {
    const bool polls_for_room = line.writes && line.link.load()->stream().tells_room();
    const std::uint32_t events_wanted =
        (line.reads ? std::uint32_t{EPOLLIN} : 0U) | (polls_for_room ? std::uint32_t{EPOLLOUT} : 0U);
    const std::uint32_t before = std::exchange(line.watched, events_wanted);
    if (before == events_wanted) return;
    const int operation = before == 0 ? EPOLL_CTL_ADD : events_wanted == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    epoll_event event{};
    event.events = events_wanted;
    event.data.ptr = &line;
    HEDDLE_ASSERT(epoll_ctl(set.get(), operation, line.link.load()->descriptor(), &event) == 0);
}

void PolledMesh::State::write_later() {
    for (Line* line : later) {
        line->to_write = false;
        write(*line);
    }
    later.clear();
}

void PolledMesh::State::write_all_until(Deadline deadline) {
    write_later();
    while (blocked.load(std::memory_order_relaxed) != 0 && Clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        for_each_link([this](Link& link) { write(lines[place_of(link)]); });
    }
}

// No cycle of waiting can arise. A worker that is held back goes on receiving, so the other side gets its
// answers, even if it is held back itself.
void PolledMesh::State::hold_back(Flow& flow, std::uint64_t bytes, Sender sender) {
    for (;;) {
        const std::uint64_t seen = frames_seen.load(std::memory_order_acquire);
        if (flow.try_before(bytes, sender)) return;
        lookout.wait(Deadline::max(), frames,
                     [&] { return frames_seen.load(std::memory_order_acquire) != seen; });
    }
}

void PolledMesh::State::news() {
    frames_seen.fetch_add(1, std::memory_order_release);
    lookout.wake(frames);
}

// --- receiving

bool PolledMesh::State::look(Deadline until) {
    const std::uint64_t before = delivered;
    run_calls();
    write_later();
    const int count = wait_for_events(until);
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events_seen[static_cast<std::size_t>(i)];
        if (event.data.ptr) {
            serve(*static_cast<Line*>(event.data.ptr), event.events);
        } else {
            host::clear_event(interrupted);
        }
    }
    ready.clear();
    for (Line* line : in_memory)
        if (line->link.load()->stream().has_come()) ready.push_back(line);
    for (Line* line : ready) receive(*line);
    if (blocked.load(std::memory_order_relaxed) != 0) write_where_room_came();
    if (!ended.empty()) close_ended();
    if (const Deadline now = Clock::now(); now >= next_look) {
        look_for_dead_hosts();
        next_look = now + look_period;
    }
    return delivered != before;
}

/// Looks again and again for a while, where `polling` says so, and then sleeps in the system. Returns how
/// many events there are; none, if a line in memory has something.
int PolledMesh::State::wait_for_events(Deadline until) {
    const std::uint32_t looks_between_calls = in_memory.empty() ? 1 : 16;
    for (;;) {
        if (++looks % looks_between_calls == 0) {
            const int count =
                epoll_wait(set.get(), events_seen.data(), static_cast<int>(events_seen.size()), 0);
            if (count > 0) return count;
        }
        if (until == Deadline::min() || has_come_in_memory()) return 0;
        const Deadline now = Clock::now();
        if (now >= std::min(until, next_look)) return 0;
        if (polling.again(16 * looks_between_calls)) continue;
        if (!may_sleep()) return 0;
        // An epoll set waits in milliseconds, poll in nanoseconds.
        auto left = std::chrono::nanoseconds(std::min(until, next_look) - now);
        if (blocked.load(std::memory_order_relaxed) != 0)
            left = std::min<std::chrono::nanoseconds>(left, room_look);
        const timespec most{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
        pollfd entry{set.get(), POLLIN, 0};
        if (ppoll(&entry, 1, &most, nullptr) <= 0) return 0;
        looks = looks_between_calls - 1;  // the next look asks the system
    }
}

bool PolledMesh::State::has_come_in_memory() const {
    return std::ranges::any_of(in_memory,
                               [](const Line* line) { return line->link.load()->stream().has_come(); });
}

/// From now on the system tells of all that comes. False: something has come already.
bool PolledMesh::State::may_sleep() {
    return std::ranges::all_of(in_memory,
                               [](Line* line) { return line->link.load()->stream().ask_for_bytes(); });
}

void PolledMesh::State::write_where_room_came() {
    for_each_link([this](Link& link) {
        if (link.is_blocked() && link.stream().room_has_come()) write(lines[place_of(link)]);
    });
}

void PolledMesh::State::serve(Line& line, std::uint32_t what) {
    // A connection that has ended is ready for both, and says so by other names.
    if ((what & ~std::uint32_t{EPOLLIN}) != 0) write(line);
    if (line.reads && (what & ~std::uint32_t{EPOLLOUT}) != 0) receive(line);
}

void PolledMesh::State::receive(Line& line) {
    polling.look();
    polling.found();
    const bool more = attend_to(*line.link.load());
    write_later();
    if (more) return;
    std::erase(in_memory, &line);
    if (options.at_start && presence(*line.link.load()) == Presence::gone) ended.push_back(&line);
    const std::lock_guard lock(line.mutex);
    line.reads = false;
    watch(line);
}

/// This thread, the one that receives, has looked at them for the last time. Others use their streams under
/// the line's mutex only.
void PolledMesh::State::close_ended() {
    std::erase_if(ended, [this](Line* line) {
        write(*line);
        const std::lock_guard lock(line->mutex);
        if (line->writes) return false;
        line->link.load()->close();
        return true;
    });
}

// --- the whole

PolledMesh::PolledMesh(const MeshOptions& options) : state_(std::make_unique<State>(options)) {}

PolledMesh::~PolledMesh() = default;

void PolledMesh::start(Events events) {
    state_->events = std::move(events);
    state_->events.deliver = [state = state_.get(), deliver = std::move(state_->events.deliver)](
                                 NodeId from, std::span<const std::byte> message, runtime::Body body,
                                 std::uint64_t in_room) {
        ++state->delivered;
        deliver(from, message, std::move(body), in_room);
    };
    state_->begin_admitting();
}

void PolledMesh::post(NodeId to, FrameKind kind, runtime::Bytes payload, runtime::SentBody body) {
    HEDDLE_ASSERT(to < state_->nodes && to != state_->rank);
    if (Link* const link = state_->any_link(to))
        state_->post(*link, kind, std::move(payload), std::move(body));
}

void PolledMesh::send(NodeId to, NetworkId network, runtime::Bytes&& message, runtime::SentBody&& body,
                      Sender sender) {
    HEDDLE_ASSERT(to < state_->nodes && to != state_->rank);
    Flow& flow = state_->flow(to, network);
    state_->hold_back(flow, message.size() + body->size(), sender);
    state_->post(*state_->link(to, network), FrameKind::message, std::move(message), std::move(body));
    flow.after();
}

void PolledMesh::pad(NodeId to, NetworkId network, std::uint64_t bytes, Sender sender) {
    Flow& flow = state_->flow(to, network);
    state_->hold_back(flow, bytes, sender);
    state_->post(*state_->link(to, network), FrameKind::padding, runtime::Bytes(bytes, std::byte{0}), {});
    flow.after();
}

bool PolledMesh::poll() {
    return state_->lookout.poll();
}

void PolledMesh::wait(CoreId core, Deadline deadline, const std::function<bool()>& done) {
    state_->lookout.wait(deadline, core, done);
}

void PolledMesh::wake(CoreId core) {
    state_->lookout.wake(core);
}

void PolledMesh::wait_for_frames(const std::function<bool()>& done) {
    state_->lookout.wait(Deadline::max(), frames, done);
}

bool PolledMesh::part() {
    if (state_->options.at_start) state_->end_admitting();
    state_->say_goodbye();
    wait_for_frames([this] { return state_->is_lost() || state_->has_parted(); });
    if (state_->is_lost()) return false;
    state_->settle_at_end();
    return true;
}

void PolledMesh::leave() {
    state_->leaving.store(true, std::memory_order_relaxed);
    state_->end_admitting();
    state_->say_goodbye();
    const Deadline deadline = Clock::now() + Peers::goodbye_max;
    state_->lookout.wait(deadline, frames, [this] { return state_->has_parted(); });
    state_->settle(deadline);  // nodes that arrive say no goodbye
}

void PolledMesh::call(std::function<void()> code) {
    state_->call(std::move(code));
}

void PolledMesh::begin() {
    state_->take_part();
}

void PolledMesh::expect(NodeId node) {
    state_->expect(node);
}

void PolledMesh::has_joined(NodeId node) {
    state_->has_joined(node);
}

std::vector<NodeId> PolledMesh::connected() const {
    return state_->connected();
}

}  // namespace heddle::native
