// An event of a recorded run as a plain value, which can be stored, sorted and sent to another process.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "base/recorder.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::results {

struct TraceEvent {
    enum class Kind : std::uint8_t {
        state,
        send_begins,
        send_ends,
        receive_begins,
        receive_ends,
        task_ready,
        task_begins,
        task_ends,
        strand_enters,
        strand_leaves,
    };

    Time time{};
    std::uint64_t number = 0;  ///< of the node's events, in the order in which they were told
    WorkerId worker;           ///< for messages and ready tasks the node alone matters
    Kind kind = Kind::state;
    /// By kind: Activity; MessageNote; TaskNote for ready and beginning tasks and, of which the number
    /// alone matters, for strands; TaskWork.
    std::variant<Activity, MessageNote, TaskNote, TaskWork> what;

    /// All but the node and the number.
    void write(runtime::Writer& writer) const;
    /// Nothing if the bytes are malformed, or name what a run of that size does not have.
    static std::optional<TraceEvent> read(runtime::Reader& reader, NodeId node, NodeId nodes, CoreId cores);
};

/// A recorder that makes an event of every call.
class EventRecorder : public Recorder {
public:
    void entered(WorkerId worker, Activity activity, Time time) override;
    void sending(const MessageNote& message, Time begin, Time end) override;
    void receiving(const MessageNote& message, Time begin) override;
    void delivered(const MessageNote& message, Time end) override;
    void task_ready(NodeId node, std::uint64_t number, Time time) override;
    void task_began(WorkerId worker, const TaskNote& task, Time time) override;
    void task_ended(WorkerId worker, const TaskWork& work, Time time) override;
    void strand_entered(WorkerId worker, std::uint64_t number, Time time) override;
    void strand_left(WorkerId worker, std::uint64_t number, Time time) override;

protected:
    /// Several threads may call it.
    virtual void add(TraceEvent event) = 0;
};

}  // namespace heddle::results
