// Barrier and reduction over members on all nodes, in two levels. The members of a node meet in shared
// memory, and the nodes along a tree of messages. Split-phase: a member arrives, may do something else, and
// waits.
//
//     Team team(node, 1, 2);  // on every node, two members each
//     team.barrier(self);
//     const double sum = team.all_reduce(self, member, mine, [](double a, double b) { return a + b; });
//
// Order: a reduction combines the values of a node by member number, and then those of its children in the
// tree by node number. So the result does not depend on timing, also where the operation is not associative.
//
// Rounds: a member is at most one round ahead of another, because a round ends when all have arrived. So the
// state of two rounds is kept, and a round uses that of the one before the last, which every member has left.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/assert.hpp"
#include "runtime/backend.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/caller.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::runtime {

class TeamTable;

// Padded on purpose: members look at the door while others write the rest.
class Team {  // NOLINT(clang-analyzer-optin.performance.Padding)
public:
    /// How the nodes meet. In both cases the end of a round goes down the tree with four below each: where
    /// few nodes wait for the winner of a tournament, it tells them all.
    enum class Shape : std::uint8_t {
        tree,  ///< four below each
        /// Pairs, then the winners of pairs, and so on, the lower number winning (Hensgen, Finkel, Manber:
        /// "Two algorithms for barrier synchronization", 1988): each node waits for one other at a time.
        tournament,
    };

    /// Each of the first `nodes` nodes makes one of that number and shape, with at least one member. Throws
    /// Error if this node has one already.
    Team(Node& node, std::uint64_t number, std::uint32_t members, NodeId nodes, Shape shape = Shape::tree);
    /// On all nodes.
    Team(Node& node, std::uint64_t number, std::uint32_t members);
    /// No member may wait.
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// A number that no node has given out before: for teams that come and go. Those that programs choose are
    /// below 2^32.
    static std::uint64_t new_number(Node& node);

    std::uint32_t members() const { return members_; }
    NodeId nodes() const { return nodes_; }
    /// Whether members of this node have arrived, and others are missing.
    bool in_round() const {
        return rounds_[door_.current.load(std::memory_order_acquire) % rounds_.size()].missing.load(
                   std::memory_order_acquire) != members_;
    }

    /// Returns when all members have arrived.
    void barrier(Caller caller) { caller.wait(arrive(caller.worker(), 0, {}, nullptr)); }

    /// The values of all members, combined: the same on each. `member`: the caller's number on its node,
    /// below `members`. In a round all members call the same function with the same types.
    template <class T, class Combine>
    requires std::is_trivially_copyable_v<T> T all_reduce(Caller caller, std::uint32_t member, const T& value,
                                                          Combine combine) {
        static_assert(std::is_empty_v<Combine>,
                      "the operation must be the same on each node: capture nothing");
        (void)combine;
        const auto apply = [](std::byte* into, const std::byte* from) {
            T a;
            T b;
            std::memcpy(&a, into, sizeof(T));
            std::memcpy(&b, from, sizeof(T));
            a = Combine{}(a, b);
            std::memcpy(into, &a, sizeof(T));
        };
        // It may lie in a page that is not here, and no lock may be held while that comes.
        const T mine = value;
        Event& all = arrive(caller.worker(), member, bytes_of(mine), apply);
        caller.wait(all);
        T result;
        const std::span<const std::byte> bytes = result_of(all);
        HEDDLE_ASSERT(bytes.size() == sizeof(T));
        std::memcpy(&result, bytes.data(), sizeof(T));
        return result;
    }

    // --- split-phase
    using Apply = void (*)(std::byte* into, const std::byte* from);

    /// A member arrives, with a value to combine or none. What is returned is done when all have arrived; the
    /// caller waits for it before it arrives again. Throws Error if all members of this node have arrived.
    Event& arrive(Worker& worker, std::uint32_t member, std::span<const std::byte> value, Apply apply);

    /// What the round of that event gave. Until the caller arrives again.
    std::span<const std::byte> result_of(const Event& round) const;

    // --- handlers
    void on_child(NodeId child, std::uint64_t round, std::span<const std::byte> value);
    void on_release(std::uint64_t round, std::span<const std::byte> value);

private:
    static constexpr NodeId arity = 4;

    class Released final : public Event {
    public:
        std::string what() const override { return "the other members of a team"; }
    };

    struct Round {
        alignas(64) std::atomic<std::uint32_t> missing{0};  ///< members of this node
        alignas(64) Apply apply = nullptr;
        std::vector<std::byte> values;  ///< of the members, one after the other; later the result in front
        std::size_t value_bytes = 0;
        // Under the lock.
        std::uint64_t number = 0;
        NodeId children_missing = 0;
        bool here_complete = false;
        std::vector<std::vector<std::byte>> from_children;
    };

    /// What members look at again and again while the last one to arrive writes the rest: one line of the
    /// cache.
    struct alignas(64) Door {
        std::atomic<std::uint64_t> current{0};  ///< the round that members arrive at
        std::array<Released, 2> released;       ///< of the round with that number modulo two
    };

    Round& round(std::uint64_t number) { return rounds_[number % rounds_.size()]; }
    Event& released(std::uint64_t number) { return door_.released[number % door_.released.size()]; }
    [[noreturn]] void too_many() const;
    void prepare(Round& round, std::uint64_t number);
    void complete(std::uint64_t number, Context& caller, Outbox& outbox);
    void release(std::uint64_t number, Context& caller, Outbox& outbox, std::span<const std::byte> value);
    NodeId below(NodeId place) const { return id_ * arity + 1 + place; }
    NodeId child(NodeId place) const {
        return shape_ == Shape::tree ? below(place) : id_ + (NodeId{1} << place);
    }
    NodeId parent() const { return shape_ == Shape::tree ? (id_ - 1) / arity : id_ & (id_ - 1); }
    NodeId count_children() const;

    Node& node_;
    std::shared_ptr<TeamTable> table_;  ///< the teams of this node; it may outlive what else the node keeps
    NodeId id_;
    NodeId nodes_;
    std::uint64_t number_;
    std::uint32_t members_;
    Shape shape_;
    NodeId children_;  ///< how many nodes send to this one
    std::array<Round, 2> rounds_;
    Door door_;
    alignas(64) SpinLock lock_;
};

}  // namespace heddle::runtime
