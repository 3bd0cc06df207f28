// The code that calls a function which may wait: a strand leaves its worker, and a task on its worker's stack
// runs other tasks there. Such functions take a Caller, so that both can call them.
#pragma once

#include "runtime/core/worker.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::runtime {

class Caller {
public:
    // NOLINTBEGIN(google-explicit-constructor): each is a caller
    /// It has joined all its forks.
    Caller(Strand& strand) : strand_(&strand) {}
    /// A task, or a strand with open forks, that forks at `head`.
    Caller(Worker& worker, Slot* head) : worker_(&worker), head_(head) {}
    // NOLINTEND(google-explicit-constructor)

    /// The worker that runs it, until it waits.
    Worker& worker() const { return strand_ ? strand_->worker() : *worker_; }
    Node& node() const { return worker().node(); }

    /// The strand that would wait: then its worker goes on without it. Null: the caller waits on its worker.
    Strand* strand() const {
        if (strand_) return strand_;
        Strand* const current = worker_->strands().current();
        return current && head_ == current->head() ? current : nullptr;
    }

    void wait(Waitable& waitable) const {
        if (strand_) return strand_->wait(waitable);
        worker_->wait(head_, waitable);
    }

private:
    Strand* strand_ = nullptr;
    Worker* worker_ = nullptr;
    Slot* head_ = nullptr;
};

}  // namespace heddle::runtime
