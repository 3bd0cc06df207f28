#include "results/trace_recorder.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace heddle::results {

namespace {

/// Events kept before anything is written: some 20 MB.
constexpr std::uint64_t few = 1U << 18;

}  // namespace

TraceRecorder::TraceRecorder(const std::string& path)
    : file_(path, is_compressed(path)), format_(make_trace_format(path, file_)) {}

void TraceRecorder::begin(NodeId nodes, CoreId cores, std::function<Time()> settled) {
    settled_ = std::move(settled);
    cores_ = cores;
    buffers_.resize(nodes);
    states_.resize(std::size_t{nodes} * cores);
    many_.store(few);
    format_->begin(nodes, cores);
    for (NodeId node = 0; node < nodes; ++node) {
        for (CoreId core = 0; core < cores; ++core) entered({node, core}, Activity::idle, Time::zero());
    }
}

void TraceRecorder::entered(WorkerId worker, Activity activity, Time time) {
    add({time, 0, worker, Kind::state, activity, {}});
}

void TraceRecorder::sending(const MessageNote& message, Time begin, Time end) {
    add({begin, 0, {message.from, 0}, Kind::send_begins, {}, message});
    add({end, 0, {message.from, 0}, Kind::send_ends, {}, message});
}

void TraceRecorder::receiving(const MessageNote& message, Time begin) {
    add({begin, 0, {message.to, 0}, Kind::receive_begins, {}, message});
}

void TraceRecorder::delivered(const MessageNote& message, Time end) {
    add({end, 0, {message.to, 0}, Kind::receive_ends, {}, message});
}

void TraceRecorder::add(Event event) {
    {
        Buffer& buffer = buffers_[event.worker.node];
        const runtime::SpinLock::Guard guard(buffer.lock);
        event.number = buffer.next_number++;
        buffer.events.push_back(event);
    }
    if (kept_.fetch_add(1, std::memory_order_relaxed) < many_.load(std::memory_order_relaxed)) return;
    if (draining_.exchange(true, std::memory_order_acquire)) return;
    drain(settled_());
    many_.store(std::max(few, 2 * kept_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
    draining_.store(false, std::memory_order_release);
}

/// Writes everything earlier than `before`, which does not go back from one call to the next.
void TraceRecorder::drain(Time before) {
    for (Buffer& buffer : buffers_) {
        const runtime::SpinLock::Guard guard(buffer.lock);
        const auto later =
            std::stable_partition(buffer.events.begin(), buffer.events.end(),
                                  [before](const Event& event) { return event.time >= before; });
        batch_.insert(batch_.end(), later, buffer.events.end());
        buffer.events.erase(later, buffer.events.end());
    }
    kept_.fetch_sub(batch_.size(), std::memory_order_relaxed);
    std::sort(batch_.begin(), batch_.end(), [](const Event& a, const Event& b) {
        return std::tie(a.time, a.worker.node, a.number) < std::tie(b.time, b.worker.node, b.number);
    });
    for (const Event& event : batch_) write(event);
    batch_.clear();
}

// A worker that changes several times in one instant is seen in its last state only.
void TraceRecorder::write(const Event& event) {
    if (event.time != now_) write_states();
    if (event.time >= makespan_) end_states();
    now_ = event.time;
    switch (event.kind) {
        case Kind::state: {
            if (event.time >= makespan_) return;
            WorkerState& state = states_[std::size_t{event.worker.node} * cores_ + event.worker.core];
            state.latest = event.activity;
            if (!std::exchange(state.pending, true)) pending_.push_back(event.worker);
            return;
        }
        case Kind::send_begins:
            return format_->send_begins(event.message, event.time);
        case Kind::send_ends:
            return format_->send_ends(event.message, event.time);
        case Kind::receive_begins:
            return format_->receive_begins(event.message, event.time);
        case Kind::receive_ends:
            return format_->receive_ends(event.message, event.time);
    }
}

void TraceRecorder::write_states() {
    for (const WorkerId worker : pending_) {
        WorkerState& state = states_[std::size_t{worker.node} * cores_ + worker.core];
        state.pending = false;
        if (state.any && state.latest == state.written) continue;
        format_->state(worker, state.latest, now_, !state.any);
        state.written = state.latest;
        state.any = true;
    }
    pending_.clear();
}

void TraceRecorder::end_states() {
    if (std::exchange(states_ended_, true)) return;
    format_->states_end(makespan_);
}

void TraceRecorder::finish(Time makespan) {
    makespan_ = makespan;
    drain(never);
    write_states();
    end_states();
    format_->end(std::max(now_, makespan_));
}

}  // namespace heddle::results
