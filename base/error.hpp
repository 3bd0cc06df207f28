// The error that a caller's mistake causes: what is wrong, where, and what to do about it.
// Not for our own mistakes: those are assertions (base/assert.hpp).
#pragma once

#include <stdexcept>
#include <string>

namespace heddle {

/// A place in a file that a person wrote. `line` counts from 1; 0 means the file as a whole.
/// An empty `file` means that no file is involved (a command-line option, for example).
struct Location {
    std::string file;
    int line = 0;
};

/// Thrown for every mistake of a caller: bad YAML, a missing graph, an unknown policy. `what()` reads
/// `file:line: message; advice`, without the parts that are empty.
class Error : public std::runtime_error {
public:
    explicit Error(std::string message, std::string advice = {}, Location where = {});

    const std::string& message() const { return message_; }
    const std::string& advice() const { return advice_; }
    const Location& where() const { return where_; }

    /// The same error at a place that only the caller knows. An error that has a place keeps it.
    Error at(const Location& where) const;

    /// The same error in the caller's words, at another place. It keeps its advice, and a refusal remains
    /// one.
    Error reworded(std::string message, Location where) const;

    /// The same error as a refusal: it is known before the work begins that it cannot be done as asked, and
    /// the same again would be refused again. So a caller of many runs may leave this one out. Any other
    /// error may be a failure of one run, which says nothing of the next.
    Error as_refusal() const;
    bool is_refusal() const { return refusal_; }

private:
    std::string message_;
    std::string advice_;
    Location where_;
    bool refusal_ = false;
};

}  // namespace heddle
