// The program of one thread of a group (the KAAPI paper, section 3.5): the thread's tasks in the order of the
// schedule. Between them are added tasks that receive values from other threads, and that send values to
// them. The program is made of a recording and a placement, and travels to the thread's worker.
//
// Each version of an object that the thread has lies in a slot. A slot is used for one version after the
// other. A task that changes an object (rw, cw) finds its new version in the slot of the old one; if that is
// still needed, a copy is made before.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.hpp"
#include "base/placement.hpp"
#include "base/task_graph.hpp"
#include "base/time.hpp"
#include "model/dataflow/recording.hpp"

namespace heddle::dataflow {

/// Where each task of a recording runs, and in which order: each after its predecessors.
struct GroupPlacing {
    std::vector<WorkerId> of_task;
    std::vector<TaskIndex> sequence;
    /// No other worker of the node may take a task: each keeps strictly to its order.
    bool strict = false;
    /// What one iteration takes, if it keeps to the order, begins everywhere at once, and each message has
    /// the network to itself; 0 if it is not known.
    Time promised{};
};

/// Threads of one node that read a value.
struct Target {
    NodeId node = 0;
    std::uint32_t readers = 0;
};

struct SiteProgram {
    enum class Kind : std::uint8_t { receive, task, send, copy, clear };
    enum class When : std::uint8_t { always, first, but_last };

    /// The type of a slot: that of a formal parameter.
    struct Slot {
        const ClosureType* type;
        std::uint8_t formal;
        const ValueType& value() const { return *type->formals[formal].value; }
    };
    /// When a task that changes an object looks whether the task before, on the same worker, has written it
    /// (Mode::w). What comes from another worker was looked at there.
    enum class Expected : std::uint8_t {
        never,
        always,
        carried,  ///< but in the first iteration: the last one has left it
    };
    struct Bound {
        std::uint32_t slot;
        Mode mode;
        std::uint8_t same;  ///< Recording::Use
        Expected expected = Expected::never;
    };
    struct Step {
        Kind kind;
        When when = When::always;
        bool next_iteration = false;        ///< what is sent is for the receivers' next one
        bool replaced = false;              ///< what is sent is what a task had to write (Mode::w)
        std::uint32_t slot = 0;             ///< of all but a task
        std::uint32_t number = 0;           ///< of what is sent or received; a copy's other slot
        std::vector<Target> to{};           ///< of `send`, one for each node
        const ClosureType* type = nullptr;  ///< of `task`, as what follows
        runtime::Bytes arguments{};
        std::vector<Bound> uses{};
    };

    /// What is at rest here after the last iteration.
    struct Kept {
        std::uint32_t object;
        std::uint32_t slot;
        bool written;   ///< by the group
        bool replaced;  ///< Step
    };

    std::vector<Slot> slots;
    std::vector<Step> steps;
    std::vector<Kept> kept;

    void write(runtime::Writer& writer) const;
    /// Throws MalformedMessage.
    static SiteProgram read(runtime::Reader& reader);
};

/// The programs of all threads of a group. What is sent has the number of its version; a value with which an
/// iteration begins has that of the object's first version.
struct GroupPrograms {
    static constexpr NodeId nowhere = ~NodeId{0};

    std::map<WorkerId, SiteProgram> of_site;
    /// Which threads begin with the value of each object that the program has.
    std::vector<std::vector<Target>> begins_at;
    /// The node that writes each object last: its owner. `nowhere`: the group only reads it.
    std::vector<NodeId> owner;
};

/// Throws Error if the placing has a task too many or too few, or a worker outside the grid.
GroupPrograms programs_of(const Recording& recording, const GroupPlacing& placing, WorkerGrid grid);

}  // namespace heddle::dataflow
