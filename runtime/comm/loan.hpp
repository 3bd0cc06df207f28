// Bytes that a send reads where they are, until the world has written them (SentBody::lent).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/relax.hpp"
#include "runtime/backend.hpp"
#include "runtime/core/caller.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/outlast.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/sources/io.hpp"

namespace heddle::runtime {

/// The lender, the send and what the send has given to the world share it: made by make_shared. The bytes are
/// the lender's until the send begins to read, and again from the return on.
class Loan final : public Event, public std::enable_shared_from_this<Loan> {
public:
    /// `bytes` may be none, for data that are only declared.
    Loan(Node& node, std::span<const std::byte> bytes)
        : node_(node), calls_(node.state<IoCalls>()), bytes_(bytes) {}

    std::string what() const override { return "a large message to leave"; }
    std::span<const std::byte> bytes() const { return bytes_; }

    // --- the send
    /// The bytes, or their copy. Nothing where the lender has withdrawn them. Once.
    std::optional<SentBody> read() {
        auto progress = Progress::offered;
        if (progress_.compare_exchange_strong(progress, Progress::read, std::memory_order_acq_rel))
            return SentBody::lent(bytes_,
                                  {this, [loan = shared_from_this()](const void*) { loan->give_back(); }});
        if (progress == Progress::copied) return SentBody(std::move(copy_));
        return std::nullopt;
    }
    /// Returns when all of what `read` has returned is gone, or it was a copy.
    //
    // Invariant: of this and `give_back` the one that comes second sees in `progress_` what the first did. If
    // that is `give_back`, this waits, and a worker ends the wait. Else neither waits.
    void wait_for_return(const Caller& caller) {
        calls_.begin();
        auto progress = Progress::read;
        if (progress_.compare_exchange_strong(progress, Progress::awaited, std::memory_order_acq_rel))
            return caller.wait(*this);
        calls_.cancel();
    }

    // --- a receiver of the same node, in place of a send
    /// The receiver reads `bytes` until it lets go of `loan`.
    struct Borrowed {
        std::span<const std::byte> bytes;
        std::shared_ptr<const Loan> loan;
    };
    /// The bytes, or their copy, which the loan keeps. Nothing where the lender has withdrawn them. Once.
    std::optional<Borrowed> borrow() {
        auto progress = Progress::offered;
        if (progress_.compare_exchange_strong(progress, Progress::borrowed, std::memory_order_acq_rel))
            return Borrowed{bytes_, {this, [loan = shared_from_this()](const Loan*) {
                                         loan->leave(Progress::borrowed, Progress::returned);
                                     }}};
        if (progress == Progress::copied)
            return Borrowed{copy_ ? std::span<const std::byte>(*copy_) : std::span<const std::byte>(),
                            shared_from_this()};
        return std::nullopt;
    }
    /// Throws Error where the lender has withdrawn the bytes since. A receiver that was charged or has waited
    /// since it borrowed them must call it right before it reads.
    void expect_lent() const {
        if (progress_.load(std::memory_order_acquire) == Progress::withdrawn)
            throw Error("a sender of this node has ended with an error before its message was read");
    }

    // --- the lender
    /// Whether the send has not begun to read. Then it may not do so before the lender does something else.
    bool is_only_offered() const { return progress_.load(std::memory_order_acquire) == Progress::offered; }
    /// The send is to read this copy instead. False if it has begun to read.
    bool replace(Body copy) {
        copy_ = std::move(copy);
        auto progress = Progress::offered;
        return progress_.compare_exchange_strong(progress, Progress::copied, std::memory_order_acq_rel);
    }
    /// For one that cannot wait as strands do, because it ends with an error: from now on no send reads the
    /// bytes. What is being written is so soon, because the receiver has asked for it. A receiver of this
    /// node that has borrowed them is waited for as by `outlast`. After that it may not begin to read.
    void take_back(Worker& worker) {
        const auto progress = leave(Progress::offered, Progress::returned);
        if (progress == Progress::offered || progress == Progress::copied) return;
        if (progress == Progress::borrowed) {
            outlast(worker,
                    [this] { return progress_.load(std::memory_order_acquire) != Progress::borrowed; });
            leave(Progress::borrowed, Progress::withdrawn);
            return;
        }
        for (Patience patience; progress_.load(std::memory_order_acquire) != Progress::returned;
             patience.wait())
            worker.backend->poll(worker);
    }

private:
    enum class Progress : std::uint8_t { offered, copied, borrowed, withdrawn, read, awaited, returned };

    /// From `before` to `after`, if it is at `before`. Returns where it was.
    Progress leave(Progress before, Progress after) {
        progress_.compare_exchange_strong(before, after, std::memory_order_acq_rel);
        return before;
    }
    /// Any thread.
    void give_back() {
        Context context;
        context.backend = &node_.backend();
        context.id = {node_.id(), node_.cores()};
        if (progress_.exchange(Progress::returned, std::memory_order_acq_rel) == Progress::awaited)
            calls_.ended(context, *this);
    }

    Node& node_;
    IoCalls& calls_;
    std::span<const std::byte> bytes_;
    Body copy_;
    std::atomic<Progress> progress_{Progress::offered};
};

}  // namespace heddle::runtime
