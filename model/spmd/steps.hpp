// The steps of a rank in a collective call. Algorithms (algorithms/) emit them one after the other, so none
// is stored, and one executor runs them (collective.hpp).
//
// A rank has three arrays: `input` and `output` are the caller's, `scratch` is the executor's. Positions
// count elements. A send takes its elements at once: later steps may overwrite them. Messages between two
// ranks are received in the order in which they were sent, and each receive expects as many elements as it
// has room for.
#pragma once

#include <cstdint>

#include "model/spmd/layout.hpp"

namespace heddle::spmd {

using RankId = std::uint32_t;

struct Levels;

enum class Array : std::uint8_t { input, output, scratch };

/// Elements of one of the rank's arrays.
struct Range {
    Array array = Array::output;
    Index begin = 0;
    Index count = 0;

    bool operator==(const Range&) const = default;
};

struct Step {
    enum class Kind : std::uint8_t {
        send,     ///< `from` to the peer
        receive,  ///< a message of the peer into `to`
        combine,  ///< a message of the peer, combined into `to` element by element
        copy,     ///< `from` into `to`
        fold,     ///< `from`, combined into `to`
    };
    Kind kind;
    RankId peer;
    Range to;
    Range from;
    bool other_first;  ///< combine and fold: what comes is the operator's left operand
};

/// Which operand of the operator is what comes to those that are there. It matters if the operator does not
/// commute.
enum class Comes : std::uint8_t { left, right };

/// Takes the steps of one rank in their order.
class Steps {
public:
    virtual ~Steps() = default;

    /// So many elements of scratch: before the first step that has them.
    virtual void reserve(Index elements) = 0;

    void step(const Step& step) { take(step); }
    void send(RankId to, const Range& from) { take({Step::Kind::send, to, {}, from, false}); }
    void receive(RankId from, const Range& into) { take({Step::Kind::receive, from, into, {}, false}); }
    void combine(RankId from, const Range& into, Comes comes) {
        take({Step::Kind::combine, from, into, {}, comes == Comes::left});
    }
    void copy(const Range& into, const Range& from) { take({Step::Kind::copy, 0, into, from, false}); }
    void fold(const Range& into, const Range& from, Comes comes) {
        take({Step::Kind::fold, 0, into, from, comes == Comes::left});
    }

protected:
    virtual void take(const Step& step) = 0;
};

/// What a rank knows of a call. All ranks call with the same `ranks`, `root`, `count`, `segment` and
/// `levels`.
struct Call {
    RankId rank = 0;
    RankId ranks = 1;
    RankId root = 0;
    Index count = 0;                 ///< elements of the whole array, or of a rank's block (Operation)
    Index segment = 1;               ///< elements of a segment, where an algorithm sends an array in several
    const Levels* levels = nullptr;  ///< which ranks are near each other (groups.hpp); null: unknown

    /// The rank that is `distance` after this one in the ring of all.
    RankId after(RankId distance) const {
        return static_cast<RankId>((std::uint64_t{rank} + distance) % ranks);
    }
    RankId before(RankId distance) const {
        return static_cast<RankId>((std::uint64_t{rank} + ranks - distance % ranks) % ranks);
    }
    /// Numbered from the root on, around the ring; and back.
    RankId from_root() const { return before(root); }
    RankId of_root(RankId relative) const {
        return static_cast<RankId>((std::uint64_t{relative} + root) % ranks);
    }
};

}  // namespace heddle::spmd
