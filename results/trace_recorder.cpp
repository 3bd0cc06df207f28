// Stores a run's events until all earlier ones have come, sorts them by time, and gives them to the formats.
#include "results/trace_recorder.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "results/task_table.hpp"
#include "results/trace_parts.hpp"
#include "results/worker_table.hpp"
#include "runtime/core/readable.hpp"
#include "runtime/core/task_type.hpp"

namespace heddle::results {

namespace {

/// Events kept before anything is written: some 20 MB.
constexpr std::uint64_t few = 1U << 18;

/// A task type's name for people: without the compiler's mangling, its namespaces and the model's prefix. The
/// function's, if the type is made of a function.
std::string short_name(const std::string& name) {
    if (name.starts_with("earth.") && name.find(' ') != std::string::npos) {
        const std::size_t begin = name.find(' ') + 1;
        return name.substr(begin, name.find(' ', begin) - begin);
    }
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    if (status != 0) return name;
    const std::string demangled = runtime::function_in(text.get());
    if (demangled.find('<') != std::string::npos) return demangled;
    const std::size_t colon = demangled.rfind(':');
    return colon == std::string::npos ? demangled : demangled.substr(colon + 1);
}

}  // namespace

void TraceRecorder::add_trace(const std::string& path) {
    TraceFile& file = files_.emplace_back(path, is_compressed(path), "the trace", "--trace");
    formats_.push_back(own_formats_.emplace_back(make_trace_format(path, file)).get());
}

void TraceRecorder::add_task_table(const std::string& path) {
    TraceFile& file = files_.emplace_back(path, is_compressed(path), "the table of tasks", "--tasks");
    formats_.push_back(own_formats_.emplace_back(std::make_unique<TaskTable>(file)).get());
}

void TraceRecorder::add_worker_table(const std::string& path) {
    TraceFile& file = files_.emplace_back(path, is_compressed(path), "the table of workers", "--out");
    formats_.push_back(own_formats_.emplace_back(std::make_unique<WorkerTable>(file)).get());
}

void TraceRecorder::add_timeline(const std::string& path) {
    TraceFile& file = files_.emplace_back(path, is_compressed(path), "the timeline", "--out");
    formats_.push_back(own_formats_.emplace_back(std::make_unique<Timeline>(file)).get());
}

void TraceRecorder::begin(NodeId nodes, CoreId cores, std::function<Time()> settled) {
    settled_ = std::move(settled);
    nodes_ = nodes;
    cores_ = cores;
    buffers_.resize(nodes);
    states_.resize(std::size_t{nodes} * cores);
    many_.store(options_.in_parts ? ~std::uint64_t{0} : few);
    for (TraceFormat* format : formats_) format->begin(nodes, cores);
    for (NodeId node = 0; node < nodes; ++node) {
        for (CoreId core = 0; core < cores; ++core) entered({node, core}, Activity::idle, Time::zero());
    }
}

void TraceRecorder::put(TraceEvent event) {
    Buffer& buffer = buffers_[event.worker.node];
    const runtime::SpinLock::Guard guard(buffer.lock);
    event.number = buffer.next_number++;
    buffer.events.push_back(event);
}

void TraceRecorder::add(TraceEvent event) {
    put(event);
    if (kept_.fetch_add(1, std::memory_order_relaxed) < many_.load(std::memory_order_relaxed)) return;
    if (draining_.exchange(true, std::memory_order_acquire)) return;
    drain(settled_());
    many_.store(std::max(few, 2 * kept_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
    draining_.store(false, std::memory_order_release);
}

bool TraceRecorder::absorb(NodeId from, std::span<const std::byte> part) {
    if (!options_.in_parts || from >= nodes_) return false;
    runtime::Reader reader(part);
    while (!reader.done()) {
        const auto event = TraceEvent::read(reader, from, nodes_, cores_);
        if (!event) return false;
        put(*event);
    }
    return true;
}

/// Writes everything earlier than `before`, which does not go back from one call to the next.
void TraceRecorder::drain(Time before) {
    for (Buffer& buffer : buffers_) {
        const runtime::SpinLock::Guard guard(buffer.lock);
        const auto later =
            std::stable_partition(buffer.events.begin(), buffer.events.end(),
                                  [before](const TraceEvent& event) { return event.time >= before; });
        batch_.insert(batch_.end(), later, buffer.events.end());
        buffer.events.erase(later, buffer.events.end());
    }
    kept_.fetch_sub(batch_.size(), std::memory_order_relaxed);
    std::sort(batch_.begin(), batch_.end(), [](const TraceEvent& a, const TraceEvent& b) {
        return std::tie(a.time, a.worker.node, a.number) < std::tie(b.time, b.worker.node, b.number);
    });
    if (options_.in_parts) match_messages(batch_);
    for (const TraceEvent& event : batch_) write(event);
    batch_.clear();
}

void TraceRecorder::write(const TraceEvent& event) {
    if (event.time != now_) write_states();
    if (event.time > makespan_) end_states();
    now_ = event.time;
    const auto each = [&](void (TraceFormat::*call)(const MessageNote&, Time)) {
        for (TraceFormat* format : formats_) (format->*call)(std::get<MessageNote>(event.what), event.time);
    };
    switch (event.kind) {
        case Kind::state:
            return write_state(event);
        case Kind::send_begins:
            return each(&TraceFormat::send_begins);
        case Kind::send_ends:
            return each(&TraceFormat::send_ends);
        case Kind::receive_begins:
            return each(&TraceFormat::receive_begins);
        case Kind::receive_ends:
            return each(&TraceFormat::receive_ends);
        case Kind::task_ready:
            ready_[std::get<TaskNote>(event.what).number] = event.time;
            return;
        case Kind::task_begins:
            return begin_task(event);
        case Kind::task_ends:
            return end_task(event);
        case Kind::strand_enters:
            return enter_strand(event);
        case Kind::strand_leaves:
            return leave_strand(event);
    }
}

// A worker that changes several times in one instant is seen in its last state only.
void TraceRecorder::write_state(const TraceEvent& event) {
    if (event.time >= makespan_) return;
    WorkerState& state = state_of(event.worker);
    state.latest = std::get<Activity>(event.what);
    if (!std::exchange(state.pending, true)) pending_.push_back(event.worker);
}

void TraceRecorder::begin_task(const TraceEvent& event) {
    TracedTask& task = state_of(event.worker).tasks.emplace_back();
    task.note = std::get<TaskNote>(event.what);
    task.worker = {TaskNote::nowhere, 0};
    if (task.numbered()) {
        const auto ready = ready_.find(task.note.number);
        if (ready != ready_.end()) {
            task.note.ready = ready->second;
            ready_.erase(ready);
        }
    }
    if (tasks_recorded_ == options_.tasks_max) {
        ++tasks_left_out_;
        return;
    }
    ++tasks_recorded_;
    task.worker = event.worker;
    task.begin = event.time;
    if (const auto label = task.numbered() && labels_ ? labels_(task.note.number) : std::nullopt) {
        task.kernel = label->kernel;
        task.name = label->name;
        task.placed = label->placed;
        task.predecessors = label->predecessors;
    }
    if (task.kernel.empty()) task.kernel = type_name(task.note.type);
    for (TraceFormat* format : formats_) format->task_begins(task);
}

void TraceRecorder::end_task(const TraceEvent& event) {
    WorkerState& state = state_of(event.worker);
    if (state.tasks.empty()) return;
    const TracedTask task = std::move(state.tasks.back());
    state.tasks.pop_back();
    if (task.worker.node == TaskNote::nowhere) return;
    for (TraceFormat* format : formats_) format->task_ends(task, std::get<TaskWork>(event.what), event.time);
}

void TraceRecorder::enter_strand(const TraceEvent& event) {
    WorkerState& state = state_of(event.worker);
    state.strands.push_back(state.tasks.size());
    const auto found = paused_.find({event.worker.node, std::get<TaskNote>(event.what).number});
    if (found == paused_.end()) return;
    for (TracedTask& task : found->second) {
        if (task.worker.node != TaskNote::nowhere) {
            task.worker = event.worker;
            for (TraceFormat* format : formats_) format->task_goes_on(task, event.time);
        }
        state.tasks.push_back(std::move(task));
    }
    paused_.erase(found);
}

void TraceRecorder::leave_strand(const TraceEvent& event) {
    WorkerState& state = state_of(event.worker);
    if (state.strands.empty()) return;
    std::vector<TracedTask> left;
    for (; state.tasks.size() > state.strands.back(); state.tasks.pop_back()) {
        const TracedTask& task = left.emplace_back(std::move(state.tasks.back()));
        if (task.worker.node == TaskNote::nowhere) continue;
        for (TraceFormat* format : formats_) format->task_pauses(task, event.time);
    }
    state.strands.pop_back();
    if (left.empty()) return;
    std::ranges::reverse(left);
    paused_[{event.worker.node, std::get<TaskNote>(event.what).number}] = std::move(left);
}

const std::string& TraceRecorder::type_name(std::uint32_t type) {
    std::string& name = type_names_[type];
    if (!name.empty()) return name;
    if (type == TaskNote::strand) return name = "strand";
    const runtime::TaskType* const known = type == TaskNote::root ? nullptr : runtime::find_task_type(type);
    return name = known ? short_name(known->name()) : "root";
}

void TraceRecorder::write_states() {
    for (const WorkerId worker : pending_) {
        WorkerState& state = state_of(worker);
        state.pending = false;
        if (state.any && state.latest == state.written) continue;
        for (TraceFormat* format : formats_) format->state(worker, state.latest, now_, !state.any);
        state.written = state.latest;
        state.any = true;
    }
    pending_.clear();
}

void TraceRecorder::end_states() {
    if (std::exchange(states_ended_, true)) return;
    for (TraceFormat* format : formats_) format->states_end(makespan_);
}

void TraceRecorder::finish(Time makespan) {
    makespan_ = makespan;
    drain(never);
    write_states();
    end_states();
    cut_off_tasks();
    for (TraceFormat* format : formats_) format->end(std::max(now_, makespan_));
}

/// If the program has ended the run early, tasks that ran or waited are unwound, and have no end of their
/// own. The order is that of the tasks, because numbers of strands differ from run to run.
void TraceRecorder::cut_off_tasks() {
    std::vector<TracedTask> tasks;
    const auto take = [&](std::vector<TracedTask>& from) {
        for (TracedTask& task : std::exchange(from, {}))
            if (task.worker.node != TaskNote::nowhere) tasks.push_back(std::move(task));
    };
    for (WorkerState& state : states_) take(state.tasks);
    for (auto& [strand, paused] : paused_) take(paused);
    paused_.clear();
    std::ranges::stable_sort(tasks, {}, [](const TracedTask& task) {
        return std::tuple(task.begin, task.worker.node, task.worker.core, task.note.number, task.note.ready);
    });
    for (const TracedTask& task : tasks)
        for (TraceFormat* format : formats_) format->task_cut_off(task, std::max(task.begin, makespan_));
}

void TraceRecorder::commit() {
    std::optional<Error> first;
    for (TraceFile& file : files_) {
        try {
            file.commit();
        } catch (const Error& error) {
            if (!first) first = error;
        }
    }
    files_.clear();
    if (first) throw *first;
}

}  // namespace heddle::results
