// What a trace is written in. A format gets all that happened in the order of time, states and messages
// alike, and makes bytes of it. It keeps no history and knows no files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/activity.hpp"
#include "base/ids.hpp"
#include "base/recorder.hpp"
#include "base/time.hpp"

namespace heddle::results {

/// Where a format's bytes go.
class TraceSink {
public:
    virtual ~TraceSink() = default;
    virtual void write(const std::string& bytes) = 0;
};

/// Called with times that do not go back. A module works on one message at a time.
class TraceFormat {
public:
    virtual ~TraceFormat() = default;

    virtual void begin(NodeId nodes, CoreId cores) = 0;
    /// `first`: this worker did nothing before.
    virtual void state(WorkerId worker, Activity activity, Time time, bool first) = 0;
    virtual void send_begins(const MessageNote& message, Time time) = 0;
    virtual void send_ends(const MessageNote& message, Time time) = 0;
    virtual void receive_begins(const MessageNote& message, Time time) = 0;
    virtual void receive_ends(const MessageNote& message, Time time) = 0;
    /// All workers' last states end. Messages may still come.
    virtual void states_end(Time time) = 0;
    virtual void end(Time time) = 0;
};

/// The format that a file of this name has, by the end of the name: `.pftrace` (Perfetto), `.paje` and
/// `.trace` (Paje), each with or without `.gz`. Throws Error for other names.
std::unique_ptr<TraceFormat> make_trace_format(const std::string& path, TraceSink& sink);

/// Whether the name says that the file is compressed.
bool is_compressed(const std::string& path);

}  // namespace heddle::results
