// For tests: a node program for nodes that join and leave. All members constantly send numbered messages to
// each other, and report when they come and go. Nodes are threads of one process, so a test sees all counts.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "runtime/native/native_backend.hpp"
#include "runtime/native/rendezvous.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native::members {

inline constexpr NodeId capacity_max = 64;

/// What all nodes of a test see.
struct World {
    using Counts = std::array<std::array<std::atomic<std::uint64_t>, capacity_max>, capacity_max>;

    NodeId capacity = 4;
    NodeId at_start = 2;
    Counts sent{};  ///< [from][to], of the numbered messages
    Counts got{};
    std::atomic<int> out_of_order{0};
    std::atomic<bool> over{false};  ///< node 0 ends the run
    std::array<std::atomic<int>, capacity_max> sending{};
    std::array<std::atomic<bool>, capacity_max> has_left{};
    std::array<std::atomic<std::int64_t>, capacity_max> clock_ahead_ns{};  ///< of node 0's, when it began
    std::atomic<std::int64_t> zero_ns{0};  ///< of the run, by node 0, on the steady clock; 0: not begun
};

enum class Kind : std::uint32_t { join, welcome, hello, leaving, granted, close, closed, over, number };

struct Note {
    Kind kind{};
    NodeId node = 0;
    std::uint64_t set = 0;  ///< of nodes, or a number
};

inline std::uint64_t bit(NodeId node) {
    return std::uint64_t{1} << node;
}

class Program final : public runtime::NodeProgram {
public:
    Program(World& world, NodeId node) : world_(world), node_(node) {
        if (node < world.at_start) members_ = bit(world.at_start) - 1;
    }

    runtime::Context& context(CoreId core) override { return contexts_[core]; }
    bool has_left() const override { return left_; }

    void work(CoreId core) override {
        if (core != 0) return;
        runtime::Context& self = contexts_[0];
        if (node_ == 0) world_.zero_ns = zero_here(self);
        if (node_ >= world_.at_start) {
            world_.clock_ahead_ns[node_] = zero_here(self) - world_.zero_ns;
            send(self, 0, {Kind::join, node_});
        }
        for (NodeId next = node_; !over_; ++next) {
            self.backend->poll(self);
            if (node_ == 0 && world_.over && end(self)) break;
            if (asked_to_leave_ && !leaving_ && has_talked()) begin_to_leave(self);
            if (leaving_ && gave_all_away()) {
                left_ = true;
                world_.has_left[node_] = true;
                break;
            }
            const NodeId to = next % world_.capacity;
            if (to != node_ && !leaving_) send_number(self, to);
            if (next % 16 == 0)
                self.backend->park(self, self.backend->now(self) + std::chrono::microseconds(50));
        }
    }

    void deliver(NodeId from, std::span<const std::byte> message, runtime::Body) override {
        Note note;
        ASSERT_EQ(message.size(), sizeof note);
        std::memcpy(&note, message.data(), sizeof note);
        runtime::Context& self = contexts_[1];
        const std::lock_guard lock(mutex_);
        switch (note.kind) {
            case Kind::join:
                if (over_ || ended_) return send(self, from, {Kind::over});
                send(self, from, {Kind::welcome, 0, members_});
                members_ |= bit(from);
                break;
            case Kind::welcome:
                for (NodeId node = 1; node < world_.capacity; ++node)
                    if (note.set & bit(node)) send(self, node, {Kind::hello});
                members_ |= note.set;
                break;
            case Kind::hello:
                members_ |= bit(from);
                break;
            case Kind::leaving:
                if (ended_) return;
                members_ &= ~bit(from);
                send(self, from, {Kind::granted, 0, members_});
                for (NodeId node = 1; node < world_.capacity; ++node)
                    if (members_ & bit(node)) send(self, node, {Kind::close, from});
                send(self, from, {Kind::closed});
                break;
            case Kind::granted:
                expected_ = note.set;
                granted_ = true;
                break;
            case Kind::close:
                closed_ |= bit(note.node);
                send(self, note.node, {Kind::closed});
                break;
            case Kind::closed:
                answered_ |= bit(from);
                break;
            case Kind::over:
                over_ = true;
                break;
            case Kind::number:
                if (world_.got[from][node_]++ != note.set) ++world_.out_of_order;
                break;
        }
        self.backend->unpark(self, 0);
    }

    void leave() override {
        asked_to_leave_ = true;
        contexts_[1].backend->unpark(contexts_[1], 0);
    }

private:
    static std::int64_t zero_here(const runtime::Context& self) {
        const auto zero = Clock::now().time_since_epoch() - self.backend->now(self);
        return std::chrono::duration_cast<std::chrono::nanoseconds>(zero).count();
    }

    static void send(runtime::Context& self, NodeId to, const Note& note) {
        const auto bytes = std::as_bytes(std::span(&note, 1));
        self.backend->send(self, to, {bytes.begin(), bytes.end()});
    }

    /// Under the lock, so that no send to a node begins after it was closed.
    void send_number(runtime::Context& self, NodeId to) {
        {
            const std::lock_guard lock(mutex_);
            if (!(members_ & ~closed_ & bit(to)) || leaving_) return;
            sending_ = world_.sent[node_][to]++;
        }
        send(self, to, {Kind::number, 0, sending_});
    }

    /// With all that it knows of.
    bool has_talked() {
        const std::lock_guard lock(mutex_);
        for (NodeId other = 0; other < world_.capacity; ++other)
            if (other != node_ && (members_ & ~closed_ & bit(other)) && world_.got[node_][other] < 10)
                return false;
        return members_ != 0;
    }

    void begin_to_leave(runtime::Context& self) {
        const std::lock_guard lock(mutex_);
        leaving_ = true;
        send(self, 0, {Kind::leaving});
    }

    bool gave_all_away() {
        const std::lock_guard lock(mutex_);
        if (!granted_ || (answered_ & expected_) != expected_) return false;
        for (NodeId other = 0; other < world_.capacity; ++other)
            if (world_.got[node_][other] != world_.sent[node_][other] ||
                world_.got[other][node_] != world_.sent[other][node_])
                return false;
        return true;
    }

    /// Node 0 ends the run, when all that wanted to leave have.
    bool end(runtime::Context& self) {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        for (NodeId node = 1; node < world_.capacity; ++node)
            if (members_ & bit(node)) send(self, node, {Kind::over});
        return true;
    }

    World& world_;
    const NodeId node_;
    std::array<runtime::Context, 2> contexts_{};
    std::mutex mutex_;
    std::uint64_t members_ = 0;
    std::uint64_t closed_ = 0;
    std::uint64_t expected_ = 0;
    std::uint64_t answered_ = 0;
    std::uint64_t sending_ = 0;
    bool granted_ = false;
    bool ended_ = false;
    std::atomic<bool> asked_to_leave_{false};
    std::atomic<bool> leaving_{false};
    std::atomic<bool> over_{false};
    std::atomic<bool> left_{false};
};

/// Each of them joins all nodes.
inline std::shared_ptr<const NetworkRoutes> networks_of_all(NodeId nodes, std::size_t count) {
    std::vector<NodeId> all(nodes);
    std::iota(all.begin(), all.end(), NodeId{0});
    std::vector<JoinedNodes> networks;
    for (std::size_t i = 0; i < count; ++i)
        networks.push_back({"network " + std::to_string(i), all, std::chrono::microseconds(1), 1e9});
    return std::make_shared<NetworkRoutes>(nodes, std::move(networks), NetworkRoutes::Settings{});
}

/// The nodes of one run, each on a thread. If the options state what carries several networks, each of these
/// joins all nodes, and messages take the first.
class MemberRun {
public:
    MemberRun(World& world, NativeOptions options)
        : world_(world),
          options_(std::move(options)),
          rendezvous_(Places(world.at_start, world.capacity), key_) {
        options_.at_start = world.at_start;
        if (!options_.networks.empty())
            options_.routes = networks_of_all(world.capacity, options_.networks.size());
        ended_.resize(world.capacity);
        for (NodeId node = 0; node < world.at_start; ++node) start(node);
        EXPECT_TRUE(eventually([&] { return world_.zero_ns != 0; }));
    }
    ~MemberRun() { end(); }
    MemberRun(const MemberRun&) = delete;
    MemberRun& operator=(const MemberRun&) = delete;

    /// Runs `node` on a thread of its own. `change`: options of this node alone.
    void start(NodeId node, const std::function<void(NativeOptions&)>& change = {}) {
        NativeOptions mine = options_;
        mine.membership =
            Membership{node, world_.capacity, key_, rendezvous_.address(), node, world_.capacity};
        mine.membership->at_start = world_.at_start;
        mine.on_over = [this, node] { ++over_[node]; };
        mine.on_lost = [this](NodeId lost, const std::string& reason) {
            const std::lock_guard lock(mutex_);
            losses_ += "node " + std::to_string(lost) + ": " + reason + "\n";
            world_.over = true;
        };
        if (change) change(mine);
        threads_.emplace_back([this, node, mine] {
            Program program(world_, node);
            const std::string error = error_of(
                [&] { NativeBackend(mine).run([&](NodeId) -> runtime::NodeProgram& { return program; }); });
            if (node != 0) rendezvous_.node_ended(node);  // as the launcher says
            const std::lock_guard lock(mutex_);
            errors_[node] = error;
            ended_[node] = true;
        });
    }

    void end() {
        world_.over = true;
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }

    bool has_ended(NodeId node) {
        const std::lock_guard lock(mutex_);
        return ended_[node];
    }
    std::string error(NodeId node) {
        const std::lock_guard lock(mutex_);
        return errors_[node];
    }
    std::string losses() {
        const std::lock_guard lock(mutex_);
        return losses_;
    }
    int over(NodeId node) const { return over_[node]; }
    Rendezvous& rendezvous() { return rendezvous_; }
    const Key& key() const { return key_; }

    /// Whether each of two nodes has had messages from the other.
    bool talk(NodeId a, NodeId b) const { return world_.got[a][b] > 0 && world_.got[b][a] > 0; }

    /// After the end: each message was delivered once, in order, and no node was lost.
    void expect_all_well() {
        EXPECT_EQ(losses(), "");
        EXPECT_EQ(world_.out_of_order, 0);
        for (NodeId node = 0; node < world_.capacity; ++node) EXPECT_EQ(error(node), "") << node;
        for (NodeId from = 0; from < world_.capacity; ++from)
            for (NodeId to = 0; to < world_.capacity; ++to)
                EXPECT_EQ(world_.sent[from][to], world_.got[from][to]) << from << " to " << to;
    }

private:
    World& world_;
    NativeOptions options_;
    Key key_ = make_key();
    Rendezvous rendezvous_;
    std::array<std::atomic<int>, capacity_max> over_{};
    std::mutex mutex_;
    std::vector<bool> ended_;
    std::array<std::string, capacity_max> errors_;
    std::string losses_;
    std::vector<std::thread> threads_;
};

}  // namespace heddle::native::members
