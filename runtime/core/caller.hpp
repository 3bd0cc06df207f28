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
    Caller(Strand& strand) : strand_(&strand), head_(no_forks()) {}
    /// A task, or a strand with open forks, that forks at `head`.
    Caller(Worker& worker, Slot* head) : worker_(&worker), head_(head) {}
    // NOLINTEND(google-explicit-constructor)

    /// The worker that runs it, until it waits.
    Worker& worker() const { return is_strand() ? strand_->worker() : *worker_; }
    Node& node() const { return worker().node(); }

    /// The strand that would wait: then its worker goes on without it. Null: the caller waits on its worker.
    Strand* strand() const {
        if (is_strand()) return strand_;
        Strand* const current = worker_->strands().current();
        return current && head_ == current->head() ? current : nullptr;
    }

    void wait(Waitable& waitable) const {
        if (is_strand()) return strand_->wait(waitable);
        worker_->wait(head_, waitable);
    }

private:
    /// In the head's place it says that the caller is a strand. It is never read.
    static Slot* no_forks() { return reinterpret_cast<Slot*>(&unread); }
    inline static char unread;
    bool is_strand() const { return head_ == no_forks(); }

    // Two words, so that a call passes them in registers.
    union {
        Strand* strand_;
        Worker* worker_;
    };
    Slot* head_;
};

}  // namespace heddle::runtime
