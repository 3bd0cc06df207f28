// Packs an event of a trace into bytes, reads it back with checks, and turns a recorder's calls into events.
#include "results/trace_event.hpp"

namespace heddle::results {

void TraceEvent::write(runtime::Writer& writer) const {
    writer.put(time).put(worker.core).put(kind);
    std::visit([&](const auto& value) { writer.put(value); }, what);
}

std::optional<TraceEvent> TraceEvent::read(runtime::Reader& reader, NodeId node, NodeId nodes, CoreId cores) {
    TraceEvent event;
    event.time = reader.get<Time>();
    event.worker = {node, reader.get<CoreId>()};
    event.kind = reader.get<Kind>();
    bool valid = event.time >= Time::zero() && event.worker.core < cores;
    switch (event.kind) {
        case Kind::state: {
            const auto activity = reader.get<Activity>();
            valid = valid && static_cast<std::size_t>(activity) < all_activities.size();
            event.what = activity;
            break;
        }
        case Kind::send_begins:
        case Kind::send_ends:
        case Kind::receive_begins:
        case Kind::receive_ends: {
            const auto message = reader.get<MessageNote>();
            const bool sends = event.kind == Kind::send_begins || event.kind == Kind::send_ends;
            valid = valid && message.from < nodes && message.to < nodes &&
                    (sends ? message.from : message.to) == node;
            event.what = message;
            break;
        }
        case Kind::task_ready:
        case Kind::task_begins:
        case Kind::strand_enters:
        case Kind::strand_leaves:
            event.what = reader.get<TaskNote>();
            break;
        case Kind::task_ends:
            event.what = reader.get<TaskWork>();
            break;
        default:
            return std::nullopt;
    }
    return valid && reader.ok() ? std::optional(event) : std::nullopt;
}

void EventRecorder::entered(WorkerId worker, Activity activity, Time time) {
    add({time, 0, worker, TraceEvent::Kind::state, activity});
}

void EventRecorder::sending(const MessageNote& message, Time begin, Time end) {
    add({begin, 0, {message.from, 0}, TraceEvent::Kind::send_begins, message});
    add({end, 0, {message.from, 0}, TraceEvent::Kind::send_ends, message});
}

void EventRecorder::receiving(const MessageNote& message, Time begin) {
    add({begin, 0, {message.to, 0}, TraceEvent::Kind::receive_begins, message});
}

void EventRecorder::delivered(const MessageNote& message, Time end) {
    add({end, 0, {message.to, 0}, TraceEvent::Kind::receive_ends, message});
}

void EventRecorder::task_ready(NodeId node, std::uint64_t number, Time time) {
    add({time, 0, {node, 0}, TraceEvent::Kind::task_ready, TaskNote{.number = number}});
}

void EventRecorder::task_began(WorkerId worker, const TaskNote& task, Time time) {
    add({time, 0, worker, TraceEvent::Kind::task_begins, task});
}

void EventRecorder::task_ended(WorkerId worker, const TaskWork& work, Time time) {
    add({time, 0, worker, TraceEvent::Kind::task_ends, work});
}

void EventRecorder::strand_entered(WorkerId worker, std::uint64_t number, Time time) {
    add({time, 0, worker, TraceEvent::Kind::strand_enters, TaskNote{.number = number}});
}

void EventRecorder::strand_left(WorkerId worker, std::uint64_t number, Time time) {
    add({time, 0, worker, TraceEvent::Kind::strand_leaves, TaskNote{.number = number}});
}

}  // namespace heddle::results
