// The interface of trace formats. A format is given the run's states, messages and tasks in the order of
// time, and turns them into bytes. It stores no events and opens no files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/activity.hpp"
#include "base/ids.hpp"
#include "base/recorder.hpp"
#include "base/time.hpp"

namespace heddle::results {

/// Where a format's bytes go.
class TraceSink {
public:
    virtual ~TraceSink() = default;
    virtual void write(const std::string& bytes) = 0;
};

/// A task that runs. `note.ready` is `never` if it is not known.
struct TracedTask {
    TaskNote note;
    WorkerId worker;  ///< that runs it, or ran it last
    Time begin{};
    std::string kernel;              ///< the kind of work; the task type's name if the program names none
    std::string name;                ///< of this very task, if it has one
    std::optional<WorkerId> placed;  ///< where it was placed before the run
    std::vector<std::uint64_t> predecessors = {};  ///< in the task graph

    bool numbered() const { return note.number != TaskNote::no_number; }
    bool stolen() const { return note.victim.node != TaskNote::nowhere; }
};

/// `node 1 worker 2`, or the node alone if the worker is not known.
std::string show_worker(WorkerId worker);

/// Called with times that do not go back, but for tasks that are cut off. A module works on one message at a
/// time. The tasks of a worker nest, because one whose strand waits pauses, and goes on later, maybe on
/// another worker.
class TraceFormat {
public:
    virtual ~TraceFormat() = default;

    virtual void begin(NodeId /*nodes*/, CoreId /*cores*/) {}
    /// `first`: this worker did nothing before.
    virtual void state(WorkerId /*worker*/, Activity /*activity*/, Time /*time*/, bool /*first*/) {}
    virtual void send_begins(const MessageNote& /*message*/, Time /*time*/) {}
    virtual void send_ends(const MessageNote& /*message*/, Time /*time*/) {}
    virtual void receive_begins(const MessageNote& /*message*/, Time /*time*/) {}
    virtual void receive_ends(const MessageNote& /*message*/, Time /*time*/) {}
    virtual void task_begins(const TracedTask& /*task*/) {}
    virtual void task_pauses(const TracedTask& /*task*/, Time /*time*/) {}
    virtual void task_goes_on(const TracedTask& /*task*/, Time /*time*/) {}
    virtual void task_ends(const TracedTask& /*task*/, const TaskWork& /*work*/, Time /*time*/) {}
    /// The run has ended at `time`, while the task ran or waited. Called after all events, in no order of
    /// time.
    virtual void task_cut_off(const TracedTask& /*task*/, Time /*time*/) {}
    /// All workers' last states end. Messages may still come.
    virtual void states_end(Time /*time*/) {}
    virtual void end(Time /*time*/) {}
};

/// The format that a file of this name has, by the end of the name: `.pftrace` (Perfetto), `.paje` and
/// `.trace` (Paje), each with or without `.gz`. Throws Error for other names.
std::unique_ptr<TraceFormat> make_trace_format(const std::string& path, TraceSink& sink);

/// Whether the name says that the file is compressed.
bool is_compressed(const std::string& path);

}  // namespace heddle::results
