// Makes handlers run one at a time on a node: the receiver runs them, or a worker that sends to its own node.
// The receiver waits for its turn, so that messages from the network never gather here. A worker leaves its
// message to the thread that has the turn. Turns are short because handlers are short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/relax.hpp"
#include "runtime/backend.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::runtime {

/// One message of a node to itself.
struct Mail {
    Bytes message;
    Body body;
};

class Mailbox {
public:
    enum class Turn : std::uint8_t {
        mine,   ///< the caller handles its message, and then all that `next` returns
        later,  ///< as `mine`, but its message is among what `next` returns
        other   ///< the thread that has the turn will handle it
    };

    /// Waits until it is the caller's turn. Not for handlers, which have the turn already.
    void begin() {
        for (Patience patience; !free_to_take(); patience.wait()) {
        }
    }

    /// A message has come. If another thread has the turn, the caller leaves for it what `make_mail()` makes.
    /// `patient`: the caller is no handler, and waits if much has been left.
    template <class MakeMail>
    Turn begin_or_leave(bool patient, const MakeMail& make_mail) {
        for (Patience patience;; patience.wait()) {
            if (free_to_take()) return Turn::mine;
            if (!patient || waits() < many) break;
        }
        Mail mail = make_mail();
        const SpinLock::Guard guard(lock_);
        waiting_.push_back(std::move(mail));
        return std::exchange(taken_, true) ? Turn::other : Turn::later;
    }

    /// The next message that was left meanwhile, in order. If there is none, calls `end()` and ends the turn.
    template <class End>
    std::optional<Mail> next(const End& end) {
        const SpinLock::Guard guard(lock_);
        if (first_ == waiting_.size()) {
            if (first_ != 0) {
                waiting_.clear();
                first_ = 0;
            }
            end();
            taken_ = false;
            return std::nullopt;
        }
        return std::move(waiting_[first_++]);
    }

    /// Ends the turn if no message was left. Else returns false.
    bool end_if_none() {
        const SpinLock::Guard guard(lock_);
        if (!waiting_.empty()) return false;
        taken_ = false;
        return true;
    }

private:
    static constexpr std::size_t many = 64;

    bool free_to_take() {
        const SpinLock::Guard guard(lock_);
        return !std::exchange(taken_, true);
    }
    std::size_t waits() {
        const SpinLock::Guard guard(lock_);
        return waiting_.size();  // with what has been handled: it is given back when the turn ends
    }

    alignas(64) SpinLock lock_;
    bool taken_ = false;
    std::vector<Mail> waiting_;
    std::size_t first_ = 0;
};

}  // namespace heddle::runtime
