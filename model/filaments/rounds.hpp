// Lets the main programs of all nodes meet in rounds: barriers and reductions, also of the memory that they
// share. Each round says at which point of the program its node is. Nodes that have come apart then get an
// error instead of each other's values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/ids.hpp"
#include "model/dsm/shared_memory.hpp"
#include "runtime/comm/team.hpp"

namespace heddle::filaments {

class Rounds {
public:
    enum class Kind : std::uint8_t { start, reduce, barrier, end };

    /// Where a node's main program is. Equal on all nodes that go together.
    struct Place {
        std::uint32_t phases = 0;      ///< a digest of those that it has made
        std::uint32_t executions = 0;  ///< of phases, so far
        std::uint32_t latest = 0;      ///< the number of the phase that was executed last; 0 for none
        Kind kind = Kind::start;

        friend bool operator==(const Place&, const Place&) = default;
    };

    /// Two nodes whose places differ.
    struct Apart {
        NodeId node;
        Place place;
        NodeId other_node;
        Place other_place;
    };
    /// Throws Error.
    using Refuse = void (*)(const void* owner, const Apart& apart);

    /// `refuse(owner, ...)` is called on every node where nodes have come apart.
    Rounds(dsm::SharedMemory& memory, const void* owner, Refuse refuse);

    /// Rounds so far.
    std::uint64_t count() const { return count_; }

    void barrier(runtime::Caller caller, const Place& here) {
        reduce(caller, here, Nothing{}, [](Nothing, Nothing) { return Nothing{}; });
    }

    /// The values of all nodes, combined in the order of the tournament.
    template <class T, class Operation>
    T reduce(runtime::Caller caller, const Place& here, const T& mine, Operation /*operation*/) {
        static_assert(std::is_trivially_copyable_v<T>);
        static_assert(std::is_empty_v<Operation>,
                      "the operation must be the same on each node: capture nothing");
        Round<T> round{Meeting{here, {}, id_, 0, false}, {}};
        std::memcpy(round.value.data(), &mine, sizeof(T));
        round = memory_.sealed() ? memory_.all_reduce(caller, round, Combine<T, Operation>{})
                                 : team_.all_reduce(caller, 0, round, Combine<T, Operation>{});
        ++count_;
        const Meeting& met = round.meeting;
        if (met.apart) refuse_(owner_, {met.node, met.place, met.other_node, met.other_place});
        return value_in(round);
    }

private:
    struct Nothing {};

    struct Meeting {
        Place place;
        Place other_place;
        NodeId node;
        NodeId other_node;
        bool apart;

        void meet(const Meeting& other) {
            if (apart) return;
            if (other.apart) {
                *this = other;
            } else if (place != other.place) {
                apart = true;
                other_place = other.place;
                other_node = other.node;
            }
        }
    };
    /// Of equal size for most types, so that nodes with values of different types can still meet.
    template <class T>
    struct Round {
        Meeting meeting;
        std::array<std::byte, std::max<std::size_t>(sizeof(T), 20)> value;
    };
    template <class T>
    static T value_in(const Round<T>& round) {
        T value;
        std::memcpy(&value, round.value.data(), sizeof(T));
        return value;
    }
    template <class T, class Operation>
    struct Combine {
        Round<T> operator()(Round<T> a, const Round<T>& b) const {
            a.meeting.meet(b.meeting);
            if (a.meeting.apart) return a;
            const T combined = Operation{}(value_in(a), value_in(b));
            std::memcpy(a.value.data(), &combined, sizeof(T));
            return a;
        }
    };

    dsm::SharedMemory& memory_;
    NodeId id_;
    std::uint64_t count_ = 0;
    const void* owner_;
    Refuse refuse_;
    runtime::Team team_;  ///< as long as there is no shared memory
};

}  // namespace heddle::filaments
