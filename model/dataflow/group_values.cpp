// Gives the values of a group's objects to the closures that receive them.
#include "model/dataflow/group_values.hpp"

#include "model/dataflow/thread.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::dataflow {

using runtime::MalformedMessage;
using runtime::SpinLock;

void GroupMailbox::end(const Expected& expected, Arriving value, bool last, runtime::Context& caller) {
    CellRef cell;
    if (!value.cell) {
        cell = {*expected.type->make(), *expected.type};
        runtime::Reader reader(*value.body);
        expected.type->read(*cell, reader);
        if (!reader.done()) throw MalformedMessage("a value of a group cannot be read");
    } else if (&value.cell.type() != expected.type) {
        throw MalformedMessage("a value of a group has another type than its reader");
    } else {
        // A cell that a task may change is given to one thread only.
        const bool whole = value.shared || (last && value.cell.only());
        cell = whole ? std::move(value.cell) : value.cell.copy();
    }
    Cell* const given = &cell.give();
    expected.thread->terminated(*expected.closure, {&given, 1}, caller);
}

void GroupMailbox::put(const GroupValue& name, std::uint32_t readers, Arriving value,
                       runtime::Context& caller) {
    std::vector<Expected> waiting;
    {
        const SpinLock::Guard guard(lock_);
        const auto [found, is_new] = values_.try_emplace(name);
        Value& entry = found->second;
        if (entry.value) throw MalformedMessage("a value of a group has come twice");
        waiting = std::move(entry.waiting);
        if (waiting.size() > readers) throw MalformedMessage("a value of a group is for fewer threads");
        entry.left = readers - static_cast<std::uint32_t>(waiting.size());
        entry.one_reader = readers == 1;
        if (entry.left == 0) {
            values_.erase(found);
        } else {
            entry.value = value;
        }
    }
    if (readers == 1 && !waiting.empty()) return end(waiting.front(), std::move(value), true, caller);
    for (const Expected& expected : waiting) end(expected, value, false, caller);
}

void GroupMailbox::expect(const GroupValue& name, Thread& thread, Closure& closure, const ValueType& type) {
    Arriving value;
    bool last = false;
    {
        const SpinLock::Guard guard(lock_);
        const auto [found, is_new] = values_.try_emplace(name);
        Value& entry = found->second;
        if (!entry.value) {
            entry.waiting.push_back({&thread, &closure, &type});
            return;
        }
        last = entry.one_reader;
        if (--entry.left != 0) {
            value = *entry.value;
        } else {
            value = std::move(*entry.value);
            values_.erase(found);
        }
    }
    end({&thread, &closure, &type}, std::move(value), last, thread.worker());
}

void GroupStore::keep(const ValueName& name, CellRef cell) {
    const SpinLock::Guard guard(lock_);
    cells_.insert_or_assign(name, std::move(cell));
}

CellRef GroupStore::take(const ValueName& name) {
    const SpinLock::Guard guard(lock_);
    const auto found = cells_.find(name);
    if (found == cells_.end()) return {};
    CellRef cell = std::move(found->second);
    cells_.erase(found);
    return cell;
}

CellRef GroupStore::look(const ValueName& name) const {
    const SpinLock::Guard guard(lock_);
    const auto found = cells_.find(name);
    return found == cells_.end() ? CellRef{} : found->second;
}

void GroupStore::drop(GroupName group) {
    std::map<ValueName, CellRef> dropped;
    const SpinLock::Guard guard(lock_);
    const auto begin = cells_.lower_bound({group, 0, 0});
    auto end = begin;
    while (end != cells_.end() && end->first.group == group) dropped.insert(cells_.extract(end++));
}

bool GroupStore::empty() const {
    const SpinLock::Guard guard(lock_);
    return cells_.empty();
}

}  // namespace heddle::dataflow
