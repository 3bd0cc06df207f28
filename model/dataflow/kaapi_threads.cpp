// Makes and ends KAAPI's threads, and calls their steal functions.
#include "model/dataflow/kaapi_threads.hpp"

#include <algorithm>
#include <utility>

#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::dataflow {

using runtime::SpinLock;
using runtime::Worker;

bool IdleWorkers::contains(CoreId core) const {
    return core == asking_.id.core || !asking_.node().active().contains(core);
}

std::uint32_t IdleWorkers::count() const {
    std::uint32_t sum = 0;
    for (CoreId core = 0; core < asking_.node().cores(); ++core) sum += contains(core) ? 1 : 0;
    return sum;
}

void create(Worker& worker, KaapiId& tid, const Attributes& attributes, StartRoutine start_routine,
            void* argument) {
    auto& threads = worker.node().state<KaapiThreads>();
    auto thread = std::make_shared<Kaapi>(threads, attributes);
    tid = thread;
    runtime::Strand::start(worker,
                           [thread, start_routine, argument](runtime::Strand& strand) {
                               thread->strand_ = &strand;
                               if (thread->has_steal_function()) thread->threads_.add(thread);
                               thread->run(start_routine, argument);
                           },
                           {"a thread"});
}

void Kaapi::run(StartRoutine start_routine, void* argument) {
    start_routine(*this, argument);
    close();
}

// Invariant: a steal function is called only between `asked_` being taken and given back, and only if the
// thread offers then. It offers no more once it is closed. So when `asked_` is free after that, its work is
// its own.
void Kaapi::close() {
    if (!std::exchange(open_, false)) return;
    threads_.remove(*this);
    while (asked_.load(std::memory_order_seq_cst)) strand_->yield();
}

void Kaapi::offer_again() {
    if (!open_ || offers_.exchange(true, std::memory_order_seq_cst)) return;
    threads_.waiting_.add();
    threads_.node().wake_one(worker());
}

/// `worker` asks the thread for work.
bool Kaapi::ask(KaapiId& thief, Worker& worker) {
    if (asked_.exchange(true, std::memory_order_seq_cst)) return false;
    bool found = false;
    if (offers_.load(std::memory_order_seq_cst)) {
        found = attributes_.steal_(*this, thief, IdleWorkers(worker), attributes_.user_arg_);
        if (!found && offers_.exchange(false, std::memory_order_seq_cst)) threads_.waiting_.subtract();
    }
    asked_.store(false, std::memory_order_seq_cst);
    return found;
}

KaapiThreads::KaapiThreads(runtime::Node& node) : node_(node) {
    node.sources().add(*this);
}

void KaapiThreads::add(const KaapiId& thread) {
    {
        const SpinLock::Guard guard(lock_);
        threads_.push_back(thread);
    }
    thread->open_ = true;
    thread->offer();
}

void KaapiThreads::remove(const Kaapi& thread) {
    const SpinLock::Guard guard(lock_);
    const auto found =
        std::ranges::find_if(threads_, [&](const KaapiId& other) { return other.get() == &thread; });
    if ((*found)->offers_.exchange(false, std::memory_order_seq_cst)) waiting_.subtract();
    threads_.erase(found);
}

bool KaapiThreads::run(Worker& worker, runtime::Slot* /*head*/) {
    std::vector<KaapiId> asked;
    {
        const SpinLock::Guard guard(lock_);
        asked = threads_;
    }
    if (asked.empty()) return false;
    worker.show_active();
    worker.charge(worker.costs->steal_attempt);
    const std::size_t first = worker.random().below(asked.size());
    bool found = false;
    for (std::size_t i = 0; i < asked.size() && !found; ++i) {
        KaapiId thief;
        found = asked[(first + i) % asked.size()]->ask(thief, worker);
    }
    if (found) worker.count_steal();
    worker.show_passive();
    return found;
}

}  // namespace heddle::dataflow
