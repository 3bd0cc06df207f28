// Files that a signal must not leave behind half written: before SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the
// process, they are removed. Writes no file.
#pragma once

#include <string>

namespace heddle {

struct UnfinishedSlot;

/// While it lives, the file of this name is not finished. The process whose signal it is must be the one that
/// made this object: a process that it has forked removes nothing. A signal that the program ignores or
/// handles itself is left alone.
class UnfinishedFile {
public:
    /// `path`: the caller makes the file after this. Absolute, because the process may change its folder.
    explicit UnfinishedFile(const std::string& path);
    ~UnfinishedFile();
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

private:
    UnfinishedSlot* slot_;
};

}  // namespace heddle
