// Starts a child process and talks to it by lines, over its standard input and output. Its standard error is
// kept for messages.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "host/descriptor.hpp"

namespace heddle::host {

class Conversation {
public:
    /// Throws Error if the process cannot be started.
    explicit Conversation(const std::vector<std::string>& argv);
    /// Ends its input, and kills it.
    ~Conversation();
    Conversation(const Conversation&) = delete;
    Conversation& operator=(const Conversation&) = delete;

    /// Writes a line. Nothing happens if the process has ended.
    void tell(const std::string& line);
    /// Its next line. Nothing if it has ended, or if none comes within `time`.
    std::optional<std::string> hear(std::chrono::milliseconds time);
    /// The last line that it has written to standard error.
    std::string last_error();

private:
    Descriptor line_;    ///< its standard input and output
    Descriptor errors_;  ///< its standard error
    pid_t process_ = -1;
    std::string heard_;
};

}  // namespace heddle::host
