// Atomic mailboxes of EARTH (Tremblay et al., section 2): fibers of any node put items in, and each item
// signals a slot. Only the mailbox's node takes items out, in the order of arrival; the paper promises no
// order. So items from one fiber to one mailbox stay in order, and no other order is promised.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>

#include "runtime/backend.hpp"
#include "runtime/comm/sync_slot.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::model::earth {

/// MAILBOX: a variable of a thread's frame, or of its node's program. Em::init_mailbox comes first; items are
/// put in and taken out by Em::drop_in and Em::retrieve_item.
class Mailbox {
public:
    // --- for Em and messages
    void open(NodeId node, runtime::SyncSlot& slot);
    /// Throws Error where the mailbox was not initialized.
    void put(runtime::Node& node, runtime::Context& caller, std::span<const std::byte> item);
    /// Throws Error where `here` is not its node.
    std::optional<runtime::Bytes> take(NodeId here);

private:
    runtime::SpinLock lock_;  ///< over `items_`
    std::deque<runtime::Bytes> items_;
    runtime::SyncSlot* slot_ = nullptr;
    NodeId node_ = 0;
};

}  // namespace heddle::model::earth
