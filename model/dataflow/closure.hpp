// The graph of a dataflow thread: closures (calls that were forked) and their accesses to shared objects (the
// KAAPI paper, section 2.2). All lie in the thread's stack (stack.hpp).
//
// A closure is also the frame of what its body forks: `first` is the first of these that has not ended. In
// the order of forks, depth first, they make the reference order.
//
// Each access names its `root`: the object as the forking body has it, which is one of that body's own
// accesses or an object that it declared. So the accesses of a frame that have one root are the sequence of
// accesses to that object (the paper's shared link).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "model/dataflow/cell.hpp"
#include "model/dataflow/modes.hpp"

namespace heddle::runtime {
class TaskType;
class Worker;
}  // namespace heddle::runtime

namespace heddle::dataflow {

class Thread;
struct Closure;
struct ClosureType;

/// One formal parameter of a task, as the scheduler sees it.
struct Formal {
    Mode mode;
    const ValueType* value;
    Merge merge;  ///< of an accumulation
    /// Of an accumulation: the task that adds one contribution, read (r), to an object (rw).
    const ClosureType* combine = nullptr;
};

/// In place of the number of an access: none is meant.
constexpr std::uint8_t no_alias = 0xff;

/// One object as one closure has it, and for the closure's own frame the object itself.
///
/// Invariant: while its closure runs in the reference order, `data` is the object's cell at that moment. The
/// cell is borrowed from the root, unless a task of the frame has replaced it (`data` != `root->data`); then
/// the access owns a reference.
struct Access {
    enum class Link : std::uint8_t {
        object,
        expected,  ///< an object that a task before must have written; if it has not, only the owner runs
                   ///< this one (Site)
        alias      ///< an access of the same closure, which was given the object before
    };

    Access* root;  ///< null: an object that was declared here (Object)
    Cell* data;
    std::uint32_t noted;  ///< by thieves (Notes); at first 0
    Mode mode;            ///< direct; of several formals with this object, what they are together
    Link link;            ///< to the root; constant once thieves may see the closure
    std::uint8_t index;   ///< among the accesses of its closure
    std::uint8_t flags;   ///< the owner's, which changes them while thieves look

    static constexpr std::uint8_t given = 1;     ///< a body that writes it has passed it on
    static constexpr std::uint8_t replaced = 2;  ///< tasks of the frame have replaced `data`
    static constexpr std::uint8_t listed = 4;    ///< of an Object
    static constexpr std::uint8_t lent = 8;      ///< nodes have its value (Lending)
    static constexpr std::uint8_t away = 16;     ///< and `data` does not

    bool alias() const { return link == Link::alias; }
    bool is(std::uint8_t flag) const { return (flags & flag) != 0; }
    void set(std::uint8_t flag) { flags = static_cast<std::uint8_t>(flags | flag); }
    void unset(std::uint8_t flag) { flags = static_cast<std::uint8_t>(flags & ~flag); }
};
static_assert(sizeof(Access) == 24);

/// An object that a body has declared, or that a thief thread has in its victim's place.
struct Object : Access {
    Cell* own;  ///< in the same frame; null: the thief's
    const ValueType* type;
    Object* next;  ///< in its frame's list of those that need an end
};

/// What all closures of one task have in common.
struct ClosureType {
    std::uint32_t bytes;
    std::uint32_t values_at;  ///< bytes from the closure to its arguments by value
    std::uint32_t accesses;
    const Formal* formals;
    void (*run)(Thread& thread, Closure& closure);
    void (*move_values)(Closure& to, Closure& from);  ///< `from` has none any more
    void (*destroy_values)(Closure& closure);
    void (*write_values)(const Closure& closure, runtime::Writer& writer);
    void (*read_values)(Closure& closure, runtime::Reader& reader);
    const runtime::TaskType* task;  ///< as it travels; null: no thief may take it
};

/// A forked call. Its accesses follow, then its arguments by value.
///
/// Invariant: exactly one context takes a closure from `created`: its thread, to `running`, or a thief, to
/// `stolen`. That is decided by a compare-and-swap if thieves may see it (Thread, "open"). Of a stolen
/// closure the thief alone uses the arguments, and its thread goes past it only when it is `terminated`. Then
/// its accesses have the cells of what it has written, or null.
struct Closure {
    enum State : std::uint32_t { created, running, stolen, terminated };

    const ClosureType* type;
    Closure* next;    ///< in its frame
    Closure* first;   ///< of its own frame: the first that has not ended
    Closure* parent;  ///< while it runs
    std::byte* mark;  ///< where the stack ended after its body
    Object* objects;  ///< declared by its body, and in need of an end
    std::atomic<std::uint32_t> state;
    bool aliases;        ///< some access is an alias
    bool replaced;       ///< tasks of its frame have replaced the cell of an access
    bool moved = false;  ///< of a stolen one: its thief has its arguments and inputs

    Access* accesses() { return reinterpret_cast<Access*>(this + 1); }
    std::byte* values() { return reinterpret_cast<std::byte*>(this) + type->values_at; }
    const std::byte* values() const { return reinterpret_cast<const std::byte*>(this) + type->values_at; }

    static Closure& of(Access& access) { return *(reinterpret_cast<Closure*>(&access - access.index) - 1); }
};
static_assert(sizeof(Closure) == 56);

}  // namespace heddle::dataflow
