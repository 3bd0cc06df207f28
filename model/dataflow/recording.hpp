// The graph of what a body forks, before any of it runs (the KAAPI paper, section 3.5): tasks that read and
// write versions of shared objects. A version is what one task writes of an object, or what the object is
// before. An edge leads from a task to each task that reads what it has written. There is no other order.
//
// An object that the body declares begins each iteration with its first value. So this value is an object
// that tasks only read, and what they make of it is another one, of which nothing is left after an iteration.
//
// Tasks that accumulate to an object (cw) need not wait for each other: each makes a contribution, an object
// of its own. Before the next access of another mode, and at the end, added tasks combine the contributions,
// in the order of the forks.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "base/data_graph.hpp"
#include "base/task_graph.hpp"
#include "base/time.hpp"
#include "model/dataflow/thread.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::dataflow {

/// What a body says of its tasks and objects while it is recorded.
class GroupRecorder {
public:
    explicit GroupRecorder(Thread& self) : self_(self) {}

    /// Of the next task that is forked: its work, in units of the program's own choice, and its name. A task
    /// of which nothing is said has a work of 1.
    void next(double work, std::string name = {}) {
        tasks_[self_.forked() - begun_] = {work, std::move(name)};
    }
    /// How many bytes of an object travel, if its type has no fixed size and it has no value yet.
    template <class Shared>
    void bytes(const Shared& object, double bytes) {
        bytes_[&object.access()] = bytes;
    }

private:
    friend class Recording;
    using Said = std::tuple<double, std::string>;  ///< work and name
    /// The thread has begun to record: tasks that it had forked before have ended.
    void begin() { begun_ = self_.forked(); }

    Thread& self_;
    std::uint64_t begun_ = 0;  ///< forks before
    std::map<std::uint64_t, Said> tasks_;
    std::map<const Access*, double> bytes_;
    std::unordered_set<const Access*> declared_;  ///< objects of the body, when it has returned
};

class Recording {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// One access of a task, to the object as the body that was recorded has it.
    struct Use {
        std::uint32_t object = 0;
        Mode mode = Mode::r;           ///< direct; of several accesses to the object, what they are together
        std::uint8_t same = no_alias;  ///< the task's earlier access to the object
        std::uint32_t reads = none;    ///< a version
        std::uint32_t writes = none;
    };
    struct Task {
        const ClosureType* type;
        runtime::Bytes arguments;  ///< its values, as they travel
        std::vector<Use> uses;
        double work;
        std::string name;
    };
    struct Object {
        Access* access;  ///< null: of an iteration only
        const ValueType* type;
        double bytes;
        std::uint32_t first;  ///< the version before any task has run
        std::uint32_t last;   ///< the version after all have; the same one if none writes it
        /// Objects with what was accumulated to this one and is not combined yet, and the task to do it.
        std::vector<std::uint32_t> contributions{};
        const ClosureType* combine = nullptr;
        bool declared = false;  ///< by the body. The next object is what tasks make of it
    };
    struct Version {
        std::uint32_t object;
        std::uint32_t writer;  ///< a task; `none` for an object's first version
    };

    /// Runs `body(recorder)`. Throws Error for a task with a parameter that cannot travel, and for one that
    /// reads what neither a task nor the program has written before.
    /// `elsewhere`: the objects that it uses have their values on another node.
    template <class Body>
    Recording(Thread& self, const Body& body, bool elsewhere = false) : elsewhere_(elsewhere) {
        Counts counted;
        GroupRecorder recorder(self);
        const auto recorded = [&] {
            counted = self.counted();
            recorder.begin();
            body(recorder);
        };
        build(self.record(recorded, recorder.declared_), recorder);
        if (elsewhere) self.recount(counted);
    }

    const std::vector<Task>& tasks() const { return tasks_; }
    const std::vector<Object>& objects() const { return objects_; }
    const std::vector<Version>& versions() const { return versions_; }

    /// All that makes the task what it is, in words: those of two nodes are equal if their tasks are.
    std::string describe(TaskIndex task) const;

    /// What each task took, and where, in an iteration that was measured (Group::measure); else empty.
    struct Measured {
        Time time{-1};  ///< below 0: it was not measured, because another node's thief ran it
        WorkerId worker{};
    };
    const std::vector<Measured>& measured() const { return measured_; }
    void measured(std::vector<Measured> tasks) { measured_ = std::move(tasks); }

    /// An edge for each access that reads what an earlier task has written, with the object's bytes.
    const TaskGraph& graph() const { return graph_; }
    /// The same with all bytes that a group sends for an object, but for those that each message has. `work`:
    /// of each task, in place of what was declared.
    TaskGraph sent_graph(std::span<const double> work = {}) const;
    /// Of a message of a group: beside an edge's bytes, with what the runtime adds.
    static constexpr std::uint64_t message_bytes_besides = 32;
    /// The object that each task writes, the first of several; a datum of its own if it writes none.
    const std::vector<DatumIndex>& written() const { return written_; }
    DatumIndex data() const { return data_; }
    /// The object's number; `none` if no task uses it.
    std::uint32_t find(const Access& access) const {
        const auto found = numbers_.find(&access);
        return found == numbers_.end() ? none : found->second;
    }

private:
    void build(Closure* first, const GroupRecorder& recorder);
    void add(Closure& closure, const GroupRecorder& recorder);
    void add_use(Closure& closure, std::uint32_t i, Task& task, const GroupRecorder& recorder);
    void contribute(std::uint32_t object, const Formal& formal, Use& use);
    void combine(std::uint32_t object);
    void join_unread();
    std::uint32_t new_version(std::uint32_t object, std::uint32_t writer);
    std::uint32_t object_of(Access& root, const ValueType& type, const GroupRecorder& recorder);
    void build_graph();
    TaskGraph graph_with(bool all_bytes, std::span<const double> work) const;

    bool elsewhere_;
    std::uint64_t forks_ = 0;
    std::vector<Task> tasks_;
    std::vector<Object> objects_;
    std::vector<Version> versions_;
    std::map<const Access*, std::uint32_t> numbers_;  ///< of objects, for look-up
    std::vector<Measured> measured_;
    TaskGraph graph_;
    std::vector<DatumIndex> written_;
    DatumIndex data_ = 0;
};

}  // namespace heddle::dataflow
