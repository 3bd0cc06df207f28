// Numbers the types of tasks in the order of their names, so that a number means the same in each process.
#include "runtime/core/task_type.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "runtime/core/readable.hpp"
#include "runtime/core/registry.hpp"

namespace heddle::runtime {

std::string readable(const std::string& name) {
    int failed = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &failed), std::free);
    return failed == 0 && text ? std::string(text.get()) : name;
}

std::string function_in(const std::string& type) {
    constexpr std::string_view before = ", &";
    const std::size_t found = type.find(before);
    if (found == std::string::npos) return type;
    const std::size_t begin = found + before.size();
    std::string name = type.substr(begin, type.find_first_of("<,>", begin) - begin);
    // Of a function template, all is there: `(void name<int>(int))`.
    if (name.starts_with('(')) name.erase(0, name.find(' ') + 1);
    return name;
}

TaskType::TaskType(std::string type_name, Run function, std::size_t argument_size, std::size_t result_size,
                   bool may_travel)
    : TaskType(std::move(type_name), function, argument_size, result_size, may_travel, Special{}) {}

TaskType::TaskType(std::string type_name, Run function, std::size_t argument_size, std::size_t result_size,
                   bool may_travel, const Special& special)
    : name_(std::move(type_name)),
      run_(function),
      arguments_bytes_(argument_size),
      result_bytes_(result_size),
      travels_(may_travel),
      special_(special) {
    Registry<TaskType>::add(*this);
}

void number_task_types() {
    Registry<TaskType>::number(
        [](const TaskType& type, std::uint32_t number) { type.id_ = static_cast<TaskTypeId>(number); });
}

const TaskType* find_task_type(TaskTypeId id) {
    const auto& types = Registry<TaskType>::sorted();
    return id < types.size() ? types[id] : nullptr;
}

}  // namespace heddle::runtime
