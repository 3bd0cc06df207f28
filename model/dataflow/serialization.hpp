// Moves threads that a dataflow program created to other nodes (the KAAPI paper, section 3.1, the
// serialization attribute). The program gives two functions that save and restore a thread, because what lies
// on a stack cannot travel.
//
//     void save(void* argument, runtime::Writer& to);
//     void* restore(runtime::Reader& from, Attributes& attributes);
//     const Serialization walks("walks", &walk, &save, &restore);
//
//     attributes.set_serialization(walks);
#pragma once

#include <string>

#include "model/dataflow/kaapi_threads.hpp"
#include "runtime/core/task_type.hpp"

namespace heddle::dataflow {

/// Of the threads of one kind. Objects are static and register themselves before `main`, under names of their
/// own.
class Serialization {
public:
    /// Writes what the thread needs on another node. `argument`: of the thread's routine, which uses it no
    /// more.
    using Save = void (*)(void* argument, runtime::Writer& to);

    /// Reads that, and returns the argument with which the thread goes on. May set the thread's steal
    /// function in `attributes`, which have this serialization already.
    using Restore = void* (*)(runtime::Reader& from, Attributes& attributes);

    /// `routine`: with which a thread goes on where it has arrived.
    Serialization(std::string name, StartRoutine routine, Save save, Restore restore);

    const std::string& name() const { return type_.name(); }

private:
    friend class Travel;

    StartRoutine routine_;
    Save save_;
    Restore restore_;
    runtime::TaskType type_;  ///< of a thread that was stolen; its number is that of the serialization
};

/// Writes, sends and starts threads that travel.
class Travel {
public:
    static runtime::Body save(const Serialization& serialization, void* argument);

    /// `caller`: a worker of a node, or its receiver. Sends a thread that was saved.
    static void send(runtime::Worker& caller, NodeId to, runtime::Body saved);

    /// Adds a thread that was saved to what a thief of another node gets.
    static void give(runtime::Gift& gift, const Serialization& serialization, const runtime::Body& saved);

    /// Starts a thread that has arrived. Throws MalformedMessage if it cannot be read.
    static void start(runtime::Node& node, runtime::Context& caller, std::span<const std::byte> saved);

    static runtime::TaskType::Special special();
};

}  // namespace heddle::dataflow
