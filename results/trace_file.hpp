// The file of a trace or a table, compressed or not. It is written beside its place and gets its name when
// the run has ended. Knows no format.
#pragma once

#include <string>

#include "base/output_file.hpp"
#include "results/trace_format.hpp"

struct gzFile_s;

namespace heddle::results {

class TraceFile final : public TraceSink {
public:
    /// Throws Error if nothing can be written to `path`. The caller must construct it before the run.
    /// For errors: `what` it is, and the `option` that named it on the command line.
    TraceFile(const std::string& path, bool compressed, const std::string& what = "the trace",
              const std::string& option = "--trace");

    /// Removes a file that was not committed.
    ~TraceFile() override;
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    /// Does not throw: `commit` reports what could not be written.
    void write(const std::string& bytes) override;

    /// Gives the file its name. Throws Error if it is not whole. The caller must call it once.
    void commit();

private:
    void flush();

    OutputFile file_;
    gzFile_s* stream_ = nullptr;
    std::string block_;
    int problem_ = 0;
};

}  // namespace heddle::results
