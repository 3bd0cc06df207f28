// Records a run in files while it runs: a trace, a table of tasks, or both. Events of a node are stored until
// all earlier ones have come, then sorted and given to the formats, which write them. No format is known
// here.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "results/trace_event.hpp"
#include "results/trace_file.hpp"
#include "results/trace_format.hpp"
#include "runtime/core/spin_lock.hpp"
#include "workloads/workload.hpp"

namespace heddle::results {

class TraceRecorder final : public EventRecorder {
public:
    using Labels = std::function<std::optional<workloads::TaskLabel>(std::uint64_t number)>;

    struct Options {
        /// How many tasks are handed to the formats: the first ones to begin.
        std::uint64_t tasks_max = 1'000'000;
        /// A native run on several nodes: what the other processes recorded comes at the end.
        bool in_parts = false;
    };

    TraceRecorder() = default;
    explicit TraceRecorder(Options options) : options_(options) {}
    /// Records a trace alone.
    explicit TraceRecorder(const std::string& trace_path) { add_trace(trace_path); }

    // --- before the run
    /// The end of the name says in which format (make_trace_format). Throws Error for other names, and if
    /// the file cannot be written.
    void add_trace(const std::string& path);
    /// A table of tasks in CSV. Throws Error if the file cannot be written.
    void add_task_table(const std::string& path);
    /// A row for each worker, and a row for each stay of a worker in a state (worker_table.hpp). Throws Error
    /// if the file cannot be written.
    void add_worker_table(const std::string& path);
    void add_timeline(const std::string& path);
    /// `format` must outlive the recorder.
    void add(TraceFormat& format) { formats_.push_back(&format); }
    /// What a numbered task is called. `labels` is called until `finish`.
    void name_tasks(Labels labels) { labels_ = std::move(labels); }

    void begin(NodeId nodes, CoreId cores, std::function<Time()> settled) override;
    bool absorb(NodeId from, std::span<const std::byte> part) override;
    void finish(Time makespan) override;

    // --- after `finish`
    /// The files take their places. Throws Error.
    void commit();
    std::uint64_t tasks_recorded() const { return tasks_recorded_; }
    /// Beyond Options::tasks_max.
    std::uint64_t tasks_left_out() const { return tasks_left_out_; }

protected:
    void add(TraceEvent event) override;

private:
    using Kind = TraceEvent::Kind;

    /// Events of one time are in the order of nodes, and those of a node in the order in which they were
    /// told: two runs of one seed give the same trace, however their nodes took turns.
    struct Buffer {
        runtime::SpinLock lock;  ///< over all that follows
        std::uint64_t next_number = 0;
        std::vector<TraceEvent> events;
    };
    struct WorkerState {
        Activity written = Activity::idle;
        Activity latest = Activity::idle;
        bool any = false;
        bool pending = false;              ///< `latest` is of `now_` and not written
        std::vector<TracedTask> tasks;     ///< on its stack, those that are left out without a worker
        std::vector<std::size_t> strands;  ///< that it has entered: how many of `tasks` were there before
    };

    WorkerState& state_of(WorkerId worker) {
        return states_[std::size_t{worker.node} * cores_ + worker.core];
    }
    void put(TraceEvent event);
    void drain(Time before);
    void write(const TraceEvent& event);
    void write_state(const TraceEvent& event);
    void begin_task(const TraceEvent& event);
    void end_task(const TraceEvent& event);
    void enter_strand(const TraceEvent& event);
    void leave_strand(const TraceEvent& event);
    const std::string& type_name(std::uint32_t type);
    void write_states();
    void end_states();
    void cut_off_tasks();

    Options options_;
    std::deque<TraceFile> files_;
    std::vector<std::unique_ptr<TraceFormat>> own_formats_;
    std::vector<TraceFormat*> formats_;
    Labels labels_;
    std::function<Time()> settled_;
    NodeId nodes_ = 0;
    CoreId cores_ = 0;
    std::deque<Buffer> buffers_;  ///< by node
    std::atomic<std::uint64_t> kept_{0};
    std::atomic<std::uint64_t> many_{0};  ///< at so many kept events, the recorder tries to write some
    std::atomic<bool> draining_{false};

    // For the thread that drains.
    std::vector<TraceEvent> batch_;
    std::vector<WorkerState> states_;
    std::vector<WorkerId> pending_;                  ///< workers that changed at `now_`
    std::unordered_map<std::uint64_t, Time> ready_;  ///< numbered tasks that have not begun
    /// Tasks of strands that are left, by node and strand.
    std::map<std::pair<NodeId, std::uint64_t>, std::vector<TracedTask>> paused_;
    std::unordered_map<std::uint32_t, std::string> type_names_;
    std::uint64_t tasks_recorded_ = 0;
    std::uint64_t tasks_left_out_ = 0;
    Time now_{};
    Time makespan_ = never;
    bool states_ended_ = false;
};

}  // namespace heddle::results
