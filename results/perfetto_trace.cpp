// Writes a trace as Perfetto's messages: tracks first, then slices and flows.
#include "results/perfetto_trace.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace heddle::results {

namespace {

/// Numbers of fields and enumerators in Perfetto's public protos/perfetto/trace/*.proto.
namespace trace {
constexpr std::uint32_t packet = 1;
}
namespace packet {
constexpr std::uint32_t timestamp = 8, sequence_id = 10, track_event = 11, interned_data = 12,
                        sequence_flags = 13, track_descriptor = 60;
constexpr std::uint64_t state_cleared = 1, needs_state = 2;
}  // namespace packet
namespace event {
constexpr std::uint32_t type = 9, name_iid = 10, track_uuid = 11, flow_ids = 47, terminating_flow_ids = 48,
                        debug_annotations = 4;
constexpr std::uint64_t slice_begin = 1, slice_end = 2;
}  // namespace event
namespace annotation {
constexpr std::uint32_t name_iid = 1, uint_value = 3, double_value = 5, string_value = 6;
}
namespace interned {
constexpr std::uint32_t event_names = 2, debug_annotation_names = 3, iid = 1, name = 2;
}
namespace track {
constexpr std::uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent_uuid = 5;
constexpr std::uint32_t process_pid = 1, process_name = 6;
constexpr std::uint32_t thread_pid = 1, thread_tid = 2, thread_name = 5;
}  // namespace track

constexpr std::uint64_t sequence = 1;  ///< one writer

// Names by number: those of the activities are their own, and one more.
constexpr std::uint64_t name_of(Activity activity) {
    return static_cast<std::uint64_t>(activity) + 1;
}
constexpr std::uint64_t message_name = all_activities.size() + 1;
// Names of annotations.
constexpr std::uint64_t bytes_name = 1, peer_name = 2, task_name = 3, label_name = 4, placed_name = 5,
                        stolen_name = 6, ready_name = 7, flops_name = 8, memory_name = 9;
constexpr std::array annotation_names = {
    std::pair(bytes_name, "bytes"),         std::pair(peer_name, "other node"),
    std::pair(task_name, "task"),           std::pair(label_name, "name"),
    std::pair(placed_name, "placed on"),    std::pair(stolen_name, "stolen from"),
    std::pair(ready_name, "ready seconds"), std::pair(flops_name, "flops"),
    std::pair(memory_name, "memory bytes"),
};

std::uint64_t nanoseconds(Time time) {
    return static_cast<std::uint64_t>(time.count() / 1000);
}

std::uint64_t flow_of(const MessageNote& message) {
    return (std::uint64_t{message.from} + 1) << 40 | message.number;
}

ProtobufMessage named(std::uint64_t number, std::string_view text) {
    return ProtobufMessage().number(interned::iid, number).text(interned::name, text);
}

ProtobufMessage annotated(std::uint64_t name, std::uint64_t value) {
    return ProtobufMessage().number(annotation::name_iid, name).number(annotation::uint_value, value);
}

ProtobufMessage annotated(std::uint64_t name, double value) {
    return ProtobufMessage().number(annotation::name_iid, name).real(annotation::double_value, value);
}

ProtobufMessage annotated(std::uint64_t name, const std::string& value) {
    return ProtobufMessage().number(annotation::name_iid, name).text(annotation::string_value, value);
}

}  // namespace

void PerfettoTrace::begin(NodeId nodes, CoreId cores) {
    nodes_ = nodes;
    cores_ = cores;
    ProtobufMessage names;
    for (const Activity activity : all_activities)
        names.message(interned::event_names, named(name_of(activity), name(activity)));
    names.message(interned::event_names, named(message_name, "message"));
    for (const auto& [number, text] : annotation_names)
        names.message(interned::debug_annotation_names, named(number, text));
    ProtobufMessage first;
    first.number(packet::sequence_flags, packet::state_cleared).message(packet::interned_data, names);
    write_packet(first);
    for (NodeId node = 0; node < nodes; ++node) describe(node);
}

void PerfettoTrace::describe(NodeId node) {
    const auto write = [this](const ProtobufMessage& descriptor) {
        ProtobufMessage whole;
        whole.message(packet::track_descriptor, descriptor);
        write_packet(whole);
    };
    const std::uint64_t pid = number_of(node);
    ProtobufMessage process;
    process.number(track::process_pid, pid).text(track::process_name, fmt::format("node {}", node));
    write(ProtobufMessage().number(track::uuid, pid).message(track::process, process));
    for (CoreId core = 0; core < cores_; ++core) {
        const std::uint64_t tid = number_of(WorkerId{node, core});
        ProtobufMessage thread;
        thread.number(track::thread_pid, pid)
            .number(track::thread_tid, tid)
            .text(track::thread_name, fmt::format("worker {}", core));
        write(ProtobufMessage().number(track::uuid, tid).message(track::thread, thread));
        write(ProtobufMessage()
                  .number(track::uuid, number_of_tasks({node, core}))
                  .number(track::parent_uuid, tid)
                  .text(track::name, fmt::format("worker {} tasks", core)));
    }
    for (const auto& [module, text] :
         {std::pair(Module::sender, "sender"), std::pair(Module::receiver, "receiver")}) {
        write(ProtobufMessage()
                  .number(track::uuid, number_of(node, module))
                  .number(track::parent_uuid, pid)
                  .text(track::name, text));
    }
}

void PerfettoTrace::state(WorkerId worker, Activity activity, Time time, bool first) {
    if (!first) end_slice(number_of(worker), time);
    begin_slice(number_of(worker), name_of(activity));
    write_event(time);
}

void PerfettoTrace::states_end(Time time) {
    for (NodeId node = 0; node < nodes_; ++node) {
        for (CoreId core = 0; core < cores_; ++core) end_slice(number_of(WorkerId{node, core}), time);
    }
}

void PerfettoTrace::send_begins(const MessageNote& message, Time time) {
    begin_message(number_of(message.from, Module::sender), message, message.to);
    event_.fixed64(event::flow_ids, flow_of(message));
    write_event(time);
}

void PerfettoTrace::send_ends(const MessageNote& message, Time time) {
    end_slice(number_of(message.from, Module::sender), time);
}

void PerfettoTrace::receive_begins(const MessageNote& message, Time time) {
    begin_message(number_of(message.to, Module::receiver), message, message.from);
    event_.fixed64(event::terminating_flow_ids, flow_of(message));
    write_event(time);
}

void PerfettoTrace::receive_ends(const MessageNote& message, Time time) {
    end_slice(number_of(message.to, Module::receiver), time);
}

void PerfettoTrace::task_begins(const TracedTask& task) {
    task_goes_on(task, task.begin);
}

void PerfettoTrace::task_pauses(const TracedTask& task, Time time) {
    end_slice(number_of_tasks(task.worker), time);
}

void PerfettoTrace::task_goes_on(const TracedTask& task, Time time) {
    const std::uint64_t kernel = kernel_name(task.kernel);
    begin_slice(number_of_tasks(task.worker), kernel);
    const auto annotate = [this](std::uint64_t name, const auto& value) {
        event_.message(event::debug_annotations, annotated(name, value));
    };
    if (task.numbered()) annotate(task_name, task.note.number);
    if (!task.name.empty()) annotate(label_name, task.name);
    if (task.placed) annotate(placed_name, show_worker(*task.placed));
    if (task.stolen()) annotate(stolen_name, show_worker(task.note.victim));
    if (task.note.ready != never) annotate(ready_name, to_seconds(task.note.ready));
    write_event(time);
}

void PerfettoTrace::task_ends(const TracedTask& task, const TaskWork& work, Time time) {
    event_.clear();
    event_.number(event::type, event::slice_end).number(event::track_uuid, number_of_tasks(task.worker));
    if (work.flops != 0) event_.message(event::debug_annotations, annotated(flops_name, work.flops));
    if (work.bytes != 0) event_.message(event::debug_annotations, annotated(memory_name, work.bytes));
    write_event(time);
}

/// A kernel's name is written with its first task.
std::uint64_t PerfettoTrace::kernel_name(const std::string& kernel) {
    const auto [entry, is_new] = kernels_.try_emplace(kernel, message_name + 1 + kernels_.size());
    if (is_new) {
        ProtobufMessage names;
        names.message(interned::event_names, named(entry->second, kernel));
        ProtobufMessage whole;
        whole.number(packet::sequence_flags, packet::needs_state).message(packet::interned_data, names);
        write_packet(whole);
    }
    return entry->second;
}

void PerfettoTrace::begin_message(std::uint64_t track, const MessageNote& message, NodeId peer) {
    begin_slice(track, message_name);
    event_.message(event::debug_annotations, annotated(bytes_name, message.bytes));
    event_.message(event::debug_annotations, annotated(peer_name, std::uint64_t{peer}));
}

void PerfettoTrace::begin_slice(std::uint64_t track, std::uint64_t name) {
    event_.clear();
    event_.number(event::type, event::slice_begin)
        .number(event::track_uuid, track)
        .number(event::name_iid, name);
}

void PerfettoTrace::end_slice(std::uint64_t track, Time time) {
    event_.clear();
    event_.number(event::type, event::slice_end).number(event::track_uuid, track);
    write_event(time);
}

void PerfettoTrace::write_event(Time time) {
    packet_.clear();
    packet_.number(packet::timestamp, nanoseconds(time))
        .number(packet::sequence_flags, packet::needs_state)
        .message(packet::track_event, event_);
    write_packet(packet_);
}

void PerfettoTrace::write_packet(ProtobufMessage& whole) {
    whole.number(packet::sequence_id, sequence);
    framed_.clear();
    sink_.write(framed_.message(trace::packet, whole).bytes());
}

}  // namespace heddle::results
