// The receive queue of a process (the pCoR paper, section 5.1). It has a bounded number of control blocks for
// the messages to all its threads, found by source, target and tag. A control block has the map of its
// fragments.
//
// Invariants. A message gets a control block only after the one before it from the same thread to the same
// thread: so those that wait for room never have one behind them that has it. A process whose fragment was
// refused is listed until it tells that nothing of it waits any more, and each block that becomes free is
// told to a listed one. A process that uses such a block too early, for a later message, is told so.
//
// A fragment that has come before is accepted again, so that it is acknowledged again, and changes nothing:
// its message has a control block where the fragment is noted, or is not later than the last one from its
// thread that had a block, and then it came whole.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/messaging/dispatcher_settings.hpp"
#include "model/messaging/fragment.hpp"
#include "runtime/comm/match_table.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::messaging {

class ReceiveQueue {
public:
    /// A receive of one thread. Completed where a thread waits for it.
    struct Posted final : runtime::Matched, runtime::Event {
        std::string what() const override;

        From filter;
        std::uint32_t thread = 0;
        std::optional<Arrival> message;

    private:
        friend class ReceiveQueue;
        bool awaited_ = false;
        std::list<Posted*>::iterator place_;
    };

    /// What the caller is to do when it has left the queue.
    struct Outcome {
        bool accepted = true;
        bool has_room = false;  ///< if not: only because a message before it has no control block yet
        std::vector<Posted*> woken;
        std::vector<std::pair<ProcessId, RoomMessage>> rooms;
    };

    ReceiveQueue(ProcessId process, const DispatcherSettings& settings);
    ~ReceiveQueue();
    ReceiveQueue(const ReceiveQueue&) = delete;
    ReceiveQueue& operator=(const ReceiveQueue&) = delete;

    void open(std::uint32_t thread);
    /// Its messages that were not received are dropped.
    Outcome close(std::uint32_t thread);

    /// A fragment, or from this process a whole message. Throws Error if its thread has ended, and
    /// MalformedMessage if it does not fit to its message.
    Outcome admit(ProcessId from, const FragmentHeader& header, runtime::Parcel data);

    /// Process `from` has nothing left that was refused.
    Outcome relieved(ProcessId from, const RelievedMessage& message);

    Outcome begin(Posted& receive);
    /// Whether its message has come whole. If not, the receive is completed once it is worth asking again.
    bool await(Posted& receive);
    bool has_come(const Posted& receive) const;
    void give_up(Posted& receive);

    std::uint64_t refused() const;
    std::uint64_t blocks_used_max() const;

private:
    struct ControlBlock;
    /// The messages of one thread to another.
    struct Stream {
        std::uint32_t expected = 0;                    ///< sequence of the next that gets a control block
        std::uint32_t delivered = 0;                   ///< and of the next that receives may take
        std::map<std::uint32_t, ControlBlock*> whole;  ///< those that wait for one before them
    };
    struct Inbox {
        runtime::Messages messages;
        runtime::Receives receives;
        std::unordered_map<std::uint64_t, Stream> streams;  ///< by source
    };
    using Expected = std::unordered_map<std::uint64_t, std::uint32_t>;  ///< Stream::expected, by source

    struct Source {
        std::uint64_t refusals = 0;
        bool listed = false;
    };

    Inbox& inbox_of(std::uint32_t thread, runtime::Address from, Tag tag);
    bool came_before_end(std::uint64_t source, const FragmentHeader& header) const;
    ControlBlock* block_for(ProcessId from, const FragmentHeader& header, Outcome& outcome, bool& has_come);
    bool put(ControlBlock& block, const FragmentHeader& header, runtime::Parcel data) const;
    void deliver(ControlBlock& block, Outcome& outcome);
    void deliver_next(Inbox& inbox, ControlBlock& block, Outcome& outcome);
    void hand_over(Posted& receive, Arrival message, Outcome& outcome);
    std::uint64_t blocks_free() const;
    ControlBlock& take_free();
    void release(ControlBlock& block, Outcome& outcome);
    void refuse(ProcessId from, Outcome& outcome);
    void offer(Outcome& outcome, std::optional<ProcessId> but = std::nullopt);

    const ProcessId process_;
    const DispatcherSettings settings_;
    mutable runtime::SpinLock lock_;                     ///< over all below
    std::vector<std::unique_ptr<ControlBlock>> blocks_;  ///< each made when no other one is free
    std::vector<ControlBlock*> unused_;
    std::unordered_map<std::uint32_t, Inbox> inboxes_;  ///< by thread
    /// Of the threads that ended last, for fragments that come twice. Later ones would be an error.
    std::deque<std::pair<std::uint32_t, Expected>> ended_;
    /// Those that have not come whole, by the process and number of their message.
    std::unordered_map<ProcessId, std::unordered_map<std::uint64_t, ControlBlock*>> coming_;
    std::unordered_map<ProcessId, Source> sources_;
    std::deque<ProcessId> listed_;
    std::list<Posted*> awaited_;  ///< with Wake::all: in the order in which they wait
    std::uint64_t refused_ = 0;
    std::uint64_t blocks_used_max_ = 0;
};

}  // namespace heddle::messaging
