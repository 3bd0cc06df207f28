// The file of a trace: written beside its place while the run is on, compressed or not, and renamed into its
// place when all is in it. Knows no format.
#pragma once

#include <string>

#include "results/trace_format.hpp"

struct gzFile_s;

namespace heddle::results {

class TraceFile final : public TraceSink {
public:
    /// Throws Error where nothing can be written beside `path`: call it before the run.
    /// `option`: by which the user named the file, for messages.
    TraceFile(std::string path, bool compressed, std::string option = "--trace");

    /// Leaves nothing behind where the file was not committed.
    ~TraceFile() override;
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    /// Does not throw: what could not be written is told by `commit`.
    void write(const std::string& bytes) override;

    /// The file takes its place. Throws Error where it is not whole. Called once.
    void commit();

private:
    [[noreturn]] void cannot_write(int reason) const;
    void flush();

    std::string path_;
    std::string option_;
    std::string beside_;
    gzFile_s* stream_ = nullptr;
    std::string block_;
    int problem_ = 0;
};

}  // namespace heddle::results
