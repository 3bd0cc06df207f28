// The messages and receives that wait at an endpoint.
#include <algorithm>
#include <memory>
#include <utility>

#include "runtime/comm/endpoints.hpp"

namespace heddle::runtime {

void Endpoint::State::put_early(Inbound& from, Message&& message) {
    const std::uint64_t sequence = message.sequence;
    from.early.emplace(sequence, std::move(message));
}

/// Those that waited for the one before them.
void Endpoint::State::deliver_early(Inbound& from, Woken& woken) {
    for (;;) {
        const auto next = from.early.begin();
        if (next == from.early.end() || next->first != from.expected) return;
        Message message = std::move(next->second);
        from.early.erase(next);
        deliver(from, message, moved_from(message), woken);
    }
}

void Endpoint::State::put(Message&& message) {
    if (spare.empty()) {
        messages.put(*new Arrived(std::move(message)));
        return;
    }
    Arrived& arrived = *spare.back().release();
    spare.pop_back();
    arrived.source = message.source;
    arrived.tag = message.tag;
    arrived.message = std::move(message);
    messages.put(arrived);
}

void Endpoint::State::put_away(Arrived& taken) {
    constexpr std::size_t spare_max = 16;
    std::unique_ptr<Arrived> owned(&taken);
    if (spare.size() < spare_max) spare.push_back(std::move(owned));
}

std::vector<Message> Endpoint::State::take_all() {
    std::vector<Message> all;
    while (Arrived* const arrived = take({})) {
        all.push_back(std::move(arrived->message));
        put_away(*arrived);
    }
    const auto in_order = static_cast<std::ptrdiff_t>(all.size());
    exchanged.inbound.each([&](Inbound& from) {
        if (from.early.empty()) return;
        from.expected = from.early.rbegin()->first + 1;
        for (auto& [sequence, message] : from.early) all.push_back(std::move(message));
        from.early.clear();
    });
    std::sort(all.begin() + in_order, all.end(), [](const Message& a, const Message& b) {
        return std::pair(a.source, a.sequence) < std::pair(b.source, b.sequence);
    });
    return all;
}

}  // namespace heddle::runtime
