// The directory of names (the pCoR paper, section 3.1): distributed over all processes, with caches that are
// corrected.
//
// The home of a name, a process that its letters determine, knows which thread has it. Other processes keep
// what it has told them. Invariant: `publish` and `withdraw` return after every process that was told of the
// name has acknowledged that it is another thread's, or no thread's, now. So a find that begins afterwards
// gives the new thread, wherever it is asked. Messages may overtake each other, so what a process is told
// after it was to forget the name may be older. The process does not keep that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/messaging/requests.hpp"
#include "model/messaging/thread_id.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::messaging {

/// One process's part of the directory.
class Directory final : public runtime::State<runtime::Node> {
public:
    explicit Directory(runtime::Node& node) : node_(node) {}

    /// Other processes tell this one that a name has changed.
    bool keeps_node() const override { return true; }
    void report(runtime::NodeReport& report) const override;

    // --- for threads; they wait
    void publish(runtime::Strand& strand, const std::string& name, ThreadId thread);
    /// Changes nothing where the name is another thread's by now.
    void withdraw(runtime::Strand& strand, const std::string& name, ThreadId thread);
    ThreadId find(runtime::Strand& strand, const std::string& name);

    // --- handlers
    struct Change {
        Asker asker;
        ThreadId thread;
        bool withdraws = false;
        std::string name;
    };
    void on_change(Change change);
    void on_find(const Asker& asker, const std::string& name);
    void on_forget(ProcessId home, const std::string& name);
    void on_forgotten(const std::string& name);

private:
    /// At its home.
    struct Name {
        std::optional<ThreadId> thread;
        std::set<ProcessId> told;
        std::vector<Asker> finds;     ///< that wait for a thread of that name
        std::vector<Change> changes;  ///< the first is being made
        std::size_t unacknowledged = 0;
    };

    void change(runtime::Strand& strand, const std::string& name, ThreadId thread, bool withdraws);
    void begin_change(Name& name);
    void end_change(Name& name);
    void tell(const Asker& asker, Name& name);

    runtime::Node& node_;

    // Of handlers, which run one at a time.
    std::unordered_map<std::string, Name> names_;

    mutable runtime::SpinLock lock_;  ///< over what follows
    std::unordered_map<std::string, ThreadId> cache_;
    struct Asking {
        std::uint32_t finds = 0;
        bool forgotten = false;  ///< since the first of them has asked
    };
    std::unordered_map<std::string, Asking> asking_;  ///< names that finds of this process wait for
    std::uint64_t found_ = 0, cached_ = 0, corrected_ = 0;
};

}  // namespace heddle::messaging
