// Stores the events of one process until node 0 takes them, and pairs each receipt with its message.
#include "results/trace_parts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace heddle::results {

namespace {

constexpr std::size_t part_bytes = 1U << 20;

using Kind = TraceEvent::Kind;

constexpr std::array message_kinds = {Kind::send_begins, Kind::send_ends, Kind::receive_begins,
                                      Kind::receive_ends};

std::size_t index_of(Kind kind) {
    return static_cast<std::size_t>(std::find(message_kinds.begin(), message_kinds.end(), kind) -
                                    message_kinds.begin());
}

}  // namespace

void PartRecorder::begin(NodeId /*nodes*/, CoreId /*cores*/, std::function<Time()> /*settled*/) {}

void PartRecorder::add(TraceEvent event) {
    const runtime::SpinLock::Guard guard(lock_);
    if (!giving_) events_.push_back(event);
}

std::vector<std::byte> PartRecorder::take_part() {
    runtime::Writer writer;
    const runtime::SpinLock::Guard guard(lock_);
    giving_ = true;
    for (; !events_.empty() && writer.bytes().size() < part_bytes; events_.pop_front())
        events_.front().write(writer);
    return {writer.bytes().begin(), writer.bytes().end()};
}

void match_messages(std::vector<TraceEvent>& events) {
    /// Messages of equal size from one node to another.
    struct Class {
        std::array<std::uint64_t, message_kinds.size()> told{}, seen{};
        std::vector<std::uint64_t> bytes;  ///< of each message, which the sender alone knows
        std::uint64_t first = 0;           ///< the number of its first message
    };
    std::map<std::tuple<NodeId, NodeId, std::uint64_t>, Class> classes;
    const auto class_of = [&](const MessageNote& message) -> Class& {
        return classes[{message.from, message.to, message.number}];
    };
    for (const TraceEvent& event : events) {
        const std::size_t kind = index_of(event.kind);
        if (kind == message_kinds.size()) continue;
        const auto& message = std::get<MessageNote>(event.what);
        Class& same = class_of(message);
        ++same.told[kind];
        if (event.kind == Kind::send_begins) same.bytes.push_back(message.bytes);
    }
    std::map<NodeId, std::uint64_t> next;
    for (auto& [key, same] : classes) {
        std::uint64_t& number = next[std::get<0>(key)];
        same.first = number;
        number += same.bytes.size();
    }
    std::erase_if(events, [&](TraceEvent& event) {
        const std::size_t kind = index_of(event.kind);
        if (kind == message_kinds.size()) return false;
        auto& message = std::get<MessageNote>(event.what);
        Class& same = class_of(message);
        const std::uint64_t k = same.seen[kind]++;
        if (k >= *std::min_element(same.told.begin(), same.told.end())) return true;
        message.number = same.first + k;
        message.bytes = same.bytes[k];
        return false;
    });
}

}  // namespace heddle::results
