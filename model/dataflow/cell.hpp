// The value of a shared object, and what the scheduler must do with values whose type it does not know. A
// cell lies in its object's frame, or, if a stolen task writes it, on the heap.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "model/task_function.hpp"
#include "runtime/comm/serialize.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::dataflow {

/// Whether a cell has a value. The task that uses the cell changes it, and meanwhile a thief may look at it,
/// which decides nothing then: the task has begun.
class Written {
public:
    operator bool() const { return value_.load(std::memory_order_relaxed); }  // NOLINT: reads as a bool
    Written& operator=(bool value) {
        value_.store(value, std::memory_order_relaxed);
        return *this;
    }

private:
    std::atomic<bool> value_{false};
};

/// Invariant: a cell of the heap lives as long as references to it are counted. A cell in a frame has none
/// counted (0), and lives until the frame ends, which is after all tasks that may use it.
struct Cell {
    std::atomic<std::uint32_t> references{0};
    Written written;
};

/// A cell with room for a value.
template <class T>
struct CellOf : Cell {
    CellOf() {}  // NOLINT(modernize-use-equals-default): the value is not made
    CellOf(const CellOf&) = delete;
    CellOf& operator=(const CellOf&) = delete;
    ~CellOf() { drop(); }

    /// Makes the value, instead of the one that it may have.
    template <class... Given>
    T& make(Given&&... given) {
        drop();
        T* const made = ::new (static_cast<void*>(&value)) T(std::forward<Given>(given)...);
        written = true;
        return *made;
    }
    void drop() {
        if constexpr (!std::is_trivially_destructible_v<T>)
            if (written) value.~T();
        written = false;
    }

    union {
        T value;
    };
};

/// What can be done with the cells of one type.
struct ValueType {
    Cell* (*make)();         ///< on the heap, without a value, with one reference
    void (*destroy)(Cell&);  ///< of the heap
    void (*drop)(Cell&);     ///< its value
    void (*write)(const Cell&, runtime::Writer&);
    void (*read)(Cell&, runtime::Reader&);
    void (*copy)(Cell& to, const Cell& from);
    /// That its value has when it travels, or its type if it has none. What all values of the type have
    /// beside that, such as a size, is not among them.
    std::uint64_t (*bytes)(const Cell&);
    std::uint64_t (*bytes_beside)();
    bool travels;
};

template <class T>
struct ValueTypeOf {
    static CellOf<T>& of(Cell& cell) { return static_cast<CellOf<T>&>(cell); }

    static Cell* make() {
        auto* const cell = new CellOf<T>;
        cell->references.store(1, std::memory_order_relaxed);
        return cell;
    }
    static void destroy(Cell& cell) { delete &of(cell); }
    static void drop(Cell& cell) { of(cell).drop(); }
    static void write(const Cell& cell, runtime::Writer& writer) {
        writer.put(static_cast<std::uint8_t>(cell.written));
        if constexpr (model::detail::value_travels<T>())
            if (cell.written) runtime::Serialize<T>::write(writer, static_cast<const CellOf<T>&>(cell).value);
    }
    static void read(Cell& cell, runtime::Reader& reader) {
        if (reader.get<std::uint8_t>() == 0) return;
        if constexpr (model::detail::value_travels<T>()) of(cell).make(runtime::Serialize<T>::read(reader));
    }
    /// A value that cannot be copied goes the way of one that travels.
    static void copy(Cell& to, const Cell& from) {
        if (!from.written) return drop(to);
        if constexpr (std::is_copy_constructible_v<T>) {
            of(to).make(static_cast<const CellOf<T>&>(from).value);
        } else {
            runtime::Writer writer;
            write(from, writer);
            runtime::Reader reader(writer.bytes());
            read(to, reader);
        }
    }
    static std::uint64_t bytes(const Cell& cell) {
        if constexpr (model::detail::value_is_written<T>()) {
            if (cell.written) {
                runtime::Writer writer;
                runtime::Serialize<T>::write(writer, static_cast<const CellOf<T>&>(cell).value);
                return writer.bytes().size() -
                       std::min<std::uint64_t>(bytes_of_type(), writer.bytes().size());
            }
        }
        return sizeof(T);
    }
    static std::uint64_t bytes_beside() { return 1 + bytes_of_type(); }

    static constexpr ValueType type{&make,  &destroy,      &drop,
                                    &write, &read,         &copy,
                                    &bytes, &bytes_beside, model::detail::value_travels<T>()};

private:
    /// Of a value that is empty.
    static std::uint64_t bytes_of_type() {
        if constexpr (model::detail::value_is_written<T>() && std::is_default_constructible_v<T>) {
            runtime::Writer writer;
            runtime::Serialize<T>::write(writer, T());
            return writer.bytes().size();
        }
        return 0;
    }
};

inline void hold(Cell& cell) {
    if (cell.references.load(std::memory_order_relaxed) != 0)
        cell.references.fetch_add(1, std::memory_order_relaxed);
}

/// Gives up a reference. A cell in a frame is the frame's, and stays.
inline void release(Cell& cell, const ValueType& type) {
    if (cell.references.load(std::memory_order_relaxed) == 0) return;
    if (cell.references.fetch_sub(1, std::memory_order_acq_rel) == 1) type.destroy(cell);
}

/// Adds one cell's contribution to another, whose first contribution it may be.
using Merge = void (*)(Cell& into, Cell& from);

template <class T, class Operator>
void merge(Cell& into, Cell& from) {
    if (!from.written) return;
    auto& target = static_cast<CellOf<T>&>(into);
    auto& contribution = static_cast<CellOf<T>&>(from);
    if (!target.written) {
        target.make(std::move(contribution.value));
    } else {
        Operator{}(target.value, contribution.value);
    }
}

}  // namespace heddle::dataflow
