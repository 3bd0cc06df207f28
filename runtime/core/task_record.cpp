// Tells the recorder where a task came from, when it began and ended, and what work it declared.
#include "runtime/core/task_record.hpp"

#include <utility>

#include "runtime/strands/strands.hpp"

namespace heddle::runtime {

void OpenRecord::begin(Worker& worker, std::uint32_t type, std::uint64_t number) {
    Recording& recording = *worker.recording_;
    outer_ = std::exchange(recording.declared, {});
    TaskNote note = std::exchange(recording.next, {});
    note.type = type;
    note.number = number;
    worker.recorder->task_began(worker.id, note, worker.backend->now(worker));
}

void OpenRecord::end(Worker& worker) {
    const TaskWork work = std::exchange(worker.recording_->declared, outer_);
    worker.recorder->task_ended(worker.id, work, worker.backend->now(worker));
}

void TaskRecord::begin(std::uint32_t type, std::uint64_t number) {
    strand_ = worker_->strands().current();
    record_.begin(*worker_, type, number);
}

void TaskRecord::end() {
    record_.end(strand_ ? strand_->worker() : *worker_);
}

// --- the part of a worker that is used only with a recorder

void Worker::tell(Recorder* told) {
    recorder = told;
    recording_ = told ? std::make_unique<Recording>() : nullptr;
}

void Worker::run_recorded(const TaskType& type, Slot* head, std::byte* payload) {
    if (type.records_itself()) return type.run()(*this, head, payload);
    const TaskRecord record(*this, type.id());
    type.run()(*this, head, payload);
}

// Where the gates are open, most forks do not come here, and a slot's time could be that of an older task.
void Worker::note_fork(const Slot* slot) {
    if (gate_open_) return;
    const std::uint32_t index = deque_.index(slot);
    std::vector<Time>& forked = recording_->forked;
    if (forked.size() <= index) forked.resize(std::size_t{index} + 1, never);
    forked[index] = backend->now(*this);
}

void Worker::note_origin(const Worker& victim, const Slot* slot) {
    const std::vector<Time>& forked = victim.recording_->forked;
    const std::size_t index = slot ? victim.deque_.index(slot) : forked.size();
    recording_->next.ready = index < forked.size() ? forked[index] : never;
    if (victim.id != id) recording_->next.victim = victim.id;
}

void Worker::note_victim(NodeId victim) {
    if (victim != id.node) recording_->next.victim = {victim, TaskNote::nowhere};
}

WorkerId Worker::take_victim() {
    if (!recorder) return {TaskNote::nowhere, TaskNote::nowhere};
    return std::exchange(recording_->next, {}).victim;
}

void Worker::note_victim(WorkerId victim) {
    if (recorder) recording_->next.victim = victim;
}

void Worker::note_strand(StrandStack& stack, bool enters) {
    std::swap(recording_->declared, stack.declared);
    const auto told = enters ? &Recorder::strand_entered : &Recorder::strand_left;
    (recorder->*told)(id, reinterpret_cast<std::uintptr_t>(&stack), backend->now(*this));
}

void Worker::note_work(Work work) {
    recording_->declared.flops += work.flops;
    recording_->declared.bytes += work.bytes;
}

}  // namespace heddle::runtime
