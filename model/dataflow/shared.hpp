// Shared objects as programs see them. `shared<T>` declares an object, and a formal parameter says how its
// task accesses it: shared_r<T> reads, shared_w<T> writes, shared_rw<T> does both, shared_cw<T, Operator>
// accumulates. The postponed ones (shared_rp, shared_wp, shared_rpwp, shared_cwp) are for a task that only
// passes the object on (the KAAPI paper, section 2.1; modes.hpp has the rules).
//
// A body makes its own accesses before it forks a task with the same object, or after `sync`.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "model/dataflow/closure.hpp"
#include "model/dataflow/thread.hpp"

namespace heddle::dataflow {

[[noreturn]] void refuse_read();
[[noreturn]] void refuse_write();

/// What all handles are: an object as the present body has it. They are copied freely, and used by that body
/// only.
template <class T, Mode own_mode>
class Handle {
public:
    using Value = T;
    static constexpr Mode mode = own_mode;

    explicit Handle(Access& access) : access_(&access) {}

    Access& access() const { return *access_; }

protected:
    CellOf<T>& cell() const { return static_cast<CellOf<T>&>(*access_->data); }
    const T& value_read() const {
        CellOf<T>& read = cell();
        if (!read.written) [[unlikely]]
            refuse_read();
        return read.value;
    }
    CellOf<T>& cell_to_write() const {
        if (access_->is(Access::given)) [[unlikely]]
            refuse_write();
        return cell();
    }
    Access* access_;
};

/// Reads: it is a constant T.
template <class T>
class shared_r : public Handle<T, Mode::r> {
public:
    using Handle<T, Mode::r>::Handle;
    /// Throws Error if no task has written the object before, in the reference order.
    const T& read() const { return this->value_read(); }
    operator const T&() const { return read(); }  // NOLINT(google-explicit-constructor): Figure 1
};

/// Writes the whole value. Its first access must not be a read, because a stolen task writes elsewhere.
template <class T>
class shared_w : public Handle<T, Mode::w> {
public:
    using Handle<T, Mode::w>::Handle;
    template <class Given>
    requires std::is_convertible_v<Given, T>
    const shared_w& operator=(Given&& value) const {
        write(std::forward<Given>(value));
        return *this;
    }
    /// Throws Error if the body has passed the object on.
    template <class Given>
    void write(Given&& value) const {
        if constexpr (std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>) {
            auto& cell = this->cell_to_write();
            cell.value = static_cast<T>(std::forward<Given>(value));
            cell.written = true;
        } else {
            this->cell_to_write().make(std::forward<Given>(value));
        }
    }
    /// Makes a new value of these arguments, for the body to go on with.
    template <class... Given>
    T& make(Given&&... given) const {
        return this->cell_to_write().make(std::forward<Given>(given)...);
    }
};

/// Reads and writes.
template <class T>
class shared_rw : public Handle<T, Mode::rw> {
public:
    using Handle<T, Mode::rw>::Handle;
    const T& read() const { return this->value_read(); }
    /// The value, to change. Throws Error if there is none yet.
    T& value() const { return const_cast<T&>(read()); }  // NOLINT: the cell's value is not constant
    template <class Given>
    void write(Given&& value) const {
        this->cell().make(std::forward<Given>(value));
    }
    bool written() const { return this->cell().written; }
};

/// Accumulates: Operator{}(T& into, const T& contribution), which is associative and commutative. The first
/// contribution to an object without a value becomes its value.
template <class T, class Operator>
class shared_cw : public Handle<T, Mode::cw> {
public:
    using Accumulate = Operator;
    shared_cw(Access& access, Thread& thread) : Handle<T, Mode::cw>(access), thread_(&thread) {}
    /// Also after the body has passed the object on: a group that has it ends before.
    template <class Given>
    void add(Given&& contribution) const {
        thread_->use(this->access(), Mode::cw);
        CellOf<T>& cell = this->cell();
        if (cell.written) {
            Operator{}(cell.value, std::forward<Given>(contribution));
        } else {
            cell.make(std::forward<Given>(contribution));
        }
    }

private:
    Thread* thread_;
};

template <class T>
class shared_rp : public Handle<T, Mode::rp> {
public:
    using Handle<T, Mode::rp>::Handle;
};
template <class T>
class shared_wp : public Handle<T, Mode::wp> {
public:
    using Handle<T, Mode::wp>::Handle;
};
template <class T>
class shared_rpwp : public Handle<T, Mode::rpwp> {
public:
    using Handle<T, Mode::rpwp>::Handle;
};
template <class T, class Operator>
class shared_cwp : public Handle<T, Mode::cwp> {
public:
    using Accumulate = Operator;
    using Handle<T, Mode::cwp>::Handle;
};

/// An object of the present body: it lives until the tasks that the body forks have ended. It may be passed
/// on in every mode.
template <class T>
class shared : public Handle<T, Mode::rpwp> {
    struct Declared {
        Object object;
        alignas(CellOf<T>) CellOf<T> cell;
    };
    static_assert(alignof(Declared) <= Stack::alignment, "an object may be aligned to 16 bytes at most");

public:
    /// Without a value.
    explicit shared(Thread& thread) : Handle<T, Mode::rpwp>(declare(thread)), thread_(&thread) {}
    /// With a first value.
    template <class Given>
    shared(Thread& thread, Given&& value) : shared(thread) {
        this->cell().make(std::forward<Given>(value));
    }

    /// The value, while no task uses the object: before the first fork, and after `sync`. Throws Error at
    /// other times, and if there is none.
    const T& read() const {
        thread_->expect_no_tasks("reads");
        thread_->use(this->access(), Mode::r);
        return this->value_read();
    }
    template <class Given>
    void write(Given&& value) const {
        thread_->expect_no_tasks("writes");
        thread_->replace(this->access());
        this->cell().make(std::forward<Given>(value));
    }
    bool written() const {
        thread_->expect_no_tasks("reads");
        thread_->use(this->access(), Mode::r);
        return this->cell().written;
    }

private:
    static Object& declare(Thread& thread) {
        auto* const declared = static_cast<Declared*>(thread.take(sizeof(Declared)));
        ::new (static_cast<void*>(&declared->cell)) CellOf<T>;
        thread.declare(declared->object, ValueTypeOf<T>::type, &declared->cell, &declared->cell,
                       !std::is_trivially_destructible_v<T>);
        return declared->object;
    }

    Thread* thread_;
};

}  // namespace heddle::dataflow
