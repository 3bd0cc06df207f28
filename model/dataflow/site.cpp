// Runs a thread of a group (a recorded graph of tasks) on its worker. It makes a closure for each step, and
// carries out the added steps that receive, send and copy values.
#include "model/dataflow/site.hpp"

#include <array>
#include <utility>

#include "base/error.hpp"
#include "model/dataflow/threads.hpp"
#include "model/dataflow/travel.hpp"

namespace heddle::dataflow {

namespace {

using Kind = SiteProgram::Kind;
using When = SiteProgram::When;

void keep_values(Closure& /*closure*/) {}

Time now(const Thread& thread) {
    return thread.worker().backend->now(thread.worker());
}

[[noreturn]] void refuse_unwritten() {
    throw Error("a task of a group has not written an object that it has as shared_w or shared_wp",
                "write it, or let the task have it as shared_rw");
}

/// Of an added task. No thief takes it.
ClosureType added_type(const Formal* formals, std::uint32_t accesses, std::size_t values,
                       void (*run)(Thread&, Closure&)) {
    const auto values_at = static_cast<std::uint32_t>(sizeof(Closure) + accesses * sizeof(Access));
    static_assert((sizeof(Closure) + sizeof(Access)) % alignof(void*) == 0);
    return {values_at + static_cast<std::uint32_t>(values),
            values_at,
            accesses,
            formals,
            run,
            nullptr,
            &keep_values,
            nullptr,
            nullptr,
            nullptr};
}

}  // namespace

Site::Site(const SiteRun& run, std::shared_ptr<const SiteProgram> program,
           std::shared_ptr<GroupMailbox> mailbox)
    : run_(run), program_(std::move(program)), mailbox_(std::move(mailbox)), added_(program_->slots.size()) {
    for (std::size_t i = 0; i < added_.size(); ++i) {
        Added& added = added_[i];
        const ValueType& value = program_->slots[i].value();
        added.read = {Mode::r, &value, nullptr, nullptr};
        added.written = {Mode::w, &value, nullptr, nullptr};
        added.both[0] = added.read;
        added.both[1] = added.written;
        added.receive = added_type(&added.written, 1, 0, nullptr);
        added.send = added_type(&added.read, 1, sizeof(Sending), &run_send);
        added.copy = added_type(added.both, 2, 0, &run_copy);
        added.clear = added_type(&added.written, 1, 0, &run_clear);
    }
}

void Site::run(Thread& thread) {
    const Time begin = now(thread);
    thread.allow_thieves(!run_.strict);
    objects_ = static_cast<Object*>(thread.take(added_.size() * sizeof(Object)));
    for (std::size_t i = 0; i < added_.size(); ++i) {
        const ValueType& value = program_->slots[i].value();
        thread.declare(objects_[i], value, nullptr, value.make());
    }
    for (std::uint32_t iteration = 0; iteration < run_.iterations; ++iteration) {
        for (const SiteProgram::Step& step : program_->steps) {
            if (!happens(step, iteration)) continue;
            thread.worker().charge(thread.worker().costs->fork);
            make(thread, step, iteration);
        }
        thread.sync();
    }
    thread.allow_thieves(true);
    keep(thread);
    finish(thread, begin);
}

/// The values are at rest on the node from here on.
void Site::keep(Thread& thread) const {
    GroupStore& store = thread.worker().node().state<GroupSites>().store();
    for (const SiteProgram::Kept& kept : program_->kept) {
        if (run_.stay.contains(kept.object)) continue;
        Cell& cell = *std::exchange(objects_[kept.slot].data, nullptr);
        const CellRef value(cell, program_->slots[kept.slot].value());
        if (kept.replaced && !cell.written) refuse_unwritten();
        store.keep({run_.group, kept.object, run_.run}, value);
    }
}

/// The news of the thread's end has its time, and the times of its tasks if they were measured.
void Site::finish(Thread& thread, Time begin) const {
    runtime::Writer report;
    report.put(now(thread) - begin);
    for (const Watched& task : measured_) report.put(task.time);
    const CoreId core = run_.core;
    runtime::Worker& worker = thread.worker();
    const std::uint32_t index = worker.id.node * worker.node().cores() + core;
    worker.node().state<GroupSites>().answer(worker, {run_.group, run_.run}, index, report.take_body());
}

bool Site::happens(const SiteProgram::Step& step, std::uint32_t iteration) const {
    switch (step.when) {
        case When::first:
            return iteration == 0;
        case When::but_last:
            return iteration + 1 < run_.iterations;
        default:
            return true;
    }
}

void Site::bind(Closure& closure, std::uint8_t i, std::uint32_t slot, Mode mode) {
    closure.accesses()[i] = {&objects_[slot], nullptr, 0, mode, Access::Link::object, i, 0};
}

void Site::make(Thread& thread, const SiteProgram::Step& step, std::uint32_t iteration) {
    if (step.kind == Kind::task) return make_task(thread, step, iteration);
    const Added& added = added_[step.slot];
    const std::uint32_t number = run_.iteration + iteration;  // through all runs
    if (step.kind == Kind::receive) {
        Closure& closure = new_closure(thread, added.receive);
        bind(closure, 0, step.slot, Mode::w);
        closure.state.store(Closure::stolen, std::memory_order_relaxed);
        thread.add(closure);
        mailbox_->expect({run_.group, number, step.number, run_.digest}, thread, closure,
                         program_->slots[step.slot].value());
    } else if (step.kind == Kind::clear) {
        Closure& closure = new_closure(thread, added.clear);
        bind(closure, 0, step.slot, Mode::w);
        thread.add(closure);
    } else if (step.kind == Kind::copy) {
        Closure& closure = new_closure(thread, added.copy);
        bind(closure, 0, step.slot, Mode::r);
        bind(closure, 1, step.number, Mode::w);
        thread.add(closure);
    } else {
        Closure& closure = new_closure(thread, added.send);
        bind(closure, 0, step.slot, Mode::r);
        ::new (static_cast<void*>(closure.values())) Sending{this, &step, number};
        thread.add(closure);
    }
}

void Site::make_task(Thread& thread, const SiteProgram::Step& step, std::uint32_t iteration) {
    using Expected = SiteProgram::Expected;
    Closure& closure = new_closure(thread, *step.type);
    bool expects = false;
    const auto uses = static_cast<std::uint8_t>(step.uses.size());
    for (std::uint8_t i = 0; i < uses; ++i) {
        const SiteProgram::Bound& use = step.uses[i];
        Access& access = closure.accesses()[i];
        if (use.same == no_alias) {
            bind(closure, i, use.slot, use.mode);
            if (use.expected == Expected::never || (use.expected == Expected::carried && iteration == 0))
                continue;
            access.link = Access::Link::expected;
            expects = true;
            continue;
        }
        access = {closure.accesses() + use.same, nullptr, 0, use.mode, Access::Link::alias, i, 0};
        closure.aliases = true;
    }
    if (run_.measured && iteration == 0) {
        closure.type = &measured(*step.type);
    } else if (expects) {
        closure.type = &expecting(*step.type);
    }
    runtime::Reader reader(step.arguments);
    step.type->read_values(closure, reader);
    if (!reader.done()) throw runtime::MalformedMessage("a task of a group came that cannot be read");
    thread.add(closure);
}

void Site::run_copy(Thread& /*thread*/, Closure& closure) {
    Access* const accesses = closure.accesses();
    closure.type->formals[0].value->copy(*accesses[1].root->data, *accesses[0].root->data);
}

/// A task that does not write what it should must not leave an older version there.
void Site::run_clear(Thread& /*thread*/, Closure& closure) {
    closure.type->formals[0].value->drop(*closure.accesses()[0].root->data);
}

void Site::run_send(Thread& thread, Closure& closure) {
    const Sending& sending = *std::launder(reinterpret_cast<Sending*>(closure.values()));
    sending.site->send(thread, *sending.step, sending.iteration);
}

void Site::send(Thread& thread, const SiteProgram::Step& step, std::uint32_t iteration) {
    const Cell& cell = *objects_[step.slot].data;
    if (step.replaced && !cell.written) refuse_unwritten();
    runtime::Writer writer;
    program_->slots[step.slot].value().write(cell, writer);
    const GroupValue value{run_.group, iteration + (step.next_iteration ? 1 : 0), step.number, run_.digest};
    thread.worker().node().state<GroupSites>().send(thread.worker(), value, step.to, writer.take_body());
}

// --- tasks that are watched

const ClosureType& Site::measured(const ClosureType& type) {
    Watched& task = measured_.emplace_back(Watched{type, &type});
    task.type.run = &run_measured;
    return task.type;
}

/// Thieves may have closures of this type already: it is written before the first one is made, and not again.
const ClosureType& Site::expecting(const ClosureType& type) {
    const auto [task, is_new] = expecting_.try_emplace(&type, Watched{type, &type});
    if (is_new) task->second.type.run = &run_expecting;
    return task->second.type;
}

/// Also of a copy that a thief of the node runs: its type is the same.
Site::Watched& Site::watched(const Closure& closure) {
    return *const_cast<Watched*>(reinterpret_cast<const Watched*>(closure.type));
}

namespace {

/// No thief takes the closure if something is missing (Access::expected).
void expect_written(Closure& closure) {
    for (std::uint32_t i = 0; i < closure.type->accesses; ++i) {
        const Access& access = closure.accesses()[i];
        if (access.link == Access::Link::expected && !access.root->data->written) refuse_unwritten();
    }
}

/// The argument of the task that ends a measured one, after all that it has forked.
struct Ending {
    Time* time;
    Time begin;
};

void run_end(Thread& thread, Closure& closure) {
    const Ending& ending = *std::launder(reinterpret_cast<Ending*>(closure.values()));
    *ending.time = now(thread) - ending.begin;
}

constexpr ClosureType end_type{sizeof(Closure) + sizeof(Ending),
                               sizeof(Closure),
                               0,
                               nullptr,
                               &run_end,
                               nullptr,
                               &keep_values,
                               nullptr,
                               nullptr,
                               nullptr};

}  // namespace

void Site::run_expecting(Thread& thread, Closure& closure) {
    expect_written(closure);
    watched(closure).task->run(thread, closure);
}

void Site::run_measured(Thread& thread, Closure& closure) {
    expect_written(closure);
    Watched& task = watched(closure);
    const Time begin = now(thread);
    task.task->run(thread, closure);
    task.time = now(thread) - begin;
    if (!closure.first) return;
    Closure& end = new_closure(thread, end_type);
    ::new (static_cast<void*>(end.values())) Ending{&task.time, begin};
    thread.add(end);
}

}  // namespace heddle::dataflow
