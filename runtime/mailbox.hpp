// Who may run handlers on a node: one at a time, the receiver or a worker that sends to its own node. Nobody
// waits for his turn: what comes meanwhile is left here, for the one whose turn it is. Runs nothing itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/spin_lock.hpp"

namespace heddle::runtime {

/// One message for a node.
struct Mail {
    NodeId from;
    Bytes message;
    Body body;
};

class Mailbox {
public:
    enum class Turn : std::uint8_t {
        mine,   ///< the caller handles his message, and then all that `next` gives him
        later,  ///< as `mine`, but his message is among what `next` gives him
        other   ///< somebody else will handle it
    };

    /// A message has come. `make_mail()` makes what is left of it where somebody else has the turn.
    template <class MakeMail>
    Turn begin(const MakeMail& make_mail) {
        {
            const SpinLock::Guard guard(lock_);
            if (!std::exchange(taken_, true)) return Turn::mine;
        }
        Mail mail = make_mail();
        const SpinLock::Guard guard(lock_);
        waiting_.push_back(std::move(mail));
        return std::exchange(taken_, true) ? Turn::other : Turn::later;
    }

    /// The next that was left meanwhile, in order; nothing ends the turn.
    std::optional<Mail> next() {
        const SpinLock::Guard guard(lock_);
        if (first_ == waiting_.size()) {
            waiting_.clear();
            first_ = 0;
            taken_ = false;
            return std::nullopt;
        }
        return std::move(waiting_[first_++]);
    }

private:
    SpinLock lock_;
    bool taken_ = false;
    std::vector<Mail> waiting_;
    std::size_t first_ = 0;
};

}  // namespace heddle::runtime
