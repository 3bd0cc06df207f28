// Records a run as a trace file, while the run is on. Whatever was told is kept per node until all that comes
// before it was told as well, then sorted and handed to the file's format. Does not know the formats.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/recorder.hpp"
#include "results/trace_file.hpp"
#include "results/trace_format.hpp"
#include "runtime/spin_lock.hpp"

namespace heddle::results {

class TraceRecorder final : public Recorder {
public:
    /// The end of the name says in which format (make_trace_format). Throws Error for other names, and where
    /// the file cannot be written.
    explicit TraceRecorder(const std::string& path);

    void begin(NodeId nodes, CoreId cores, std::function<Time()> settled) override;
    void entered(WorkerId worker, Activity activity, Time time) override;
    void sending(const MessageNote& message, Time begin, Time end) override;
    void receiving(const MessageNote& message, Time begin) override;
    void delivered(const MessageNote& message, Time end) override;
    void finish(Time makespan) override;

    /// The file takes its place, after `finish`. Throws Error.
    void commit() { file_.commit(); }

private:
    enum class Kind : std::uint8_t { state, send_begins, send_ends, receive_begins, receive_ends };

    /// Events of one time are in the order of nodes, and those of a node in the order in which they were
    /// told: two runs of one seed give the same trace, however their nodes took turns.
    struct Event {
        Time time;
        std::uint64_t number;  ///< of the node's
        WorkerId worker;       ///< the core matters to a state only
        Kind kind;
        Activity activity;
        MessageNote message;
    };
    struct Buffer {
        runtime::SpinLock lock;  ///< over all that follows
        std::uint64_t next_number = 0;
        std::vector<Event> events;
    };
    struct WorkerState {
        Activity written = Activity::idle;
        Activity latest = Activity::idle;
        bool any = false;
        bool pending = false;  ///< `latest` is of `now_` and not written
    };

    void add(Event event);
    void drain(Time before);
    void write(const Event& event);
    void write_states();
    void end_states();

    TraceFile file_;
    std::unique_ptr<TraceFormat> format_;
    std::function<Time()> settled_;
    CoreId cores_ = 0;
    std::deque<Buffer> buffers_;  ///< by node
    std::atomic<std::uint64_t> kept_{0};
    std::atomic<std::uint64_t> many_{0};  ///< so many kept, and it is worth looking what may be written
    std::atomic<bool> draining_{false};

    // Whoever drains.
    std::vector<Event> batch_;
    std::vector<WorkerState> states_;
    std::vector<WorkerId> pending_;  ///< workers that changed at `now_`
    Time now_{};
    Time makespan_ = never;
    bool states_ended_ = false;
};

}  // namespace heddle::results
