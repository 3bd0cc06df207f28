// Accepts fragments, puts messages together and gives them to receives.
#include "model/messaging/receive_queue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "runtime/comm/endpoints.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::messaging {

using runtime::SpinLock;

namespace {

constexpr std::size_t ended_max = 256;

}  // namespace

/// A message that waits for its fragments or its receive.
struct ReceiveQueue::ControlBlock : runtime::Matched {
    Arrival message;
    std::uint32_t sequence = 0;
    std::uint32_t thread = 0;  ///< that it is for
    std::vector<bool> come;    ///< the fragment map
    std::uint64_t missing = 0;
};

std::string ReceiveQueue::Posted::what() const {
    std::string text = "a message";
    if (filter.tag) text += fmt::format(" with tag {}", *filter.tag);
    if (filter.thread)
        text += fmt::format(" from thread {} of process {}", filter.thread->thread, filter.thread->process);
    return text;
}

ReceiveQueue::ReceiveQueue(ProcessId process, const DispatcherSettings& settings)
    : process_(process), settings_(settings) {}

ReceiveQueue::~ReceiveQueue() = default;

void ReceiveQueue::open(std::uint32_t thread) {
    const SpinLock::Guard guard(lock_);
    inboxes_[thread];
}

ReceiveQueue::Outcome ReceiveQueue::close(std::uint32_t thread) {
    Outcome outcome;
    const SpinLock::Guard guard(lock_);
    const auto inbox = inboxes_.extract(thread);
    while (runtime::Matched* const message = inbox.mapped().messages.find({})) {
        inbox.mapped().messages.remove(*message);
        release(static_cast<ControlBlock&>(*message), outcome);
    }
    Expected expected;
    for (const auto& [source, stream] : inbox.mapped().streams) expected.emplace(source, stream.expected);
    if (expected.empty()) return outcome;
    ended_.emplace_back(thread, std::move(expected));
    if (ended_.size() > ended_max) ended_.pop_front();
    return outcome;
}

// --- accepting

ReceiveQueue::Inbox& ReceiveQueue::inbox_of(std::uint32_t thread, runtime::Address from, Tag tag) {
    const auto found = inboxes_.find(thread);
    if (found != inboxes_.end()) return found->second;
    throw Error(
        fmt::format("a message with tag {} from thread {} of process {} came for thread {} of process "
                    "{}, which has ended",
                    tag, id_of(from).thread, from.node, thread, process_),
        "let the receiver go on until the last message for it has come");
}

ReceiveQueue::Outcome ReceiveQueue::admit(ProcessId from, const FragmentHeader& header,
                                          runtime::Parcel data) {
    Outcome outcome;
    const SpinLock::Guard guard(lock_);
    bool has_come = false;
    ControlBlock* const block = block_for(from, header, outcome, has_come);
    if (!block && !has_come) {
        refuse(from, outcome);
        return outcome;
    }
    if (has_come || !put(*block, header, std::move(data))) {
        // If it was sent because its process was told of a free block, that one is free still.
        if (blocks_free() != 0) offer(outcome);
        return outcome;
    }
    if (block->missing == 0) {
        coming_[from].erase(header.message);
        deliver(*block, outcome);
    }
    return outcome;
}

namespace {

/// Modulo 2^32.
bool is_before(std::uint32_t sequence, std::uint32_t expected) {
    return static_cast<std::int32_t>(sequence - expected) < 0;
}

}  // namespace

/// Whether a fragment comes again, of a message that came whole while its thread was there.
bool ReceiveQueue::came_before_end(std::uint64_t source, const FragmentHeader& header) const {
    const auto thread =
        std::ranges::find(ended_, header.target_thread, [](const auto& one) { return one.first; });
    if (thread == ended_.end()) return false;
    const auto expected = thread->second.find(source);
    return expected != thread->second.end() && is_before(header.sequence, expected->second);
}

/// The control block of the fragment's message: the one that it has, or a free one if it is the next from its
/// thread. Null if it must wait, or if the message `has_come` whole.
ReceiveQueue::ControlBlock* ReceiveQueue::block_for(ProcessId from, const FragmentHeader& header,
                                                    Outcome& outcome, bool& has_come) {
    auto& coming = coming_[from];
    const auto found = coming.find(header.message);
    if (found != coming.end()) return found->second;
    const runtime::Address sender = address_of({from, header.source_thread});
    const std::uint64_t source = runtime::key_of(sender);
    has_come = !inboxes_.contains(header.target_thread) && came_before_end(source, header);
    if (has_come) return nullptr;
    Inbox& inbox = inbox_of(header.target_thread, sender, header.tag);
    std::uint32_t& expected = inbox.streams[source].expected;
    has_come = is_before(header.sequence, expected);
    if (has_come) return nullptr;
    if (header.sequence != expected) {
        outcome.has_room = blocks_free() != 0;
        if (outcome.has_room) offer(outcome, from);
        return nullptr;
    }
    if (blocks_free() == 0) return nullptr;
    ++expected;
    ControlBlock& block = take_free();
    blocks_used_max_ = std::max<std::uint64_t>(blocks_used_max_, settings_.control_blocks - blocks_free());
    const std::uint64_t fragments = from == process_ ? 1 : settings_.fragments_of(header.size);
    block.source = source;
    block.tag = header.tag;
    block.message = {sender, header.tag, header.size, {}};
    block.message.parts.resize(fragments);
    block.sequence = header.sequence;
    block.thread = header.target_thread;
    block.come.assign(fragments, false);
    block.missing = fragments;
    coming.emplace(header.message, &block);
    // The thread's next message may have been refused because it was too early.
    if (sources_[from].listed && blocks_free() != 0) outcome.rooms.push_back({from, {1}});
    return &block;
}

/// False if it has come before.
bool ReceiveQueue::put(ControlBlock& block, const FragmentHeader& header, runtime::Parcel data) const {
    const std::uint64_t size = block.message.size;
    const std::uint64_t index = header.index;
    const std::uint64_t full = block.message.from.node == process_ ? size : settings_.data_bytes();
    if (header.size != size || index >= block.come.size() ||
        data.size() != std::min(full, size - index * full))
        throw runtime::MalformedMessage("it is no fragment of its message");
    if (block.come[index]) return false;
    block.come[index] = true;
    block.message.parts[index] = std::move(data);
    --block.missing;
    return true;
}

/// It is whole.
void ReceiveQueue::deliver(ControlBlock& block, Outcome& outcome) {
    Inbox& inbox = inbox_of(block.thread, block.message.from, block.tag);
    Stream& stream = inbox.streams[block.source];
    stream.whole.emplace(block.sequence, &block);
    for (auto next = stream.whole.find(stream.delivered); next != stream.whole.end();
         next = stream.whole.find(stream.delivered)) {
        ControlBlock& oldest = *next->second;
        stream.whole.erase(next);
        ++stream.delivered;
        deliver_next(inbox, oldest, outcome);
    }
}

void ReceiveQueue::deliver_next(Inbox& inbox, ControlBlock& block, Outcome& outcome) {
    if (runtime::Matched* const receive = inbox.receives.take(block.source, block.tag)) {
        hand_over(static_cast<Posted&>(*receive), std::move(block.message), outcome);
        release(block, outcome);
    } else {
        inbox.messages.put(block);
    }
    if (settings_.wake == DispatcherSettings::Wake::one) return;
    for (Posted* const waiting : awaited_) {
        waiting->awaited_ = false;
        outcome.woken.push_back(waiting);
    }
    awaited_.clear();
}

void ReceiveQueue::hand_over(Posted& receive, Arrival message, Outcome& outcome) {
    receive.message = std::move(message);
    if (settings_.wake == DispatcherSettings::Wake::all || !receive.awaited_) return;
    receive.awaited_ = false;
    outcome.woken.push_back(&receive);
}

// --- room

/// With those that are not made yet.
std::uint64_t ReceiveQueue::blocks_free() const {
    return unused_.size() + (settings_.control_blocks - blocks_.size());
}

/// There is one.
ReceiveQueue::ControlBlock& ReceiveQueue::take_free() {
    if (unused_.empty()) return *blocks_.emplace_back(std::make_unique<ControlBlock>());
    ControlBlock& block = *unused_.back();
    unused_.pop_back();
    return block;
}

void ReceiveQueue::release(ControlBlock& block, Outcome& outcome) {
    block.message = {};
    unused_.push_back(&block);
    offer(outcome);
}

void ReceiveQueue::refuse(ProcessId from, Outcome& outcome) {
    outcome.accepted = false;
    ++refused_;
    Source& source = sources_[from];
    ++source.refusals;
    if (!std::exchange(source.listed, true)) listed_.push_back(from);
}

/// Tells the next listed process of a free control block. `but`: not this one, which has just tried.
void ReceiveQueue::offer(Outcome& outcome, std::optional<ProcessId> but) {
    if (listed_.empty() || (but && listed_.size() == 1 && listed_.front() == *but)) return;
    if (but && listed_.front() == *but) {
        listed_.push_back(listed_.front());
        listed_.pop_front();
    }
    const ProcessId next = listed_.front();
    listed_.pop_front();
    listed_.push_back(next);
    outcome.rooms.push_back({next, {1}});
}

ReceiveQueue::Outcome ReceiveQueue::relieved(ProcessId from, const RelievedMessage& message) {
    Outcome outcome;
    const SpinLock::Guard guard(lock_);
    Source& source = sources_[from];
    if (source.listed && source.refusals == message.refusals) {
        source.listed = false;
        std::erase(listed_, from);
    }
    const auto unused = std::min<std::uint64_t>(message.blocks, blocks_free());
    for (std::uint64_t i = 0; i < unused; ++i) offer(outcome);
    return outcome;
}

// --- receives

ReceiveQueue::Outcome ReceiveQueue::begin(Posted& receive) {
    Outcome outcome;
    runtime::Match match;
    if (receive.filter.thread) match.source = runtime::key_of(address_of(*receive.filter.thread));
    match.tag = receive.filter.tag;
    const SpinLock::Guard guard(lock_);
    Inbox& inbox = inboxes_.at(receive.thread);
    if (runtime::Matched* const found = inbox.messages.find(match)) {
        auto& block = static_cast<ControlBlock&>(*found);
        inbox.messages.remove(block);
        receive.message = std::move(block.message);
        release(block, outcome);
    } else {
        inbox.receives.put(receive, match);
    }
    return outcome;
}

bool ReceiveQueue::has_come(const Posted& receive) const {
    const SpinLock::Guard guard(lock_);
    return receive.message.has_value();
}

bool ReceiveQueue::await(Posted& receive) {
    const SpinLock::Guard guard(lock_);
    if (receive.message) return true;
    receive.reset();
    receive.awaited_ = true;
    if (settings_.wake == DispatcherSettings::Wake::all)
        receive.place_ = awaited_.insert(awaited_.end(), &receive);
    return false;
}

void ReceiveQueue::give_up(Posted& receive) {
    const SpinLock::Guard guard(lock_);
    const auto inbox = inboxes_.find(receive.thread);
    if (inbox != inboxes_.end() && !receive.message) inbox->second.receives.remove(receive);
    if (std::exchange(receive.awaited_, false) && settings_.wake == DispatcherSettings::Wake::all)
        awaited_.erase(receive.place_);
}

std::uint64_t ReceiveQueue::refused() const {
    const SpinLock::Guard guard(lock_);
    return refused_;
}

std::uint64_t ReceiveQueue::blocks_used_max() const {
    const SpinLock::Guard guard(lock_);
    return blocks_used_max_;
}

}  // namespace heddle::messaging
