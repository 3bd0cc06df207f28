// The values of a group's objects on one node (the KAAPI paper, section 3.5). They are under way to threads
// that read them, or at rest between runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "model/dataflow/closure.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::dataflow {

/// A group in the run: the node that made it, and its number there.
struct GroupName {
    NodeId home = 0;
    std::uint32_t number = 0;
    friend constexpr auto operator<=>(const GroupName&, const GroupName&) = default;
};

/// A value at rest: the object, as its group numbers it, and the group's run that left it.
struct ValueName {
    GroupName group;
    std::uint32_t object = 0;
    std::uint32_t run = 0;
    friend constexpr auto operator<=>(const ValueName&, const ValueName&) = default;
};

/// A reference to a cell of the heap.
class CellRef {
public:
    CellRef() = default;
    /// Takes over a reference of the caller's.
    CellRef(Cell& cell, const ValueType& type) : cell_(&cell), type_(&type) {}
    CellRef(const CellRef& other) : cell_(other.cell_), type_(other.type_) {
        if (cell_) hold(*cell_);
    }
    CellRef(CellRef&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)), type_(other.type_) {}
    CellRef& operator=(CellRef other) noexcept {
        std::swap(cell_, other.cell_);
        std::swap(type_, other.type_);
        return *this;
    }
    ~CellRef() {
        if (cell_) release(*cell_, *type_);
    }

    explicit operator bool() const { return cell_ != nullptr; }
    Cell& operator*() const { return *cell_; }
    const ValueType& type() const { return *type_; }
    /// Whether there is no other reference. Then none can be made meanwhile.
    bool only() const { return cell_->references.load(std::memory_order_acquire) == 1; }
    /// The reference becomes the caller's.
    Cell& give() { return *std::exchange(cell_, nullptr); }
    CellRef copy() const {
        Cell& made = *type_->make();
        type_->copy(made, *cell_);
        return {made, *type_};
    }

private:
    Cell* cell_ = nullptr;
    const ValueType* type_ = nullptr;
};

/// A value on its way: what it is, and for which iteration.
struct GroupValue {
    GroupName group;
    std::uint32_t iteration = 0;  ///< numbered through all runs
    std::uint32_t number = 0;     ///< GroupPrograms
    /// Of the graph and its placing, if each node has recorded it. Values of another graph meet no reader.
    std::uint32_t digest = 0;
    friend constexpr auto operator<=>(const GroupValue&, const GroupValue&) = default;
};

/// A value on its way to threads of one node: as it came in a message, or a cell of the node.
struct Arriving {
    runtime::Body body{};
    CellRef cell{};
    bool shared = false;  ///< no task changes the cell
};

/// What the threads of a group on one node still receive. Values may come before the group has begun there,
/// and before their iteration.
///
/// Invariant: for each value and each reader either the message comes first, and lies here until the reader's
/// closure is made, or the closure does, and ends when the message comes.
class GroupMailbox {
public:
    /// A value has come for so many threads.
    void put(const GroupValue& name, std::uint32_t readers, Arriving value, runtime::Context& caller);
    /// `closure` of `thread` receives it. `type`: of the value.
    void expect(const GroupValue& name, Thread& thread, Closure& closure, const ValueType& type);

private:
    struct Expected {
        Thread* thread;
        Closure* closure;
        const ValueType* type;
    };
    struct Value {
        std::optional<Arriving> value{};
        bool one_reader = false;
        std::uint32_t left = 0;  ///< readers that have not taken it
        std::vector<Expected> waiting{};
    };
    static void end(const Expected& expected, Arriving value, bool last, runtime::Context& caller);

    runtime::SpinLock lock_;
    std::map<GroupValue, Value> values_;
};

/// Values at rest on one node.
class GroupStore {
public:
    void keep(const ValueName& name, CellRef cell);
    /// Takes it out. Empty if there is none.
    CellRef take(const ValueName& name);
    /// Another reference to it. Empty if there is none.
    CellRef look(const ValueName& name) const;
    void drop(GroupName group);
    bool empty() const;

private:
    mutable runtime::SpinLock lock_;
    std::map<ValueName, CellRef> cells_;
};

}  // namespace heddle::dataflow
