// Divides work among processes on several machines through a common folder. A process takes an item by making
// a file there, and renews the file's time while it works. Items of a process that has died are free again.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace heddle::host {

class Claims {
public:
    /// Whether an owner, as another process has named itself, still works. Nothing: not known.
    using Lives = std::function<std::optional<bool>(const std::string& owner)>;

    /// `owner` names this process. If it starts again with the same name, it takes its own items at once.
    /// An item of an owner that is not known to live is free once its file has been old for `patience`.
    /// Throws Error if the folder cannot be made.
    Claims(std::filesystem::path folder, std::string owner, Lives lives = {},
           std::chrono::seconds patience = std::chrono::seconds(60));
    /// Gives all items back.
    ~Claims();
    Claims(const Claims&) = delete;
    Claims& operator=(const Claims&) = delete;

    /// False if another process has the item. `item` is a name of a file. Throws Error if the folder cannot
    /// be written.
    bool take(const std::string& item);
    void give_back(const std::string& item);

    /// Makes the files of this process's items young, and forgets items that another has taken over. To be
    /// called several times within `patience`.
    void renew();

private:
    struct Seen;
    static Seen see(const std::filesystem::path& file);
    std::optional<ino_t> make(const std::filesystem::path& file) const;
    bool is_free(const std::filesystem::path& file, const Seen& seen) const;

    std::filesystem::path folder_;
    std::string owner_;
    Lives lives_;
    std::chrono::seconds patience_;
    std::set<std::string> held_;
};

/// The owner that this process is: host and process, after the task of a Slurm array if it is in one.
std::string owner_of_this_process();

/// Whether the task of a Slurm array, of which `owner_of_this_process` names a process, runs, by `squeue`.
/// Nothing for another owner, for this process's own task, or if Slurm does not answer.
std::optional<bool> slurm_task_runs(const std::string& owner);

}  // namespace heddle::host
