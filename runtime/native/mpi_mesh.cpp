// The thread that carries all frames of a node by MPI: it sends queued messages in batches, and receives.
#include "runtime/native/mpi_mesh.hpp"

#include "base/error.hpp"

#ifdef HEDDLE_HAVE_MPI

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "host/machine.hpp"
#include "runtime/native/flow.hpp"
#include "runtime/native/mpi_world.hpp"

namespace heddle::native {

using runtime::Bytes;

namespace {

// Small messages to one node that wait together travel together, each after its length.
using Length = std::uint32_t;
constexpr std::size_t small_bytes = 4 << 10;
constexpr std::size_t batch_bytes = 32 << 10;

/// Sends under way at a time; what is more waits in the queue, and is put into batches there.
constexpr std::size_t sending_max = 1024;

/// Receives begun before the first is looked at.
constexpr int receiving_max = 64;

// MPI cannot be waited for together with a queue, so the thread looks again and again. It looks without pause
// for a short while after something has moved, then with pauses that grow with the time of idleness. While
// pieces are under way the pauses are short, because pieces move only while a thread looks.
constexpr std::chrono::microseconds look_time{20};
constexpr std::chrono::microseconds pause_min{1};
constexpr std::chrono::microseconds pause_under_way_max{20};
constexpr std::chrono::microseconds pause_max{1000};
constexpr std::chrono::microseconds pause_max_beside{200};  ///< if a core is left for it

// A tag says what kind of frame, whether more pieces of it follow, and, if all nodes are one rank, which node
// sends. The standard promises tags up to 32767.
constexpr int tags_of_a_node = 2 * (static_cast<int>(FrameKind::last) + 1);

}  // namespace

struct MpiMesh::State {
    struct Outgoing {
        NodeId to;
        FrameKind kind;
        Bytes payload;
        runtime::SentBody body;

        bool small() const { return kind == FrameKind::message && payload.size() < small_bytes && !body; }
    };

    /// A piece that MPI sends, and the bytes that it reads.
    struct Sending {
        runtime::SentBody bytes;
        MPI_Request request;
    };

    /// A piece that MPI writes to.
    struct Incoming {
        FrameKind kind;
        bool more;  ///< pieces of the same frame follow
        Bytes bytes;
        MPI_Request request;
    };

    struct Frame {
        NodeId from;
        FrameKind kind;
        Bytes bytes;
    };

    /// What comes from one node, in order.
    struct Source {
        std::deque<Incoming> pieces;
        Bytes begun;         ///< the frame's pieces so far
        runtime::Body body;  ///< goes with the next message
    };

    MpiMeshOptions options;
    NodeId rank = 0;
    NodeId nodes = 1;
    Events events;
    std::vector<MPI_Comm> to;  ///< where each node receives
    std::thread carrier;
    std::atomic<bool> stopping{false};

    // Posting.
    std::mutex mutex;
    std::condition_variable posted;
    std::vector<Outgoing> queue;
    bool sleeps = false;

    std::vector<std::unique_ptr<Flow>> flows;  ///< of messages to each other node, by rank

    // Parting.
    std::condition_variable changed;
    NodeId parted = 0;

    // The carrier's own.
    std::vector<Outgoing> taken;
    std::vector<Bytes> batches;      ///< for each node
    std::vector<NodeId> with_batch;  ///< whose batch is not empty
    std::vector<Sending> sending;
    std::vector<Source> sources;      ///< for each node
    std::vector<NodeId> with_pieces;  ///< whose pieces are under way
    std::vector<Frame> arrived;

    void meet();
    void post(NodeId node, FrameKind kind, Bytes payload, runtime::SentBody body);
    [[noreturn]] void refuse(NodeId other);
    void carry();
    bool send_posted();
    void send_batch(NodeId node);
    void send(NodeId node, FrameKind kind, const runtime::SentBody& bytes);
    bool finish_sends();
    bool begin_receives();
    bool finish_receives();
    void hand_over();
    void take(NodeId from, FrameKind kind, Bytes bytes);
    void pause(Clock::duration idle);
};

// --- meeting

void MpiMesh::State::meet() {
    MpiWorld& the = mpi_world();
    if (options.mpi.together) {
        const std::lock_guard lock(the.mutex);
        for (MPI_Comm comm = MPI_COMM_NULL; the.together.size() < nodes; the.together.push_back(comm))
            MPI_Comm_dup(MPI_COMM_SELF, &comm);
        to.assign(the.together.begin(), the.together.begin() + nodes);
        return;
    }
    HEDDLE_ASSERT(rank == the.self.rank && nodes == the.self.nodes);
    to.assign(nodes, the.all);
    // All come here before one goes on: so what is left of an earlier run never meets this one.
    const std::uint64_t own = options.agreement.fingerprint();
    std::vector<std::uint64_t> fingerprints(nodes);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto in_turn = [&the](const auto& call) {
        const std::lock_guard lock(the.mutex);
        call();
    };
    in_turn([&] {
        MPI_Iallgather(&own, 1, MPI_UINT64_T, fingerprints.data(), 1, MPI_UINT64_T, the.all, &request);
    });
    // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): this waits for the request
    for (int done = 0; !done;) {
        in_turn([&] { MPI_Test(&request, &done, MPI_STATUS_IGNORE); });
        if (!done) std::this_thread::sleep_for(pause_max_beside);
    }
    for (NodeId node = 1; node < nodes; ++node)
        if (fingerprints[node] != fingerprints[0]) in_turn([&] { refuse(node); });
    // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)
}

/// Node `other` differs from node 0, which every node knows. Both describe themselves to all. Throws Error.
void MpiMesh::State::refuse(NodeId other) {
    std::array<Agreement, 2> agreements;
    for (const NodeId root : {NodeId{0}, other}) {
        Bytes bytes = pack(options.agreement);
        std::uint64_t count = bytes.size();
        MPI_Bcast(&count, 1, MPI_UINT64_T, static_cast<int>(root), mpi_world().all);
        bytes.resize(count);
        MPI_Bcast(bytes.data(), static_cast<int>(count), MPI_BYTE, static_cast<int>(root), mpi_world().all);
        agreements[root == 0 ? 0 : 1] = unpack_agreement(bytes).value_or(Agreement{});
    }
    throw disagreement(0, agreements[0], other, agreements[1]);
}

/// Queues a frame. Any thread.
void MpiMesh::State::post(NodeId node, FrameKind kind, Bytes payload, runtime::SentBody body) {
    bool wake = false;
    {
        const std::lock_guard lock(mutex);
        queue.push_back({node, kind, std::move(payload), std::move(body)});
        wake = std::exchange(sleeps, false);
    }
    if (wake) posted.notify_one();
}

// --- the carrier: sender module and receiver module

void MpiMesh::State::carry() {
    (void)host::bind_to_cores(options.cores);  // cores that refuse cost speed only
    prctl(PR_SET_TIMERSLACK, 1000UL);          // nanoseconds: its pauses are short
    for (auto last_move = Clock::now();;) {
        // Read first: what was posted before the stop is still sent.
        const bool last = stopping.load(std::memory_order_acquire);
        bool moved = false;
        {
            const std::lock_guard lock(mpi_world().mutex);
            moved = send_posted();
            moved = finish_sends() || moved;
            moved = begin_receives() || moved;
            moved = finish_receives() || moved;
        }
        hand_over();
        if (moved) {
            last_move = Clock::now();
        } else if (last && sending.empty()) {
            return;
        } else {
            pause(Clock::now() - last_move);
        }
    }
}

bool MpiMesh::State::send_posted() {
    if (sending.size() >= sending_max) return false;
    {
        const std::lock_guard lock(mutex);
        std::swap(queue, taken);
    }
    if (taken.empty()) return false;
    for (Outgoing& frame : taken) {
        Bytes& batch = batches[frame.to];
        if (frame.small()) {
            const auto length = static_cast<Length>(frame.payload.size());
            if (batch.empty()) with_batch.push_back(frame.to);
            const std::size_t end = batch.size();
            batch.resize(end + sizeof length + frame.payload.size());
            std::memcpy(batch.data() + end, &length, sizeof length);
            if (length > 0) std::memcpy(batch.data() + end + sizeof length, frame.payload.data(), length);
            if (batch.size() >= batch_bytes) send_batch(frame.to);
            continue;
        }
        send_batch(frame.to);
        if (frame.body) send(frame.to, FrameKind::body, frame.body);
        send(frame.to, frame.kind, std::make_shared<Bytes>(std::move(frame.payload)));
    }
    taken.clear();
    for (const NodeId node : with_batch) send_batch(node);
    with_batch.clear();
    return true;
}

void MpiMesh::State::send_batch(NodeId node) {
    if (batches[node].empty()) return;
    send(node, FrameKind::batch, std::make_shared<Bytes>(std::exchange(batches[node], {})));
}

void MpiMesh::State::send(NodeId node, FrameKind kind, const runtime::SentBody& bytes) {
    const bool together = options.mpi.together;
    const int tag = (together ? static_cast<int>(rank) * tags_of_a_node : 0) + 2 * static_cast<int>(kind);
    // Others wait for the requests: `finish_sends`.
    // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker)
    for (std::size_t begin = 0;;) {
        const std::size_t count = std::min(options.mpi.part_bytes, bytes->size() - begin);
        const bool more = begin + count < bytes->size();
        Sending& piece = sending.emplace_back(Sending{bytes, MPI_REQUEST_NULL});
        MPI_Isend(bytes->data() + begin, static_cast<int>(count), MPI_BYTE,
                  together ? 0 : static_cast<int>(node), tag + (more ? 1 : 0), to[node], &piece.request);
        if (!more) return;
        begin += count;
    }
    // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)
}

bool MpiMesh::State::finish_sends() {
    return std::erase_if(sending, [](Sending& piece) {
               int done = 0;
               MPI_Test(&piece.request, &done, MPI_STATUS_IGNORE);
               return done != 0;
           }) > 0;
}

bool MpiMesh::State::begin_receives() {
    for (int begun = 0; begun < receiving_max; ++begun) {
        int found = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, to[rank], &found, &message, &status);
        if (!found) return begun > 0;
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        const int tag = status.MPI_TAG % tags_of_a_node;
        const auto from =
            static_cast<NodeId>(options.mpi.together ? status.MPI_TAG / tags_of_a_node : status.MPI_SOURCE);
        Source& source = sources[from];
        if (source.pieces.empty()) with_pieces.push_back(from);
        Incoming& piece =
            source.pieces.emplace_back(Incoming{static_cast<FrameKind>(tag / 2), tag % 2 == 1,
                                                Bytes(static_cast<std::size_t>(count)), MPI_REQUEST_NULL});
        MPI_Imrecv(piece.bytes.data(), count, MPI_BYTE, &message, &piece.request);
    }
    return true;
}

/// Of each node in order: a later piece waits for an earlier one.
bool MpiMesh::State::finish_receives() {
    bool moved = false;
    std::erase_if(with_pieces, [&](NodeId from) {
        Source& source = sources[from];
        while (!source.pieces.empty()) {
            Incoming& piece = source.pieces.front();
            int done = 0;
            MPI_Test(&piece.request, &done, MPI_STATUS_IGNORE);
            if (!done) return false;
            moved = true;
            if (source.begun.empty()) {
                source.begun = std::move(piece.bytes);
            } else {
                source.begun.insert(source.begun.end(), piece.bytes.begin(), piece.bytes.end());
            }
            if (!piece.more) arrived.push_back({from, piece.kind, std::exchange(source.begun, {})});
            source.pieces.pop_front();
        }
        return true;
    });
    return moved;
}

void MpiMesh::State::hand_over() {
    for (Frame& frame : arrived) take(frame.from, frame.kind, std::move(frame.bytes));
    arrived.clear();
}

void MpiMesh::State::take(NodeId from, FrameKind kind, Bytes bytes) {
    switch (kind) {
        case FrameKind::batch:
            for (std::span<const std::byte> rest = bytes; !rest.empty();) {
                Length length = 0;
                HEDDLE_ASSERT(rest.size() >= sizeof length);
                std::memcpy(&length, rest.data(), sizeof length);
                rest = rest.subspan(sizeof length);
                HEDDLE_ASSERT(rest.size() >= length);
                events.deliver(from, rest.first(length), {}, 0);
                rest = rest.subspan(length);
            }
            break;
        case FrameKind::message:
            events.deliver(from, bytes, std::exchange(sources[from].body, nullptr), 0);
            break;
        case FrameKind::body:
            sources[from].body = std::make_shared<Bytes>(std::move(bytes));
            break;
        case FrameKind::padding:
            break;
        case FrameKind::mark:
            post(from, FrameKind::handled, std::move(bytes), {});
            break;
        case FrameKind::handled: {
            std::uint64_t number = 0;
            std::memcpy(&number, bytes.data(), std::min(sizeof number, bytes.size()));
            flows[from]->handled(number);
            break;
        }
        case FrameKind::goodbye: {
            const std::lock_guard lock(mutex);
            ++parted;
            changed.notify_all();
            break;
        }
        default:
            events.control(from, kind, bytes);
    }
}

void MpiMesh::State::pause(Clock::duration idle) {
    if (idle < look_time) return;
    const bool under_way = !sending.empty() || !with_pieces.empty();
    const Clock::duration longest = under_way           ? pause_under_way_max
                                    : options.core_left ? pause_max_beside
                                                        : pause_max;
    // It sleeps rather than yields: a yield lets others have a whole slice of time, a sleep ends when it
    // should.
    const Clock::duration wait = std::clamp<Clock::duration>(idle / 8, pause_min, longest);
    std::unique_lock lock(mutex);
    sleeps = true;
    posted.wait_for(lock, wait,
                    [this] { return !queue.empty() || stopping.load(std::memory_order_relaxed); });
    sleeps = false;
}

// --- the whole

MpiMesh::MpiMesh(const MpiMeshOptions& options) : state_(std::make_unique<State>()) {
    HEDDLE_ASSERT(options.mpi.part_bytes > 0 && options.mpi.part_bytes <= std::numeric_limits<int>::max());
    state_->options = options;
    state_->rank = options.membership.rank;
    state_->nodes = options.membership.nodes;
    state_->batches.resize(state_->nodes);
    state_->sources.resize(state_->nodes);
    for (NodeId node = 0; node < state_->nodes; ++node) {
        const auto post_mark = [state = state_.get(), node](std::uint64_t number) {
            const auto bytes = std::as_bytes(std::span(&number, 1));
            state->post(node, FrameKind::mark, Bytes(bytes.begin(), bytes.end()), {});
        };
        state_->flows.push_back(std::make_unique<Flow>(options.window, post_mark));
    }
    state_->meet();
}

MpiMesh::~MpiMesh() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping.store(true, std::memory_order_release);
        state_->posted.notify_one();
    }
    if (state_->carrier.joinable()) state_->carrier.join();
}

void MpiMesh::start(Events events) {
    state_->events = std::move(events);
    state_->carrier = std::thread([state = state_.get()] { state->carry(); });
}

void MpiMesh::post(NodeId to, FrameKind kind, Bytes payload, runtime::SentBody body) {
    HEDDLE_ASSERT(to < state_->nodes && to != state_->rank);
    state_->post(to, kind, std::move(payload), std::move(body));
}

void MpiMesh::send(NodeId to, NetworkId /*network*/, Bytes&& message, runtime::SentBody&& body,
                   Sender sender) {
    HEDDLE_ASSERT(to < state_->nodes && to != state_->rank);
    Flow& flow = *state_->flows[to];
    flow.before(message.size() + body->size(), sender);
    state_->post(to, FrameKind::message, std::move(message), std::move(body));
    flow.after();
}

void MpiMesh::pad(NodeId to, NetworkId /*network*/, std::uint64_t bytes, Sender sender) {
    Flow& flow = *state_->flows[to];
    flow.before(bytes, sender);
    state_->post(to, FrameKind::padding, Bytes(bytes, std::byte{0}), {});
    flow.after();
}

bool MpiMesh::part() {
    for (NodeId node = 0; node < state_->nodes; ++node)
        if (node != state_->rank) post(node, FrameKind::goodbye, {}, {});
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->parted == state_->nodes - 1; });
    return true;
}

void MpiMesh::end_all(int exit_code) {
    // Threads take turns at MPI, and each call is short. If a call takes longer than this wait, break the
    // rule of turns: the processes must end.
    std::unique_lock lock(mpi_world().mutex, std::defer_lock);
    (void)lock.try_lock_for(std::chrono::seconds(1));
    MPI_Abort(MPI_COMM_WORLD, exit_code);
}

}  // namespace heddle::native

#endif
