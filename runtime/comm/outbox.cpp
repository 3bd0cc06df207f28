// Numbers the message handlers, gathers small messages to the same node, and hands messages to the backend.
#include "runtime/comm/outbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "runtime/comm/forwarding.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/readable.hpp"
#include "runtime/core/registry.hpp"

namespace heddle::runtime {

Handler::Handler(std::string handler_name, Kind kind, Run function, IfGone if_gone, Room room_for)
    : name_(std::move(handler_name)), kind_(kind), if_gone_(if_gone), run_(function), room_(room_for) {
    Registry<Handler>::add(*this);
}

void number_handlers() {
    Registry<Handler>::number([](const Handler& handler, std::uint32_t number) {
        handler.id_ = static_cast<std::uint16_t>(number);
    });
}

RecordHeader::RecordHeader(std::uint16_t handler, std::uint64_t bytes) : word_(bytes << 16 | handler) {
    HEDDLE_ASSERT(this->bytes() == bytes);
}

std::span<const Handler* const> all_handlers() {
    return Registry<Handler>::sorted();
}

namespace {

/// Returns the buffer of `bytes`. While `more` is read, which may lie in a page that is not here, `bytes` may
/// be moved with its buffer.
const std::byte* append_record(Bytes& bytes, const Handler& handler, std::span<const std::byte> message,
                               std::span<const std::byte> more) {
    const RecordHeader header(handler.id(), message.size() + more.size());
    const std::size_t end = bytes.size();
    bytes.resize(end + sizeof header + header.bytes());
    std::byte* const buffer = bytes.data();
    std::byte* const record = buffer + end;
    std::memcpy(record, &header, sizeof header);
    if (!message.empty()) std::memcpy(record + sizeof header, message.data(), message.size());
    if (!more.empty()) {
        // A fault runs other code of this thread, which the compiler does not know of.
        std::atomic_signal_fence(std::memory_order_seq_cst);
        std::memcpy(record + sizeof header + message.size(), more.data(), more.size());
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    return buffer;
}

}  // namespace

Outbox::Outbox(Context& context, Node& node)
    : context_(context),
      node_(node),
      forwarding_(node.forwarding()),
      members_(node.members()),
      work_sent_(node.termination().sent()),
      aggregate_bytes_(node.schedule().aggregate_bytes) {}

Bytes whole_message(const Handler& handler, std::span<const std::byte> message) {
    Bytes bytes;
    append_record(bytes, handler, message, {});
    return bytes;
}

std::vector<Outbox::Gathering>::iterator Outbox::gathering_for(NodeId to) {
    return std::find_if(open_.begin(), open_.end(), [to](const Gathering& one) { return one.to == to; });
}

Outbox::Gathering Outbox::take_gathering(NodeId to) {
    const auto found = gathering_for(to);
    if (found == open_.end()) return {to, context_.backend->buffer(context_)};
    return take(found);
}

Outbox::Gathering Outbox::take(std::vector<Gathering>::iterator found) {
    Gathering gathering = std::move(*found);
    open_.erase(found);
    return gathering;
}

void Outbox::append(Gathering& gathering, const Handler& handler, std::span<const std::byte> message,
                    std::span<const std::byte> more) {
    append_record(gathering.bytes, handler, message, more);
    count(gathering, handler);
}

void Outbox::count(Gathering& gathering, const Handler& handler) {
    ++gathering.counted;
    // Counted before it can arrive, so that the end of the run is never seen too early.
    if (handler.makes_work()) work_sent_.fetch_add(1, std::memory_order_seq_cst);
    add(active_messages_, 1);
}

/// Not counted among the messages between nodes.
void Outbox::post_here(const Handler& handler, std::span<const std::byte> message, Body body) {
    node_.deliver_here(context_, handler, message, std::move(body));
}

void Outbox::post(NodeId to, const Handler& handler, std::span<const std::byte> message, Urgency urgency,
                  std::span<const std::byte> more) {
    if (to == context_.id.node) {
        if (more.empty()) return post_here(handler, message, {});
        Bytes both(message.begin(), message.end());
        both.insert(both.end(), more.begin(), more.end());
        return post_here(handler, both, {});
    }
    if (!may_begin(to)) [[unlikely]] {
        if (more.empty()) return post_to_gone(to, handler, message, {});
        Bytes both(message.begin(), message.end());
        both.insert(both.end(), more.begin(), more.end());
        return post_to_gone(to, handler, both, {});
    }
    if (urgency == Urgency::now) {
        Gathering gathering = take_gathering(to);
        append(gathering, handler, message, more);
        return send(std::move(gathering));
    }
    // The node that was posted to last is flushed first, so it moves to the end.
    if (const auto found = gathering_for(to); found == open_.end()) {
        open_.push_back({to, context_.backend->buffer(context_)});
    } else if (found + 1 != open_.end()) {
        std::rotate(found, found + 1, open_.end());
    }
    // Invariant: a gathering whose record is being written is found for no node, so it is neither sent nor
    // added to. If `more` lies in a page that is not here, the request for the page uses this outbox, and so
    // does other code that this worker runs until the page comes.
    open_.back().to = being_written;
    const std::byte* const buffer = append_record(open_.back().bytes, handler, message, more);
    // Each gathering that was begun meanwhile lies behind it.
    if (open_.back().bytes.data() != buffer) [[unlikely]]
        used_meanwhile(to, buffer);
    open_.back().to = to;
    count(open_.back(), handler);
    if (open_.back().bytes.size() >= aggregate_bytes_) send(take_gathering(to));
}

/// Moves the gathering with that buffer to the end, and sends what was begun to its node meanwhile.
void Outbox::used_meanwhile(NodeId to, const std::byte* buffer) {
    if (gathering_for(to) != open_.end()) send(take_gathering(to));
    const auto found = std::find_if(open_.begin(), open_.end(),
                                    [buffer](const Gathering& one) { return one.bytes.data() == buffer; });
    open_.push_back(take(found));
}

void Outbox::post(NodeId to, const Handler& handler, std::span<const std::byte> message,
                  Enclosure enclosure) {
    if (to == context_.id.node) {
        if (enclosure.body && enclosure.body->size() < body_bytes_min)
            return post(to, handler, message, Urgency::now, *enclosure.body);
        // The handler's own, as if it had travelled.
        Body body;
        if (enclosure.body) body = std::make_shared<Bytes>(enclosure.body->begin(), enclosure.body->end());
        return post_here(handler, message, std::move(body));
    }
    if (!may_begin(to)) [[unlikely]]
        return post_to_gone(to, handler, message, std::move(enclosure));
    Gathering gathering = take_gathering(to);
    if (enclosure.body && enclosure.body->size() < body_bytes_min) {
        append(gathering, handler, message, *enclosure.body);
        enclosure.body.reset();
    } else {
        append(gathering, handler, message, {});
    }
    send(std::move(gathering), std::move(enclosure));
}

void Outbox::post_in_turn(NodeId to, const Handler& handler, std::span<const std::byte> message,
                          std::span<const std::byte> more, Enclosure enclosure) {
    HEDDLE_ASSERT(to != context_.id.node);
    if (!may_begin(to)) [[unlikely]] {
        Bytes both(message.begin(), message.end());
        both.insert(both.end(), more.begin(), more.end());
        return post_to_gone(to, handler, both, std::move(enclosure));
    }
    Gathering gathering = take_gathering(to);
    gathering.in_turn = true;
    append(gathering, handler, message, more);
    send(std::move(gathering), std::move(enclosure));
}

void Outbox::flush() {
    // Sending may let other contexts act, but they do not use this outbox, so `open_` changes here only.
    const auto last = [this] {
        return std::find_if(open_.rbegin(), open_.rend(),
                            [](const Gathering& one) { return one.to != being_written; });
    };
    for (auto found = last(); found != open_.rend(); found = last()) send(take(std::prev(found.base())));
}

void Outbox::post_over(Path path, NodeId to, const Handler& handler, std::span<const std::byte> message,
                       std::span<const std::byte> more, Enclosure enclosure) {
    Gathering alone{to, context_.backend->buffer(context_)};
    append(alone, handler, message, more);
    alone.counted = 0;
    hand_over(path, std::move(alone), std::move(enclosure));
}

void Outbox::post_last(NodeId to, const Handler& handler, std::span<const std::byte> message) {
    Gathering alone{to, context_.backend->buffer(context_)};
    append(alone, handler, message, {});
    alone.counted = 0;
    send(std::move(alone));
}

bool Outbox::may_begin(NodeId to) {
    return !members_ || members_->ways().begin(to);
}

void Outbox::post_to_gone(NodeId to, const Handler& handler, std::span<const std::byte> message,
                          Enclosure enclosure) {
    switch (handler.if_gone()) {
        case Handler::IfGone::drop:
            return;
        case Handler::IfGone::here:
            return post(context_.id.node, handler, message, std::move(enclosure));
        case Handler::IfGone::error:
            throw Error(
                fmt::format("node {} sends \"{}\" to node {}, which has not joined the run, or has left it",
                            context_.id.node, readable(handler.name()), to),
                "a program on nodes that change sends to members only (docs/members.md)");
    }
}

void Outbox::send(Gathering&& gathering, Enclosure&& enclosure) {
    Path path;
    if (forwarding_) [[unlikely]] {
        const NodeId to = gathering.to;
        if (forwarding_->takes(to)) {
            forwarding_->send(*this, to, std::move(gathering.bytes), std::move(enclosure));
            return note_sent(to, gathering.counted);
        }
        path = forwarding_->path(to);
    }
    path.in_turn = gathering.in_turn;
    hand_over(path, std::move(gathering), std::move(enclosure));
}

void Outbox::hand_over(Path path, Gathering&& gathering, Enclosure&& enclosure) {
    add(messages_, 1);
    add(bytes_, gathering.bytes.size() + enclosure.size());
    const NodeId to = gathering.to;
    context_.backend->send(context_, to, std::move(gathering.bytes), std::move(enclosure), path);
    note_sent(to, gathering.counted);
}

/// `counted`: active messages that Ways has let begin.
void Outbox::note_sent(NodeId to, std::uint32_t counted) {
    if (members_ && counted != 0 && members_->ways().end(to, counted)) [[unlikely]]
        members_->way_closed(*this, to);
}

Counters Outbox::counters() const {
    Counters counters;
    counters.messages = messages_.load(std::memory_order_relaxed);
    counters.active_messages = active_messages_.load(std::memory_order_relaxed);
    counters.bytes = bytes_.load(std::memory_order_relaxed);
    counters.data_bytes = data_bytes_.load(std::memory_order_relaxed);
    return counters;
}

bool well_formed(std::span<const std::byte> message, std::size_t handlers) {
    while (!message.empty()) {
        RecordHeader header;
        if (message.size() < sizeof header) return false;
        std::memcpy(&header, message.data(), sizeof header);
        message = message.subspan(sizeof header);
        if (header.bytes() > message.size() || header.handler() >= handlers) return false;
        message = message.subspan(header.bytes());
    }
    return true;
}

}  // namespace heddle::runtime
