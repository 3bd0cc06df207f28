// The parts of a launch on other hosts, which a remote shell starts. If there are many hosts, some of them
// start further ones. So no machine starts more than a few, and starting takes time by the tree's depth.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "host/started_processes.hpp"
#include "runtime/native/launch_part.hpp"

namespace heddle::native {

class LaunchTree {
public:
    /// What the process on one host is responsible for: its own nodes, and those that it starts elsewhere.
    struct Branch {
        HostNodes here;
        std::vector<HostNodes> further;
        bool spare;
    };

    /// `told`: what all hosts are told; its nodes and hosts do not count. `from`: this host's name, if the
    /// user is at another one. `begin_max` is for messages.
    LaunchTree(host::StartedProcesses& processes, LaunchPart told, std::string from,
               std::chrono::milliseconds begin_max);

    /// By at most `told.branches` remote shells. `spare`: see StartedProcesses. Throws Error.
    void start(const std::vector<HostNodes>& hosts, bool spare = false);

    /// Null: that process is none of these.
    const Branch* branch(std::size_t process) const;

    /// Calls `code` with each node of the branch.
    template <class Code>
    static void for_each_node(const Branch& branch, const Code& code) {
        const auto of_host = [&](const HostNodes& nodes) {
            for (NodeId i = 0; i < nodes.count; ++i) code(nodes.first + i);
        };
        of_host(branch.here);
        for (const HostNodes& nodes : branch.further) of_host(nodes);
    }

    /// Says what went wrong on the first host of a branch that has ended. Returns false, and says nothing, if
    /// nothing did or if that host says it.
    bool note(const host::StartedProcesses::End& end) const;

private:
    void start_branch(Branch branch);
    std::string late(const HostNodes& nodes) const;
    std::string not_begun(const HostNodes& nodes, int code) const;
    std::string trial(const HostNodes& nodes) const;
    std::string here() const;

    host::StartedProcesses& processes_;
    LaunchPart told_;
    std::string from_;
    std::chrono::milliseconds begin_max_;
    std::string folder_;                      ///< in which the launch began; it may be gone when a node joins
    std::map<std::size_t, Branch> branches_;  ///< by the process's number
};

}  // namespace heddle::native
