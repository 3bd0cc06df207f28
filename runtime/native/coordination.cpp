// Node 0's part and the other nodes' part in the start and the end of a native run.
#include "runtime/native/coordination.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
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

Clock::rep clock_now() {
    return Clock::now().time_since_epoch().count();
}

}  // namespace

Coordination::Coordination(NodeId rank, NodeId nodes, std::string host, Post post,
                           std::function<Counts()> counts, Begin begin, Attend attend)
    : rank_(rank),
      nodes_(nodes),
      post_(std::move(post)),
      counts_(std::move(counts)),
      begin_(std::move(begin)),
      attend_(std::move(attend)),
      hosts_(nodes) {
    hosts_[rank] = std::move(host);
}

void Coordination::post_to_all(FrameKind kind) {
    for (NodeId node = 0; node < nodes_; ++node)
        if (node != rank_) post_(node, kind, {});
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

void Coordination::handle(NodeId from, FrameKind kind, std::span<const std::byte> payload) {
    if (kind == FrameKind::ping) return post_(from, FrameKind::pong, pack(clock_now()));
    if (kind == FrameKind::count) return post_(from, FrameKind::counted, pack(counts_()));
    if (kind == FrameKind::start) begin_(Clock::time_point(Clock::duration(unpack<Clock::rep>(payload))));
    const auto arrival = Clock::now();
    const std::lock_guard lock(mutex_);
    switch (kind) {
        case FrameKind::ready:
            if (from < nodes_) hosts_[from] = text_of(payload);
            ++ready_;
            break;
        case FrameKind::pong:
            ponged_ = true;
            pong_arrival_ = arrival;
            pong_clock_ = unpack<Clock::rep>(payload);
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
        default:
            return;
    }
    changed_.notify_all();
}

bool Coordination::start() {
    if (rank_ == 0) return lead_start();
    const std::string& host = hosts_[rank_];
    const auto name = std::as_bytes(std::span(host.data(), host.size()));
    post_(0, FrameKind::ready, {name.begin(), name.end()});
    std::unique_lock lock(mutex_);
    return wait(lock, [this] { return begun_; });
}

bool Coordination::lead_start() {
    std::unique_lock lock(mutex_);
    if (!wait(lock, [this] { return ready_ == nodes_ - 1; })) return false;
    std::vector<Clock::duration> offsets(nodes_, Clock::duration::zero());
    Clock::duration longest{};
    for (NodeId node = 1; node < nodes_; ++node) {
        Clock::duration best = Clock::duration::max();
        for (int i = 0; i < pings; ++i) {
            ponged_ = false;
            const auto departure = Clock::now();
            lock.unlock();
            post_(node, FrameKind::ping, {});
            lock.lock();
            if (!wait(lock, [this] { return ponged_; })) return false;
            const auto there_and_back = pong_arrival_ - departure;
            longest = std::max(longest, there_and_back);
            if (there_and_back >= best) continue;
            best = there_and_back;
            const auto middle = departure + there_and_back / 2;
            offsets[node] = Clock::duration(pong_clock_) - middle.time_since_epoch();
        }
        // The answer lies between departure and arrival. So if the clocks are one, the estimate is within
        // half the way there and back, and it is taken as zero: processes of one machine read the same clock.
        if (2 * std::chrono::abs(offsets[node]) <= best + Clock::duration(1)) {
            offsets[node] = Clock::duration::zero();
        } else {
            clock_error_ = std::max(clock_error_, best / 2);
        }
    }
    lock.unlock();
    // The news reaches each node by then.
    const auto zero = Clock::now() + 2 * longest + std::chrono::microseconds(20) * nodes_;
    begin_(zero);
    for (NodeId node = 1; node < nodes_; ++node)
        post_(node, FrameKind::start, pack((zero + offsets[node]).time_since_epoch().count()));
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
    if (!wait(lock, [this] { return done_ == nodes_ - 1; })) return false;
    std::uint64_t delivered_before = ~std::uint64_t{0};
    for (auto pause = std::chrono::microseconds(50);;
         pause = std::min(2 * pause, std::chrono::microseconds(2000))) {
        counted_ = 0;
        total_ = counts_();
        lock.unlock();
        post_to_all(FrameKind::count);
        lock.lock();
        if (!wait(lock, [this] { return counted_ == nodes_ - 1; })) return false;
        if (total_.sent == delivered_before) break;
        const bool balanced = total_.sent == total_.delivered;
        delivered_before = total_.delivered;
        if (balanced) continue;  // most likely over: look again at once
        lock.unlock();
        std::this_thread::sleep_for(pause);
        lock.lock();
    }
    lock.unlock();
    post_to_all(FrameKind::finish);
    return true;
}

}  // namespace heddle::native
