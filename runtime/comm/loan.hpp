// Bytes that a send reads where they are, until the world has written them (SentBody::lent).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/relax.hpp"
#include "runtime/backend.hpp"
#include "runtime/core/caller.hpp"
#include "runtime/core/node.hpp"
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
    /// The bytes, or their copy, which the loan keeps. Nothing where the lender has withdrawn them. Once.
    std::optional<std::span<const std::byte>> borrow() {
        auto progress = Progress::offered;
        if (progress_.compare_exchange_strong(progress, Progress::borrowed, std::memory_order_acq_rel))
            return bytes_;
        if (progress == Progress::copied)
            return copy_ ? std::span<const std::byte>(*copy_) : std::span<const std::byte>();
        return std::nullopt;
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
    /// node ends with the run.
    void take_back() {
        auto progress = Progress::offered;
        if (progress_.compare_exchange_strong(progress, Progress::returned, std::memory_order_acq_rel))
            return;
        if (progress == Progress::copied || progress == Progress::borrowed) return;
        for (Patience patience; progress_.load(std::memory_order_acquire) != Progress::returned;
             patience.wait())
            node_.backend().poll(node_.worker(0));
    }

private:
    enum class Progress : std::uint8_t { offered, copied, borrowed, read, awaited, returned };

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
