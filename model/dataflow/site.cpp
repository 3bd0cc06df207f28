// The thread of a group on its worker: closures for each step, and what the added ones do.
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

Site::Site(const SiteStart& start, SiteProgram program, std::shared_ptr<GroupMailbox> mailbox)
    : start_(start),
      program_(std::move(program)),
      mailbox_(std::move(mailbox)),
      added_(program_.slots.size()) {
    for (std::size_t i = 0; i < added_.size(); ++i) {
        Added& added = added_[i];
        const ValueType& value = program_.slots[i].value();
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
    thread.allow_thieves(!start_.strict);
    objects_ = static_cast<Object*>(thread.take(program_.slots.size() * sizeof(Object)));
    for (std::size_t i = 0; i < program_.slots.size(); ++i) {
        const ValueType& value = program_.slots[i].value();
        thread.declare(objects_[i], value, nullptr, value.make());
    }
    for (std::uint32_t iteration = 0; iteration < start_.iterations; ++iteration) {
        for (const SiteProgram::Step& step : program_.steps)
            if (happens(step, iteration)) make(thread, step, iteration);
        thread.sync();
    }
    thread.allow_thieves(true);
    auto& sites = thread.worker().node().state<GroupSites>();
    sites.close(start_.group, start_.core);
    sites.finish(thread.worker(), start_.group, Recording::none, {});
}

bool Site::happens(const SiteProgram::Step& step, std::uint32_t iteration) const {
    switch (step.when) {
        case When::first:
            return iteration == 0;
        case When::last:
            return iteration + 1 == start_.iterations;
        case When::but_last:
            return iteration + 1 < start_.iterations;
        default:
            return true;
    }
}

void Site::bind(Closure& closure, std::uint8_t i, std::uint32_t slot, Mode mode) {
    closure.accesses()[i] = {&objects_[slot], nullptr, nullptr, 0, mode, false, i, 0};
}

void Site::make(Thread& thread, const SiteProgram::Step& step, std::uint32_t iteration) {
    if (step.kind == Kind::task) return make_task(thread, step);
    const Added& added = added_[step.slot];
    if (step.kind == Kind::receive) {
        Closure& closure = new_closure(thread, added.receive);
        bind(closure, 0, step.slot, Mode::w);
        closure.state.store(Closure::stolen, std::memory_order_relaxed);
        thread.add(closure);
        mailbox_->expect(iteration, step.number, thread, closure, program_.slots[step.slot].value());
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
        ::new (static_cast<void*>(closure.values())) Sending{this, &step, iteration};
        thread.add(closure);
    }
}

void Site::make_task(Thread& thread, const SiteProgram::Step& step) {
    Closure& closure = new_closure(thread, *step.type);
    for (std::uint8_t i = 0; i < step.uses.size(); ++i) {
        const SiteProgram::Bound& use = step.uses[i];
        if (use.same == no_alias) {
            bind(closure, i, use.slot, use.mode);
            continue;
        }
        closure.accesses()[i] = {closure.accesses() + use.same, nullptr, nullptr, 0, use.mode, true, i, 0};
        closure.aliases = true;
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
    if (step.replaced && !cell.written)
        throw Error("a task of a group has not written an object that it has as shared_w or shared_wp",
                    "write it, or let the task have it as shared_rw");
    runtime::Writer writer;
    program_.slots[step.slot].value().write(cell, writer);
    auto& sites = thread.worker().node().state<GroupSites>();
    if (step.kind == Kind::result)
        return sites.finish(thread.worker(), start_.group, step.number, writer.take_body());
    const GroupValue value{start_.group, iteration + (step.next_iteration ? 1 : 0), step.number};
    sites.send(thread.worker(), value, step.to, writer.take_body());
}

}  // namespace heddle::dataflow
