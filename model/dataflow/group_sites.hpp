// The threads of groups on one node, and what is on its way to them (KAAPI, section 3.5). A thread receives
// what others have written in closures that begin as stolen ones: the sender has them, and they end when the
// value comes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/dataflow/site_program.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::dataflow {

/// A group in the run: the node that made it, and its number there.
struct GroupName {
    NodeId home = 0;
    std::uint32_t number = 0;
    friend constexpr auto operator<=>(const GroupName&, const GroupName&) = default;
};

/// A value on its way: what it is, and for which iteration.
struct GroupValue {
    GroupName group;
    std::uint32_t iteration = 0;
    std::uint32_t number = 0;  ///< GroupPrograms
};

/// What one thread still receives. Values may come before the thread has begun, and before its iteration.
///
/// Invariant: for each value either the message comes first, and lies here until its closure is made, or the
/// closure does, and ends when the message comes.
class GroupMailbox {
public:
    /// A value has come.
    void put(std::uint32_t iteration, std::uint32_t number, runtime::Body value, runtime::Context& caller);
    /// `closure` of `thread` receives it. `type`: of the value.
    void expect(std::uint32_t iteration, std::uint32_t number, Thread& thread, Closure& closure,
                const ValueType& type);

private:
    struct Expected {
        runtime::Body value;
        Thread* thread = nullptr;
        Closure* closure = nullptr;
        const ValueType* type = nullptr;
    };
    static void end(const Expected& expected, runtime::Context& caller);

    runtime::SpinLock lock_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Expected> expected_;
};

/// What the node that made a group waits for: a result for each object that it writes, and the end of each
/// thread.
class GroupHome {
public:
    GroupHome(std::size_t objects, std::uint32_t ends);

    /// Null: a thread has ended.
    void put(runtime::Node& node, runtime::Context& caller, std::uint32_t object, runtime::Body value);
    runtime::Event& end() { return end_; }
    const runtime::Body& result(std::size_t object) const { return results_[object]; }

private:
    class End final : public runtime::Event {
    public:
        std::string what() const override { return "the end of a group of threads"; }
    };
    runtime::SpinLock lock_;
    std::vector<runtime::Body> results_;
    std::uint32_t left_;
    End end_;
};

/// How a thread of a group begins.
struct SiteStart {
    GroupName group;
    CoreId core = 0;
    std::uint32_t iterations = 0;
    bool strict = false;
};

class GroupSites final : public runtime::State<runtime::Node> {
public:
    explicit GroupSites(runtime::Node& node) : node_(node) {}

    /// Starts a thread of a group, here or on another node.
    void start(runtime::Worker& worker, WorkerId site, const SiteStart& start, const SiteProgram& program);
    /// Gives a value to the threads of a group, once for each node.
    void send(runtime::Worker& worker, const GroupValue& value, std::span<const WorkerId> to,
              runtime::Body body);
    /// Gives a result, or with `Recording::none` the news of a thread's end, to the node that made the group.
    void finish(runtime::Worker& worker, GroupName group, std::uint32_t object, runtime::Body body);

    std::shared_ptr<GroupMailbox> mailbox(GroupName group, CoreId core);
    void close(GroupName group, CoreId core);

    /// A group of this node runs from here on, until it is taken back.
    GroupName begin(GroupHome& home);
    void end(GroupName group);

    // --- for the messages
    void begin_site(runtime::Context& caller, std::span<const std::byte> message);
    void arrive(runtime::Context& caller, std::span<const std::byte> head, runtime::Body body);
    void finished(runtime::Context& caller, GroupName group, std::uint32_t object, runtime::Body body);

    void report(runtime::NodeReport& report) const override;

private:
    runtime::Node& node_;
    mutable runtime::SpinLock lock_;  ///< over what follows
    std::map<std::pair<GroupName, CoreId>, std::shared_ptr<GroupMailbox>> mailboxes_;
    std::map<std::uint32_t, GroupHome*> homes_;
    std::uint32_t next_ = 0;
    std::uint64_t groups_ = 0;
};

}  // namespace heddle::dataflow
