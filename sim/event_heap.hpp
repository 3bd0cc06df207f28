// The events of one simulated machine, earliest first. Their order follows from time, kind, source node and
// number at the source, never from the order of insertion. It only sorts events; it does not run them.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace heddle::sim {

/// In the order in which events of one time happen.
enum class EventKind : std::uint32_t {
    stop,       ///< the machine stops; it goes on by itself
    arrival,    ///< a message reaches the node
    delivery,   ///< the receiver module has paid for a message
    nap,        ///< the receiver module has left messages to a worker, and looks now
    memory,     ///< the memory has served a worker's bytes
    disk,       ///< the disk has served a call
    resume,     ///< a worker goes on
    deadline,   ///< a parked worker's deadline
    cores,      ///< the cores of a node have served a worker's flops, where a polling receiver takes one
    sending,    ///< a sender module takes the messages that wait for a node
    departure,  ///< a message will leave for another machine, the time that sending takes from now
    leave       ///< a node is asked to leave the run
};

struct Event {
    Time time{};
    std::uint64_t order = 0;     ///< kind and source
    std::uint64_t sequence = 0;  ///< number of the event at its source
    union {
        void* subject = nullptr;  ///< worker or message
        std::uint64_t number;     ///< of an event of memory or cores: its round
    };

    Event() = default;
    Event(Time at, EventKind kind, NodeId source, std::uint64_t number_at_source, void* what)
        : time(at),
          order(std::uint64_t{static_cast<std::uint32_t>(kind)} << 32 | source),
          sequence(number_at_source),
          subject(what) {}

    NodeId source() const { return static_cast<NodeId>(order); }
    EventKind kind() const { return static_cast<EventKind>(order >> 32); }

    bool before(const Event& other) const { return before(time, order, sequence, other); }

    /// Whether an event of these numbers comes before `other`.
    static bool before(Time time, std::uint64_t order, std::uint64_t sequence, const Event& other) {
        if (time != other.time) return time < other.time;
        if (order != other.order) return order < other.order;
        return sequence < other.sequence;
    }
};

class EventHeap {
public:
    bool empty() const { return events_.empty(); }
    const Event& top() const { return events_.front(); }
    const void* memory() const { return events_.data(); }
    /// Up to `count` of the first ones, in no particular order.
    std::span<const Event> first(std::size_t count) const {
        return std::span(events_).first(std::min(count, events_.size()));
    }
    Time next_time() const { return events_.empty() ? never : events_.front().time; }

    [[gnu::always_inline]] void push(const Event& event) {
        const Numbers numbers(event);
        std::size_t hole = events_.size();
        events_.emplace_back();
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / 2;
            if (!numbers.before(events_[parent])) break;
            events_[hole] = events_[parent];
            hole = parent;
        }
        numbers.put(events_[hole]);
    }

    Event pop() {
        const Event first = events_.front();
        const Numbers last(events_.back());
        events_.pop_back();
        if (!events_.empty()) sink(last);
        return first;
    }

    /// Pushes `event` and pops the first, in one go. The heap is not empty.
    [[gnu::always_inline]] Event push_pop(const Event& event) {
        const Event first = events_.front();
        if (event.before(first)) return event;
        sink(Numbers(event));
        return first;
    }

private:
    /// An event in registers. Its numbers may just have been written one by one: a processor that then reads
    /// them by pairs, as a copy of the whole does, waits until they are in its cache.
    struct Numbers {
        explicit Numbers(const Event& event)
            : time(event.time), order(event.order), sequence(event.sequence), subject(event.subject) {}
        bool before(const Event& other) const { return Event::before(time, order, sequence, other); }
        void put(Event& event) const {
            event.time = time;
            event.order = order;
            event.sequence = sequence;
            event.subject = subject;
        }
        Time time;
        std::uint64_t order;
        std::uint64_t sequence;
        void* subject;
    };

    /// Puts `event` where the first one was.
    [[gnu::always_inline]] void sink(Numbers event) {
        const std::size_t size = events_.size();
        std::size_t hole = 0;
        for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
            if (child + 1 < size && events_[child + 1].before(events_[child])) ++child;
            if (event.before(events_[child])) break;
            events_[hole] = events_[child];
            hole = child;
        }
        event.put(events_[hole]);
    }

    std::vector<Event> events_;
};

}  // namespace heddle::sim
