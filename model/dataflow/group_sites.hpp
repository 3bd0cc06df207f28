// The groups (recorded graphs of dataflow tasks) on one node: threads that run there, values under way or at
// rest, and answers that a group waits for (the KAAPI paper, section 3.5). A thread receives a value in a
// closure that begins in the state `stolen`, as if the sender had stolen it. The closure ends when the value
// comes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/dataflow/group_values.hpp"
#include "model/dataflow/node_run.hpp"
#include "model/dataflow/site_program.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::dataflow {

/// What is asked of other nodes: a run, or values that rest there. Its number is not that of another one.
struct GroupQuestion {
    GroupName group;
    std::uint32_t run = 0;
    friend constexpr auto operator<=>(const GroupQuestion&, const GroupQuestion&) = default;
};

/// The answers to a question. They may come before the node that asks says how many it waits for.
class GroupAnswers {
public:
    /// So many. Called once.
    void expect(std::uint32_t count, runtime::Node& node, runtime::Context& caller);
    /// Throws MalformedMessage for a second answer of that number.
    void put(std::uint32_t number, runtime::Body answer, runtime::Node& node, runtime::Context& caller);

    runtime::Event& end() { return end_; }
    /// Afterwards.
    const std::map<std::uint32_t, runtime::Body>& all() const { return answers_; }

private:
    class End final : public runtime::Event {
    public:
        std::string what() const override { return "the end of a group of threads"; }
    };
    bool complete() const { return expected_ != 0 && answers_.size() == expected_; }

    runtime::SpinLock lock_;
    std::map<std::uint32_t, runtime::Body> answers_;
    std::size_t expected_ = 0;
    End end_;
};

/// How a thread of a group begins.
struct SiteRun {
    GroupName group;
    CoreId core = 0;
    std::uint32_t run = 0;
    std::uint32_t iteration = 0;
    std::uint32_t iterations = 0;
    bool strict = false;
    bool measured = false;
    std::uint32_t digest = 0;  ///< GroupValue
    /// Objects that the group only reads, and whose values stay on the node under the names that they have.
    std::set<std::uint32_t> stay{};
};

class GroupSites final : public runtime::State<runtime::Node> {
public:
    using Programs = std::map<CoreId, std::shared_ptr<const SiteProgram>>;

    explicit GroupSites(runtime::Node& node) : node_(node) {}

    // --- for groups
    /// A name for a group of this node, or for another question.
    GroupName new_name();
    /// A node does its part of a run, here or elsewhere.
    void begin(runtime::Worker& worker, NodeId node, NodeRun run);
    /// The programs of this node's threads, which has recorded the group itself. They may be asked for
    /// already.
    void install(runtime::Context& caller, GroupName group, std::uint32_t placing, Programs programs);
    /// Gives a value to threads of a group, once for each node.
    void send(runtime::Context& caller, const GroupValue& value, std::span<const Target> to,
              const runtime::Body& body);

    std::shared_ptr<GroupAnswers> ask(const GroupQuestion& question);
    void end(const GroupQuestion& question);
    /// Asks for a value that rests on another node.
    void fetch(runtime::Worker& worker, NodeId node, const ValueName& value, const GroupQuestion& question,
               std::uint32_t number);
    void answer(runtime::Context& caller, const GroupQuestion& question, std::uint32_t number,
                runtime::Body body);
    /// A value that rests on a node is not the object's any more.
    void drop(runtime::Worker& worker, NodeId node, const ValueName& value);
    /// A group is over.
    void forget(runtime::Worker& worker, NodeId node, GroupName group);

    GroupStore& store() { return store_; }
    void count_run(double seconds);
    void count_moved(std::uint64_t objects);

    // --- for the messages
    void begin_here(runtime::Context& caller, NodeRun run);
    void arrive(runtime::Context& caller, const GroupValue& value, std::uint32_t readers, runtime::Body body);
    void forget_here(GroupName group);

    /// Until the group is forgotten: its later runs begin with what is here.
    bool keeps_node() const override;
    void report(runtime::NodeReport& report) const override;

private:
    /// One group here.
    struct Here {
        GroupMailbox mailbox;
        std::map<std::uint32_t, Programs> programs;  ///< of each placing that is still needed
        std::vector<NodeRun> waiting;                ///< for its programs
    };

    std::shared_ptr<Here> here(GroupName group);
    void move(runtime::Context& caller, const NodeRun& run, const GroupMove& move, Here& here);
    void start(runtime::Context& caller, const NodeRun& run, const std::shared_ptr<Here>& here);

    runtime::Node& node_;
    GroupStore store_;
    mutable runtime::SpinLock lock_;  ///< over what follows
    std::map<GroupName, std::shared_ptr<Here>> groups_;
    std::map<GroupQuestion, std::shared_ptr<GroupAnswers>> questions_;
    std::uint32_t next_ = 0;
    std::uint64_t runs_ = 0;
    std::uint64_t moved_ = 0;
    double seconds_ = 0;
};

}  // namespace heddle::dataflow
