// Writes a trace in the Paje format (Schnorr: "Paje trace file format", version 1.2.5), which ViTE, pj_dump
// and other viewers read. Each node, worker and module is a container; states and tasks are Paje states, and
// each message is a link. Times are exact to the picosecond.
#pragma once

#include <string>
#include <unordered_map>

#include "results/trace_format.hpp"

namespace heddle::results {

class PajeTrace final : public TraceFormat {
public:
    explicit PajeTrace(TraceSink& sink) : sink_(sink) {}

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
    void end(Time time) override;

private:
    TraceSink& sink_;
    NodeId nodes_ = 0;
    CoreId cores_ = 0;
    std::unordered_map<std::string, std::string> kernels_;  ///< aliases
};

}  // namespace heddle::results
