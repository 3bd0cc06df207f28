// Starts and ends a native run on all nodes: node 0's part, and the part of the other nodes.
#include "runtime/native/coordination.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::native {

namespace {

constexpr int pings = 8;  ///< to each node; the quickest answer counts

template <class T>
runtime::Bytes pack(const T& value) {
    runtime::Bytes bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

/// Zeros where the payload is too short: only a node of our own binary can have sent it.
template <class T>
T unpack(std::span<const std::byte> payload) {
    T value{};
    std::memcpy(&value, payload.data(), std::min(sizeof value, payload.size()));
    return value;
}

std::string text_of(std::span<const std::byte> payload) {
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
}

/// A node's clock. What no machine's clock shows, 73 years from its start, would overflow what is computed
/// of it.
Clock::duration clock_in(std::span<const std::byte> payload) {
    constexpr Clock::rep most = Clock::rep{1} << 61U;
    return Clock::duration(std::clamp(unpack<Clock::rep>(payload), -most, most));
}

Clock::rep clock_now() {
    return Clock::now().time_since_epoch().count();
}

}  // namespace

Coordination::Coordination(NodeId rank, NodeId nodes, NodeId at_start, std::string host, Post post,
                           std::function<Counts()> counts, Begin begin, Attend attend)
    : rank_(rank),
      nodes_(nodes),
      at_start_(at_start),
      post_(std::move(post)),
      counts_(std::move(counts)),
      begin_(std::move(begin)),
      attend_(std::move(attend)),
      member_(nodes),
      members_(at_start),
      settled_(nodes),
      hosts_(nodes) {
    hosts_[rank] = std::move(host);
    for (NodeId node = 1; node < nodes; ++node) order_.push_back(node);
    std::fill_n(member_.begin(), at_start, true);
}

/// Node 0's. No node joins or leaves meanwhile.
void Coordination::post_to_all(FrameKind kind, const runtime::Bytes& payload) {
    for (const NodeId node : order_)
        if (member_[node]) post_(node, kind, payload);
}

/// Node 0's, for `finish`. Another node may not have heard from one that has joined. It cannot tell it from
/// one that stalls before it has joined, for which no node waits.
runtime::Bytes Coordination::pack_joined() const {
    runtime::Bytes list;
    for (NodeId node = at_start_; node < nodes_; ++node) {
        const auto number = pack(node);
        if (member_[node]) list.insert(list.end(), number.begin(), number.end());
    }
    return list;
}

void Coordination::take_joined(std::span<const std::byte> list) const {
    for (; joined_ && list.size() >= sizeof(NodeId); list = list.subspan(sizeof(NodeId)))
        if (const auto node = unpack<NodeId>(list); node < nodes_ && node != rank_) joined_(node);
}

Clock::duration Coordination::clock_error() const {
    const std::lock_guard lock(mutex_);
    return clock_error_;
}

std::vector<std::string> Coordination::hosts() const {
    const std::lock_guard lock(mutex_);
    return hosts_;
}

bool Coordination::wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready) {
    const auto over = [&] { return ready() || lost_; };
    if (!attend_) {
        changed_.wait(lock, over);
        return !lost_;
    }
    lock.unlock();
    attend_([&] {
        const std::lock_guard guard(mutex_);
        return over();
    });
    lock.lock();
    return !lost_;
}

void Coordination::give_up() {
    const std::lock_guard lock(mutex_);
    lost_ = true;
    changed_.notify_all();
}

void Coordination::gone(NodeId node) {
    const std::lock_guard lock(mutex_);
    ++settled_[node];
    comparing_.erase(node);
    std::erase(early_, node);
    if (node == towards_lead_ && joins() && !begun_) over_ = true;
    changed_.notify_all();
}

void Coordination::handle(NodeId from, FrameKind kind, std::span<const std::byte> payload) {
    if (kind == FrameKind::ping) return post_(from, FrameKind::pong, pack(clock_now()));
    if (kind == FrameKind::count) return answer_count();
    if (kind == FrameKind::leaving) return post_(from, FrameKind::count, {});
    if (kind == FrameKind::start) begin_(Clock::time_point(clock_in(payload)));
    if (kind == FrameKind::finish) take_joined(payload);
    const auto arrival = Clock::now();
    const std::lock_guard lock(mutex_);
    switch (kind) {
        case FrameKind::ready:
            take_ready(from, payload);
            break;
        case FrameKind::pong:
            if (const auto late = comparing_.find(from); late != comparing_.end()) {
                take_pong(late->second, arrival, clock_in(payload));
                compare_late(from);
            } else {
                take_pong(comparison_, arrival, clock_in(payload));
                ponged_ = true;
            }
            break;
        case FrameKind::start:
            begun_ = true;
            break;
        case FrameKind::done:
            ++done_;
            break;
        case FrameKind::counted: {
            const auto counts = unpack<Counts>(payload);
            total_.sent += counts.sent;
            total_.delivered += counts.delivered;
            ++counted_;
            break;
        }
        case FrameKind::finish:
            finished_ = true;
            break;
        case FrameKind::linked:
            ++settled_[from];
            break;
        case FrameKind::left: {
            const auto counts = unpack<Counts>(payload);
            left_total_.sent += counts.sent;
            left_total_.delivered += counts.delivered;
            if (member_[from]) --members_;
            member_[from] = false;
            break;
        }
        case FrameKind::over:
            over_ = true;
            break;
        default:
            return;
    }
    changed_.notify_all();
}

/// The thread that receives, so no handler is at work. If this node leaves, the counts are its last: its
/// workers have returned, and no message is under way to it.
void Coordination::answer_count() {
    std::unique_lock lock(mutex_);
    const bool last = leaving_;
    lock.unlock();
    post_(0, last ? FrameKind::left : FrameKind::counted, pack(counts_()));
    if (!last) return;
    lock.lock();
    left_ = true;
    changed_.notify_all();
}

bool Coordination::leave() {
    std::unique_lock lock(mutex_);
    leaving_ = true;
    lock.unlock();
    post_(0, FrameKind::leaving, {});
    lock.lock();
    return wait(lock, [this] { return left_; });
}

// --- the start

void Coordination::take_pong(Comparison& comparison, Clock::time_point arrival, Clock::duration clock) {
    ++comparison.pings;
    const auto there_and_back = arrival - comparison.departure;
    comparison.longest = std::max(comparison.longest, there_and_back);
    if (there_and_back >= comparison.best) return;
    comparison.best = there_and_back;
    const auto middle = comparison.departure + there_and_back / 2;
    comparison.offset = clock - middle.time_since_epoch();
}

/// The comparison's result. The answer lies between departure and arrival. So if the clocks are one, the
/// estimate is within half the way there and back, and it is taken as zero: processes of one machine read the
/// same clock.
Clock::duration Coordination::offset_of(const Comparison& comparison) {
    if (2 * std::chrono::abs(comparison.offset) <= comparison.best + Clock::duration(1))
        return Clock::duration::zero();
    clock_error_ = std::max(clock_error_, comparison.best / 2);
    return comparison.offset;
}

/// Under the lock.
void Coordination::take_ready(NodeId from, std::span<const std::byte> payload) {
    if (from >= nodes_) return;
    if (from < at_start_) {
        hosts_[from] = text_of(payload);
        ++ready_;
    } else if (ending_) {
        post_(from, FrameKind::over, {});
    } else {
        hosts_[from] = text_of(payload);
        if (zero_) {
            compare_late(from);
        } else {
            early_.push_back(from);
        }
    }
}

/// Asks the clock of a node that joins once more, or lets the node begin. Under the lock.
void Coordination::compare_late(NodeId node) {
    Comparison& comparison = comparing_[node];
    if (comparison.pings < pings) {
        comparison.departure = Clock::now();
        return post_(node, FrameKind::ping, {});
    }
    member_[node] = true;
    ++members_;
    post_(node, FrameKind::start, pack((*zero_ + offset_of(comparison)).time_since_epoch().count()));
    comparing_.erase(node);
}

Coordination::Started Coordination::join(const std::vector<NodeId>& connected) {
    std::unique_lock lock(mutex_);
    const auto all_settled = [&] {
        return std::ranges::all_of(connected, [&](NodeId node) {
            return settled_[node] >= static_cast<std::size_t>(std::ranges::count(connected, node));
        });
    };
    if (!wait(lock, [&] { return over_ || all_settled(); })) return Started::lost;
    if (over_) return Started::over;
    lock.unlock();
    say_ready();
    lock.lock();
    if (!wait(lock, [this] { return over_ || begun_; })) return Started::lost;
    return begun_ ? Started::begun : Started::over;
}

void Coordination::say_ready() {
    const std::string& host = hosts_[rank_];
    const auto name = std::as_bytes(std::span(host.data(), host.size()));
    post_(0, FrameKind::ready, {name.begin(), name.end()});
}

Coordination::Started Coordination::start(const std::vector<NodeId>& connected) {
    if (joins()) return join(connected);
    if (rank_ == 0) return lead_start() ? Started::begun : Started::lost;
    say_ready();
    std::unique_lock lock(mutex_);
    return wait(lock, [this] { return begun_; }) ? Started::begun : Started::lost;
}

bool Coordination::lead_start() {
    std::unique_lock lock(mutex_);
    if (!wait(lock, [this] { return ready_ == at_start_ - 1; })) return false;
    std::vector<Clock::duration> offsets(at_start_, Clock::duration::zero());
    Clock::duration longest{};
    for (NodeId node = 1; node < at_start_; ++node) {
        comparison_ = {};
        for (int i = 0; i < pings; ++i) {
            ponged_ = false;
            comparison_.departure = Clock::now();
            lock.unlock();
            post_(node, FrameKind::ping, {});
            lock.lock();
            if (!wait(lock, [this] { return ponged_; })) return false;
        }
        longest = std::max(longest, comparison_.longest);
        offsets[node] = offset_of(comparison_);
    }
    lock.unlock();
    // The news reaches each node by then.
    const auto zero = Clock::now() + 2 * longest + std::chrono::microseconds(20) * at_start_;
    begin_(zero);
    for (NodeId node = 1; node < at_start_; ++node)
        post_(node, FrameKind::start, pack((zero + offsets[node]).time_since_epoch().count()));
    lock.lock();
    zero_ = zero;
    for (const NodeId node : std::exchange(early_, {})) compare_late(node);
    return true;
}

bool Coordination::finish() {
    if (rank_ == 0) return lead_finish();
    post_(0, FrameKind::done, {});
    std::unique_lock lock(mutex_);
    return wait(lock, [this] { return finished_; });
}

// Invariant: counts only grow, and a node counts a message as sent before it leaves, as delivered after its
// handler has returned. So when what one wave found delivered equals what the next finds sent, nothing was
// under way between them.
bool Coordination::lead_finish() {
    std::unique_lock lock(mutex_);
    ending_ = true;
    for (const auto& [node, comparison] : std::exchange(comparing_, {})) post_(node, FrameKind::over, {});
    if (!wait(lock, [this] { return done_ == members_ - 1; })) return false;
    std::uint64_t delivered_before = ~std::uint64_t{0};
    for (auto pause = std::chrono::microseconds(50);;
         pause = std::min(2 * pause, std::chrono::microseconds(2000))) {
        counted_ = 0;
        total_ = counts_();
        total_.sent += left_total_.sent;
        total_.delivered += left_total_.delivered;
        lock.unlock();
        post_to_all(FrameKind::count);
        lock.lock();
        if (!wait(lock, [this] { return counted_ == members_ - 1; })) return false;
        if (total_.sent == delivered_before) break;
        const bool balanced = total_.sent == total_.delivered;
        delivered_before = total_.delivered;
        if (balanced) continue;  // most likely over: look again at once
        lock.unlock();
        std::this_thread::sleep_for(pause);
        lock.lock();
    }
    lock.unlock();
    post_to_all(FrameKind::finish, pack_joined());
    return true;
}

}  // namespace heddle::native
