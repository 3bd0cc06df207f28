// Logs connections that were dropped before they authenticated. Any program that reaches the port can cause
// thousands of such drops. So the log gets a line an interval and not a line a connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "runtime/native/socket.hpp"

namespace heddle::native {

/// Counts drops by reason. The first drop after a quiet interval is logged at once, with its address. The
/// drops that follow within the interval are counted and share one line at its end. Used by one thread.
class DropLog {
public:
    using Write = std::function<void(const std::string& line)>;

    /// `write`: takes each line. The default writes a warning to the program's log.
    explicit DropLog(std::chrono::milliseconds interval, Write write = {});

    /// Writes what is still counted.
    ~DropLog();
    DropLog(const DropLog&) = delete;
    DropLog& operator=(const DropLog&) = delete;

    /// A connection from `address` was dropped at `now` because of `reason`.
    void dropped(const std::string& address, const std::string& reason, Deadline now);

    /// Writes the summary if the interval has ended. Returns when to call again; Deadline::max() if nothing
    /// is counted.
    Deadline summarize(Deadline now);

private:
    void write_summary();

    /// More reasons than this are counted together: a reason must not let a stranger take memory.
    static constexpr std::size_t reasons_max = 16;

    std::chrono::milliseconds interval_;
    Write write_;
    Deadline interval_end_ = Deadline::min();
    std::map<std::string, std::uint64_t> counts_;  ///< of drops since the last line, by reason
};

}  // namespace heddle::native
