// Prints the types of tasks and the message handlers, a line each, sorted by name. Processes compare this
// text before they run together.
#include "runtime/core/registered.hpp"

#include <fmt/format.h>

#include "runtime/comm/outbox.hpp"
#include "runtime/core/registry.hpp"
#include "runtime/core/task_type.hpp"

namespace heddle::runtime {

std::string registered_functions() {
    std::string text;
    for (const Handler* handler : all_handlers()) text += fmt::format("handler {}\n", handler->name());
    for (const TaskType* type : Registry<TaskType>::sorted())
        text += fmt::format("task {} ({} bytes in, {} bytes out)\n", type->name(), type->arguments_bytes(),
                            type->result_bytes());
    return text;
}

}  // namespace heddle::runtime
