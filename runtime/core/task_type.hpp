// A task type: the function that a task runs, under a registered number. Messages between processes carry
// this number, never the function's address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::runtime {

class Node;
class Reader;
class Worker;
class Writer;
struct Slot;

using TaskTypeId = std::uint32_t;

/// The most bytes of arguments, and of a result, in a task's payload. The payload of a task with more names
/// where they lie on the node, and they travel as cargo.
inline constexpr std::size_t payload_bytes = 48;

/// What travels beside a payload: the data that a task works on, or its large arguments or result.
struct Cargo {
    /// Takes the data out of the node and appends them. Returns how many bytes of them are only declared
    /// (Backend::send: padding).
    std::uint64_t (*pack)(Node& node, const std::byte* payload, Writer& writer);

    /// Reads them and leaves in `payload` what names them on this node. False if they are malformed.
    bool (*unpack)(Node& node, std::byte* payload, Reader& reader);
};

/// What a payload holds that its task's type may have to destroy.
enum class Holds : std::uint8_t { nothing, arguments, result };

/// One kind of task. Objects are static and register themselves before `main` (see model/fork_join.hpp).
class TaskType {
public:
    /// Runs a task above `head` on the worker: reads the arguments from `payload`, leaves the result there.
    /// From the call on it owns what the arguments name, also if it throws or is unwound. A detached task
    /// reads its arguments before it detaches another: that one is written over them.
    using Run = void (*)(Worker& worker, Slot* head, std::byte* payload);

    /// Whether the caller that forked a task waits for its end. No caller waits for a detached task
    /// (Worker::detach).
    enum class End : std::uint8_t { awaited, detached };

    /// Which code tells the recorder when a task begins and ends: the worker's, or the task's own.
    enum class Records : std::uint8_t { by_worker, itself };

    /// Destroys what lies in a payload, or is named there. For arguments whose task never runs, and results
    /// for which no caller waits any more: of runs that end early.
    using Drop = void (*)(std::byte* payload);

    /// What most types have no need to say. Cargo: null where the payload is all that travels. Drop: null
    /// where nothing needs a destructor.
    struct Special {
        const Cargo* cargo = nullptr;         ///< of the task, when it leaves its node
        const Cargo* result_cargo = nullptr;  ///< of its result, on the way home
        Drop drop_arguments = nullptr;
        Drop drop_result = nullptr;
        End end = End::awaited;
        Records records = Records::by_worker;
    };

    TaskType(std::string type_name, Run function, std::size_t argument_size, std::size_t result_size,
             bool may_travel);
    TaskType(std::string type_name, Run function, std::size_t argument_size, std::size_t result_size,
             bool may_travel, const Special& special);
    TaskType(const TaskType&) = delete;
    TaskType& operator=(const TaskType&) = delete;

    static constexpr const char* plural = "task types";

    const std::string& name() const { return name_; }
    Run run() const { return run_; }
    std::size_t arguments_bytes() const { return arguments_bytes_; }
    std::size_t result_bytes() const { return result_bytes_; }

    /// False where arguments or result hold an address, or are not plain bytes: such a task stays on its
    /// node.
    bool travels() const { return travels_; }

    bool detached() const { return special_.end == End::detached; }

    /// Whether tasks of this type report themselves to the recorder (TaskRecord), so that the worker does
    /// not.
    bool records_itself() const { return special_.records == Records::itself; }

    const Cargo* cargo() const { return special_.cargo; }
    const Cargo* result_cargo() const { return special_.result_cargo; }

    void drop(Holds held, std::byte* payload) const {
        if (held == Holds::nothing) return;
        const Drop destroy = held == Holds::arguments ? special_.drop_arguments : special_.drop_result;
        if (destroy) destroy(payload);
    }

    /// The number under which it travels: the same in every process of one binary.
    TaskTypeId id() const { return id_; }

private:
    std::string name_;
    Run run_;
    std::size_t arguments_bytes_;
    std::size_t result_bytes_;
    bool travels_;
    Special special_;
    mutable TaskTypeId id_ = 0;

    friend void number_task_types();
};

/// Drops what a payload holds when this object goes, as the holder says. For payloads that are between two
/// places when their worker may be unwound.
class HeldPayload {
public:
    HeldPayload(const TaskType& type, std::byte* payload) : type_(&type), payload_(payload) {}
    HeldPayload(const HeldPayload&) = delete;
    HeldPayload& operator=(const HeldPayload&) = delete;
    ~HeldPayload() { type_->drop(holds, payload_); }

    Holds holds = Holds::arguments;

private:
    const TaskType* type_;
    std::byte* payload_;
};

/// Gives every registered type its number. Called by an execution before its nodes start.
void number_task_types();

/// The type of that number, or null where there is none (a message from the network may hold any number).
const TaskType* find_task_type(TaskTypeId id);

}  // namespace heddle::runtime
