// Turns the mangled C++ name of a task type into a name for error messages and lists.
#pragma once

#include <string>

namespace heddle::runtime {

/// `name` as its author wrote it, if it is the mangled name of a type; else `name`.
std::string readable(const std::string& name);

/// The function that is an argument of the template type `type`, as in Task<int, &name, int>; else `type`.
std::string function_in(const std::string& type);

}  // namespace heddle::runtime
