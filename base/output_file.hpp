// Writes the files that a caller names. A regular file appears whole or not at all; a device, a pipe or a
// terminal is written into. Knows no format.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/unfinished_file.hpp"

namespace heddle {

/// How errors speak of an output.
struct OutputWords {
    std::string what = "the file";
    std::string advice = "name another file, or make its folder writable";
};

/// A file that is being written.
///
/// Links are followed: the file that they lead to is written, and the links stay. If the name belongs to no
/// file or to a regular one, the text goes into `NAME.PID.tmp` beside it, which takes the name in `commit`
/// and keeps the permissions of the old file; until then readers see the old one. Without `commit` the text
/// is removed, also if a signal such as SIGINT ends the process. Anything else (a device, a FIFO,
/// `/dev/stdout`) is written into as it is, and nothing is removed.
class OutputFile {
public:
    /// Throws Error if nothing can be written there: a directory, a missing folder, missing permission.
    explicit OutputFile(std::string path, OutputWords words = {});
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Throws Error if the system refuses the text.
    void write(std::string_view text);

    /// For a library that writes by itself. The descriptor belongs to this object.
    int descriptor() const { return descriptor_; }

    enum class Durable : bool { no, yes };

    /// Puts the text under its name. `durable`: it is there after a power cut, too. Throws Error; the old
    /// file is then unchanged. The caller must call it once, and nothing after it.
    void commit(Durable durable = Durable::no);

    /// Throws the Error of an output that cannot be written. `reason`: an errno.
    [[noreturn]] void fail(int reason) const;

private:
    void open();
    void open_beside();
    void sync(int descriptor) const;

    OutputWords words_;
    std::string path_;                          ///< as the caller names it
    std::string target_;                        ///< what links lead to
    std::string beside_;                        ///< empty if the file is written in place
    std::optional<UnfinishedFile> unfinished_;  ///< `beside_`
    int descriptor_ = -1;
};

/// Throws the Error that writing this file would end with, so that it comes before the work. A named pipe is
/// not tried: its reader would take that for the end.
void expect_writable(const std::string& path, const OutputWords& words = {});

/// Writes a whole text by an OutputFile.
void write_file(const std::string& path, std::string_view text,
                OutputFile::Durable durable = OutputFile::Durable::no, const OutputWords& words = {});

/// Whether two outputs would be one regular file, which need not exist yet. Links are followed.
bool same_file(const std::string& one, const std::string& other);

/// Whether to write `output` would replace one of these files. A device is read and written without loss.
bool replaces_one_of(const std::string& output, std::span<const std::string> inputs);

}  // namespace heddle
