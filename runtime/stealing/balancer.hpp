// Load balancers that send detached tasks to other nodes unasked, when a node has many or
// its neighbours have fewer. EARTH has such balancers (Tremblay et al., section 6).
// Stealing is the opposite: there an idle node asks. Workers look up between detached
// tasks only; in a program that has others too, what moves is what a thief would get.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/comm/outbox.hpp"
#include "runtime/run/schedule.hpp"

namespace heddle::runtime {

class Node;
class Worker;
struct MemberList;

class Balancer {
public:
    explicit Balancer(Node& node);

    /// The members have changed.
    void follow(const MemberList& members);

    /// A worker looks up from its work. `tasks`: how many wait in its deque, which has shared some of them.
    /// Those in the node's shared queue are counted here.
    void look(Worker& worker, std::uint32_t tasks);

    /// A worker has nothing to do.
    void idle(Worker& worker);

    /// A neighbour says how many tasks it has. From a handler.
    void told(NodeId neighbour, std::uint32_t tasks);

private:
    struct Neighbour {
        std::atomic<NodeId> node{0};
        std::atomic<std::uint32_t> tasks{0};  ///< that it has, as far as we know
    };
    void average(Worker& worker);
    void tell(Worker& worker, std::uint32_t tasks);

    Node& node_;
    const Balancing& settings_;
    std::vector<std::atomic<std::uint32_t>> of_worker_;  ///< how many tasks each had when it looked up last
    std::array<Neighbour, 2> neighbours_;                ///< the nodes before and after this one, in a ring
    std::atomic<std::size_t> neighbours_count_{0};
    std::atomic<std::uint32_t> told_{0};  ///< what the neighbours know of us
};

}  // namespace heddle::runtime
