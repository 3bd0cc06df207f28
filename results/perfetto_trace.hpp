// Writes a trace in Perfetto's format. A node is a process, a worker a thread; tasks and the sender and
// receiver modules have tracks. Slices show states, tasks and messages; a flow joins each sending to its
// delivery. Times are rounded down to nanoseconds, because the format has no finer unit.
#pragma once

#include <string>
#include <unordered_map>

#include "results/protobuf_message.hpp"
#include "results/trace_format.hpp"

namespace heddle::results {

class PerfettoTrace final : public TraceFormat {
public:
    explicit PerfettoTrace(TraceSink& sink) : sink_(sink) {}

    void begin(NodeId nodes, CoreId cores) override;
    void state(WorkerId worker, Activity activity, Time time, bool first) override;
    void send_begins(const MessageNote& message, Time time) override;
    void send_ends(const MessageNote& message, Time time) override;
    void receive_begins(const MessageNote& message, Time time) override;
    void receive_ends(const MessageNote& message, Time time) override;
    void task_begins(const TracedTask& task) override;
    void task_pauses(const TracedTask& task, Time time) override;
    void task_goes_on(const TracedTask& task, Time time) override;
    void task_ends(const TracedTask& task, const TaskWork& work, Time time) override;
    void states_end(Time time) override;

private:
    enum class Module : std::uint8_t { sender = 1, receiver = 2 };

    // Every node has two numbers for each worker, one for each module, and its own. None is zero.
    std::uint64_t number_of(NodeId node) const { return std::uint64_t{node} * (2ULL * cores_ + 3) + 1; }
    std::uint64_t number_of(WorkerId worker) const { return number_of(worker.node) + 1 + worker.core; }
    std::uint64_t number_of(NodeId node, Module module) const {
        return number_of(node) + cores_ + static_cast<std::uint64_t>(module);
    }
    std::uint64_t number_of_tasks(WorkerId worker) const {
        return number_of(worker.node) + cores_ + 3ULL + worker.core;
    }

    void describe(NodeId node);
    void begin_slice(std::uint64_t track, std::uint64_t name);
    void begin_message(std::uint64_t track, const MessageNote& message, NodeId peer);
    void end_slice(std::uint64_t track, Time time);
    std::uint64_t kernel_name(const std::string& kernel);
    void write_event(Time time);
    void write_packet(ProtobufMessage& packet);

    TraceSink& sink_;
    NodeId nodes_ = 0;
    CoreId cores_ = 0;
    std::unordered_map<std::string, std::uint64_t> kernels_;  ///< interned names
    ProtobufMessage event_, packet_, framed_;                 // kept for their memory
};

}  // namespace heddle::results
