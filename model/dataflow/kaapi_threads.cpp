// Makes and ends the threads that a dataflow program creates itself, and calls their steal functions.
#include "model/dataflow/kaapi_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "model/dataflow/serialization.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/sources/gift.hpp"

namespace heddle::dataflow {

using runtime::SpinLock;
using runtime::Worker;

NodeId IdleWorkers::node() const {
    return worker_ ? worker_->id.node : gift_->thief();
}

Worker& IdleWorkers::worker() const {
    HEDDLE_ASSERT(worker_ != nullptr);
    return *worker_;
}

bool IdleWorkers::contains(CoreId core) const {
    return worker_ && (core == worker_->id.core || !worker_->node().active().contains(core));
}

std::uint32_t IdleWorkers::count() const {
    if (!worker_) return 1;
    std::uint32_t sum = 0;
    for (CoreId core = 0; core < worker_->node().cores(); ++core) sum += contains(core) ? 1 : 0;
    return sum;
}

void create(Worker& worker, KaapiId& tid, const Attributes& attributes, StartRoutine start_routine,
            void* argument) {
    tid = worker.node().state<KaapiThreads>().start(worker, attributes, start_routine, argument);
}

void create(const IdleWorkers& idle, KaapiId& tid, const Attributes& attributes, StartRoutine start_routine,
            void* argument) {
    if (idle.worker_) return create(*idle.worker_, tid, attributes, start_routine, argument);
    if (!attributes.serialization_)
        throw Error(fmt::format("a steal function has made a thread for node {} that has no serialization",
                                idle.node()),
                    "give the thread's attributes the serialization of the one that it was stolen from");
    runtime::Gift& gift = *idle.gift_;
    Travel::give(gift, *attributes.serialization_, Travel::save(*attributes.serialization_, argument));
    tid = std::make_shared<Kaapi>(gift.node().state<KaapiThreads>(), attributes, argument);
}

void Kaapi::run(StartRoutine start_routine) {
    start_routine(*this, argument_);
    close();
    if (!leaving_) return;
    threads_.migrations_.fetch_add(1, std::memory_order_relaxed);
    Travel::send(worker(), leaving_->to, std::move(leaving_->saved));
}

void Kaapi::migrate(NodeId node) {
    const char* const advice = "give its attributes a serialization: Attributes::set_serialization";
    if (!attributes_.serialization_)
        throw Error(fmt::format("a thread that should migrate to node {} has no serialization", node),
                    advice);
    const NodeId nodes = threads_.node().topology().nodes;
    if (node >= nodes)
        throw Error(fmt::format("a thread should migrate to node {}, and the run has {} nodes", node, nodes),
                    "nodes have the numbers from 0 on");
    if (leaving_)
        throw Error(fmt::format("a thread should migrate to node {}, and leaves for node {} already", node,
                                leaving_->to),
                    "let its routine return after it has called migrate");
    close();
    leaving_ = Leaving{node, Travel::save(*attributes_.serialization_, argument_)};
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

/// Idle workers ask the thread for work.
bool Kaapi::ask(KaapiId& thief, const IdleWorkers& idle) {
    if (asked_.exchange(true, std::memory_order_seq_cst)) return false;
    bool found = false;
    if (offers_.load(std::memory_order_seq_cst)) {
        found = attributes_.steal_(*this, thief, idle, attributes_.user_arg_);
        if (!found && offers_.exchange(false, std::memory_order_seq_cst)) threads_.waiting_.subtract();
    }
    asked_.store(false, std::memory_order_seq_cst);
    return found;
}

KaapiThreads::KaapiThreads(runtime::Node& node) : node_(node) {
    node.sources().add(*this);
}

KaapiId KaapiThreads::start(runtime::Context& caller, const Attributes& attributes,
                            StartRoutine start_routine, void* argument) {
    auto thread = std::make_shared<Kaapi>(*this, attributes, argument);
    runtime::Strand::start(node_, caller,
                           [thread, start_routine](runtime::Strand& strand) {
                               thread->strand_ = &strand;
                               if (thread->has_steal_function()) thread->threads_.add(thread);
                               thread->run(start_routine);
                           },
                           {"a thread"});
    return thread;
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

std::vector<KaapiId> KaapiThreads::all() const {
    const SpinLock::Guard guard(lock_);
    return threads_;
}

bool KaapiThreads::waits() const {
    return waits_for(node_.worker(0));
}

bool KaapiThreads::waits_for(const Worker& worker) const {
    return worker.steals_within_node();
}

bool KaapiThreads::run(Worker& worker, runtime::Slot* /*head*/) {
    if (!worker.steals_within_node()) return false;
    const std::vector<KaapiId> asked = all();
    if (asked.empty()) return false;
    worker.show_active();
    worker.charge(worker.costs->steal_attempt);
    const std::size_t first = worker.random().below(asked.size());
    bool found = false;
    for (std::size_t i = 0; i < asked.size() && !found; ++i) {
        KaapiId thief;
        found = asked[(first + i) % asked.size()]->ask(thief, IdleWorkers(worker));
    }
    if (found) worker.count_steal();
    worker.show_passive();
    return found;
}

std::uint32_t KaapiThreads::givable() const {
    const SpinLock::Guard guard(lock_);
    return static_cast<std::uint32_t>(std::ranges::count_if(threads_, [](const KaapiId& thread) {
        return thread->attributes_.serialization_ && thread->offers_.load(std::memory_order_seq_cst);
    }));
}

void KaapiThreads::give(runtime::Gift& gift) {
    for (const KaapiId& thread : all()) {
        if (!thread->attributes_.serialization_) continue;
        KaapiId thief;
        do {
            if (!gift.wants_more()) return;
            gift.leaves();
        } while (thread->ask(thief, IdleWorkers(gift)));
    }
}

void KaapiThreads::report(runtime::NodeReport& report) const {
    report.answer.push_back({"migrations", static_cast<double>(migrations_.load(std::memory_order_relaxed))});
}

}  // namespace heddle::dataflow
