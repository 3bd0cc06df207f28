// The send queue of a process (the pCoR paper, section 5.2): fragments leave first in, first out. A message
// is found by its number when a fragment of it is acknowledged or refused.
//
// A process that has refused a fragment is *full*: fragments for it wait until it tells of room, then those
// of the oldest messages are sent. If it has acknowledged a fragment, the message has its control block, and
// its other fragments need not wait. A message within the process is one fragment, which takes no buffer.
//
// Invariant: a fragment takes a buffer from its departure to the first answer since. So if one comes twice,
// and is answered twice, the second answer frees no buffer, and a message has left once. Answers about
// messages that have left are late: they change nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/messaging/dispatcher_settings.hpp"
#include "model/messaging/fragment.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::messaging {

class SendQueue {
public:
    /// What the caller is to do when it has left the queue.
    struct Outcome {
        std::vector<Departure> departures;
        std::shared_ptr<Left> left;  ///< the message's last fragment was acknowledged
        bool again = false;          ///< an older message waits, for which there is room
        /// To be told to that process.
        std::optional<std::pair<ProcessId, RelievedMessage>> relieved;
    };

    SendQueue(ProcessId process, const DispatcherSettings& settings)
        : process_(process), settings_(settings), buffers_free_(settings.send_buffers) {}

    /// The header says all but the message's number, which the queue gives.
    Outcome put(ProcessId to, FragmentHeader header, Block data, std::shared_ptr<Left> left);

    /// Throws MalformedMessage, as `refused` does, if the fragment was never sent.
    Outcome acknowledged(FragmentId fragment);
    /// `by`: the process that it was sent to. `has_room`: because it was not its turn. `now`: the run's time.
    Outcome refused(ProcessId by, FragmentId fragment, bool has_room, Time now);

    /// When fragments for that process may be sent again: a while after the last refusal.
    Time retry_at(ProcessId to) const;
    /// It has room: sends what was refused of as many messages as it has blocks, the oldest first. Sets
    /// `relieved` if nothing for it waits then.
    Outcome room(ProcessId to, const RoomMessage& message, bool& relieved, RelievedMessage& answer);

    std::uint64_t fragments() const;

private:
    /// Of a fragment. One that was refused waits for room or is about to be sent again.
    enum class State : std::uint8_t { unsent, flying, refused, acknowledged };

    struct Message {
        ProcessId to = 0;
        FragmentHeader header;
        Block data;
        std::shared_ptr<Left> left;
        std::vector<State> states;           ///< of the fragments
        std::uint64_t missing = 0;           ///< not acknowledged
        bool accepted = false;               ///< it has a control block
        std::vector<std::uint32_t> waiting;  ///< fragments that a full process must make room for
    };
    struct Destination {
        bool full = false;
        std::set<std::uint64_t> waiting;  ///< messages with such fragments
        std::uint64_t refusals = 0;
        Time refused_at{};
        bool has_room = false;  ///< it has refused a message because one before it had not come
    };
    bool local(const Message& message) const { return message.to == process_; }
    Message* find(FragmentId fragment);
    bool follows_another(std::uint64_t number) const;
    void has_come_after_all(FragmentId fragment, Message& message, Outcome& outcome);
    void wait_for_room(Destination& to, std::uint64_t number, Message& message, std::uint32_t index);
    void send_again(Destination& to, std::uint64_t number);
    void dispatch(Outcome& outcome);
    void depart(FragmentId fragment, Message& message, Outcome& outcome);

    const ProcessId process_;
    const DispatcherSettings settings_;
    mutable runtime::SpinLock lock_;  ///< over all below
    std::uint32_t buffers_free_;
    std::uint64_t next_ = 1;
    std::map<std::uint64_t, Message> messages_;
    std::unordered_map<ProcessId, Destination> destinations_;
    std::deque<FragmentId> fragments_;
    std::deque<FragmentId> again_;  ///< before those, whether or not their process is full
    std::uint64_t sent_ = 0;
};

}  // namespace heddle::messaging
