// The limits that the system sets to this process: file sizes, open files, threads, memory.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "base/error.hpp"

namespace heddle::host {

/// From now on a write beyond the largest file size fails with EFBIG. By default the signal SIGXFSZ would end
/// the process without a message and leave an unfinished file.
void report_large_files();

/// Makes sure that this process, and each that it starts, may have `needed` open files: raises its own limit
/// as far as the system allows. Throws Error, which names `purpose`, if that is not enough.
void allow_open_files(std::uint64_t needed, const std::string& purpose);

/// If `failure` says that the system ran out of memory, threads, processes or open files: the error for the
/// user. Otherwise nothing.
std::optional<Error> exhausted_resource(const std::exception_ptr& failure);

}  // namespace heddle::host
