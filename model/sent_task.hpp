// A fork/join task that is sent to one certain worker, for example to the owner of the data that it reads.
//
//     TaskOn<Count> there(worker, {node, core}, begin, end);
//     ...
//     const auto found = there.result(caller);
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "model/fork_join.hpp"
#include "runtime/core/caller.hpp"
#include "runtime/sources/pinned_tasks.hpp"

namespace heddle::model {

/// F::run(strand, arguments...) on worker `to` alone. Arguments and result travel (runtime::Serializable).
template <class F>
class TaskOn {
    using Task = TaskFunction<F>;

public:
    template <class... Given>
    TaskOn(runtime::Worker& sender, WorkerId to, Given&&... arguments) {
        static_assert(Task::Signature::travels, "a task for another node holds no addresses");
        alignas(16) std::array<std::byte, runtime::payload_bytes> payload{};
        Task::store(payload.data(), std::forward<Given>(arguments)...);
        sent_.send(sender, to, Task::type, payload.data());
    }

    /// Waits until the task has run. Once; it must be called before the object goes.
    typename Task::Result result(runtime::Caller caller) {
        caller.wait(sent_);
        return Task::take_result(sent_.take_result());
    }

private:
    runtime::SentTask sent_;
};

}  // namespace heddle::model
