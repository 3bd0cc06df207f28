#include "runtime/outbox.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "runtime/registry.hpp"

namespace heddle::runtime {

Handler::Handler(std::string handler_name, Kind kind, Run function)
    : name_(std::move(handler_name)), kind_(kind), run_(function) {
    Registry<Handler>::add(*this);
}

void number_handlers() {
    std::uint16_t next = 0;
    for (const Handler* handler : Registry<Handler>::sorted()) handler->id_ = next++;
}

const Handler* find_handler(std::uint16_t id) {
    const auto& handlers = Registry<Handler>::sorted();
    return id < handlers.size() ? handlers[id] : nullptr;
}

namespace {

/// Smaller bodies are copied into their messages: a copy costs less than a frame of their own.
constexpr std::size_t body_bytes_min = 8 << 10;

}  // namespace

Outbox::Outbox(Context& context, std::atomic<std::uint64_t>& work_sent, std::uint32_t aggregate_bytes)
    : context_(context), work_sent_(work_sent), aggregate_bytes_(aggregate_bytes) {}

Outbox::Gathering Outbox::take_gathering(NodeId to) {
    HEDDLE_ASSERT(to != context_.id.node);
    const auto found =
        std::find_if(open_.begin(), open_.end(), [to](const Gathering& one) { return one.to == to; });
    if (found == open_.end()) return {to, {}};
    Gathering gathering = std::move(*found);
    open_.erase(found);
    return gathering;
}

void Outbox::append(Bytes& bytes, const Handler& handler, std::span<const std::byte> message,
                    std::span<const std::byte> more) {
    const RecordHeader header{handler.id(), 0, static_cast<std::uint32_t>(message.size() + more.size())};
    // Appended, not resized and overwritten: of large data that would be written twice.
    const auto header_bytes = std::as_bytes(std::span(&header, 1));
    if (bytes.empty()) bytes.reserve(header_bytes.size() + message.size() + more.size());
    for (const auto part : {header_bytes, message, more}) bytes.insert(bytes.end(), part.begin(), part.end());
    // Counted before it can arrive, so that the end of the run is never seen too early.
    if (handler.makes_work()) work_sent_.fetch_add(1, std::memory_order_seq_cst);
    add(active_messages_, 1);
}

void Outbox::post(NodeId to, const Handler& handler, std::span<const std::byte> message, Urgency urgency,
                  std::span<const std::byte> more) {
    Gathering gathering = take_gathering(to);
    append(gathering.bytes, handler, message, more);
    if (urgency == Urgency::now || gathering.bytes.size() >= aggregate_bytes_) {
        send(std::move(gathering));
    } else {
        open_.push_back(std::move(gathering));
    }
}

void Outbox::post(NodeId to, const Handler& handler, std::span<const std::byte> message,
                  Enclosure enclosure) {
    Gathering gathering = take_gathering(to);
    if (enclosure.body && enclosure.body->size() < body_bytes_min) {
        append(gathering.bytes, handler, message, *enclosure.body);
        enclosure.body.reset();
    } else {
        append(gathering.bytes, handler, message, {});
    }
    send(std::move(gathering), std::move(enclosure));
}

void Outbox::flush() {
    // Sending may let others act, but nobody else uses this outbox, so `open_` changes here only.
    while (!open_.empty()) send(take_gathering(open_.back().to));
}

void Outbox::send(Gathering gathering, Enclosure enclosure) {
    add(messages_, 1);
    add(bytes_, gathering.bytes.size() + enclosure.size());
    context_.backend->send(context_, gathering.to, std::move(gathering.bytes), std::move(enclosure));
}

Counters Outbox::counters() const {
    Counters counters;
    counters.messages = messages_.load(std::memory_order_relaxed);
    counters.active_messages = active_messages_.load(std::memory_order_relaxed);
    counters.bytes = bytes_.load(std::memory_order_relaxed);
    counters.data_bytes = data_bytes_.load(std::memory_order_relaxed);
    return counters;
}

bool well_formed(std::span<const std::byte> message) {
    while (!message.empty()) {
        RecordHeader header;
        if (message.size() < sizeof header) return false;
        std::memcpy(&header, message.data(), sizeof header);
        message = message.subspan(sizeof header);
        if (header.bytes > message.size() || !find_handler(header.handler)) return false;
        message = message.subspan(header.bytes);
    }
    return true;
}

}  // namespace heddle::runtime
