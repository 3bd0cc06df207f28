// Brings an object home if the program uses it and a group's run has left it on another node.
#include "model/dataflow/lending.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "model/dataflow/group.hpp"
#include "model/dataflow/thread.hpp"

namespace heddle::dataflow {

using runtime::MalformedMessage;

/// Groups that write the object end, and if it is to be written those that read it.
void Lending::wait_for_users(const Access& root, bool writes) {
    for (;;) {
        const auto found = std::ranges::find_if(
            running_, [&](const Group* group) { return writes ? group->uses(root) : group->writes(root); });
        if (found == running_.end()) return;
        (*found)->wait();  // which takes it off the list
    }
}

void Lending::use(Access& root, Mode mode) {
    Access* const roots[] = {&root};
    fetch(roots);
    if (mode != Mode::r) call_in(root);
}

void Lending::wait_for_conflicts(const Group& group) {
    for (;;) {
        const auto found =
            std::ranges::find_if(running_, [&](const Group* other) { return group.conflicts(*other); });
        if (found == running_.end()) return;
        (*found)->wait();
    }
}

void Lending::ended(const Group& group) {
    std::erase(running_, &group);
    self_.lends(!empty());
}

/// An object without the flag may have the address of an earlier one, whose group was unwound.
Lending::Lent& Lending::lend(Access& root, const ValueType& type) {
    Lent& lent = lent_[&root];
    if (!root.is(Access::lent)) lent.holders.clear();
    lent.type = &type;
    root.set(Access::lent);
    self_.lends(true);
    return lent;
}

const Lending::Holder& Lending::expect_holder(const Lent& lent) {
    if (lent.holders.empty())
        throw Error("an object is used whose group was unwound by an exception while it ran",
                    "wait for the group before the exception leaves the body, or replace the object's value");
    return lent.holders.front();
}

const Lending::Lent* Lending::find(const Access& root) const {
    const auto found = lent_.find(&root);
    return found == lent_.end() ? nullptr : &found->second;
}

void Lending::fetch(std::span<Access* const> roots) {
    for (const Access* const root : roots) wait_for_users(*root, false);
    runtime::Node& node = self_.worker().node();
    auto& sites = node.state<GroupSites>();
    GroupQuestion question;
    std::vector<Access*> asked;
    for (Access* const root : roots) {
        const Lent* const lent = root->is(Access::away) ? find(*root) : nullptr;
        if (!lent) continue;
        const auto here = std::ranges::find(lent->holders, node.id(), &Holder::node);
        if (here != lent->holders.end()) {
            const CellRef cell = sites.store().look(here->value);
            if (!cell) throw MalformedMessage("a value of a group does not rest here");
            self_.bring(*root, cell.copy().give(), *lent->type);
            root->unset(Access::away);
            continue;
        }
        if (asked.empty()) question.group = sites.new_name();
        const Holder& holder = expect_holder(*lent);
        sites.fetch(self_.worker(), holder.node, holder.value, question,
                    static_cast<std::uint32_t>(asked.size()));
        asked.push_back(root);
    }
    if (asked.empty()) return;
    const auto answers = sites.ask(question);
    answers->expect(static_cast<std::uint32_t>(asked.size()), node, self_.worker());
    self_.wait(answers->end());
    sites.end(question);
    for (const auto& [number, body] : answers->all()) {
        if (number >= asked.size()) throw MalformedMessage("a value comes that was not asked for");
        const ValueType& type = *find(*asked[number])->type;
        CellRef cell(*type.make(), type);
        runtime::Reader reader(*body);
        type.read(*cell, reader);
        if (!reader.done()) throw MalformedMessage("a value of a group cannot be read");
        self_.bring(*asked[number], cell.give(), type);
        asked[number]->unset(Access::away);
    }
}

void Lending::call_in(Access& root, const std::optional<GroupName>& forgotten) {
    wait_for_users(root, true);  // which would lend it again
    const auto found = lent_.find(&root);
    if (found == lent_.end()) return;
    runtime::Worker& worker = self_.worker();
    for (const Holder& holder : found->second.holders)
        if (holder.value.group != forgotten)
            worker.node().state<GroupSites>().drop(worker, holder.node, holder.value);
    lent_.erase(found);
    root.unset(Access::lent);
    root.unset(Access::away);
    self_.lends(!empty());
}

// --- the thread whose objects they are

Lending& Thread::lending() {
    if (!lending_) lending_ = std::make_unique<Lending>(*this);
    return *lending_;
}

void Thread::lends(bool lends) {
    lends_ = lends;
    look_whether_fast();
}

void Thread::bring(Access& root, Cell& cell, const ValueType& type) {
    const runtime::SpinLock::Guard guard(lock_);
    looked_at_ = nullptr;
    install(root, cell, type, *current_);
}

void Thread::call_off(Access& root) {
    lending_->call_in(root);
}

void Thread::call_home(Access& root, Mode mode) {
    lending_->use(root, mode);
}

/// Before the closure is the frame's.
void Thread::call_home(Closure& closure) {
    Access* const accesses = closure.accesses();
    for (std::uint32_t i = 0; i < closure.type->accesses; ++i)
        if (!accesses[i].alias()) use(*accesses[i].root, accesses[i].mode);
}

}  // namespace heddle::dataflow
