// The interface of programs to the scheduler. A program has an object on each node, and the nodes' values
// combine to one answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "runtime/backend.hpp"

namespace heddle::runtime {

class Node;
class Worker;

/// One named value of an answer. The values of the nodes are combined into one.
struct AnswerValue {
    enum class Combine : std::uint8_t {
        sum,
        max,
        sum_40_bits,  ///< the sum modulo 2^40, where each node's part is a whole number below 2^40
    };

    std::string name;
    double value = 0;  ///< whole numbers are exact up to 2^53
    Combine combine = Combine::sum;
};
using Answer = std::vector<AnswerValue>;

/// The program on one node. State that a sequential program would keep in globals lives here: a thousand
/// nodes may share one process, and run in it at the same time.
class Program {
public:
    virtual ~Program() = default;

    /// What one unit of this program's work costs (Worker::work counts units).
    virtual Work unit() const { return {}; }

    /// Called once, before anything else happens on the node: execution models prepare what messages may ask
    /// for.
    virtual void set_up(Node& /*node*/) {}

    /// Runs once on every worker of the node, as that worker's first task, and on a node that joins when it
    /// is a member. Where there is nothing to do it calls Worker::begins_nothing. A worker may wake up late,
    /// or its node may join late, and the run lasts until its last task has ended.
    virtual void begin(Worker& worker) = 0;

    /// Another node has joined the run, or has left it: after the last of its messages. In a handler.
    virtual void joined(Node& /*node*/, NodeId /*other*/) {}
    virtual void left(Node& /*node*/, NodeId /*other*/) {}

    /// Whether this node may leave the run, as far as the program goes: it keeps nothing that other nodes
    /// need. Asked when the node has no work. Then `answer` and `evidence` are asked for. Any worker.
    virtual bool may_leave() const { return true; }

    /// This node's share of the answer, asked for when the run is over. Values of the same name are combined
    /// over the nodes; a node that has nothing to say returns nothing.
    virtual Answer answer() const = 0;

    /// What this node shows besides, for the workload's check: too much, or of another kind, than values that
    /// can be combined. Asked for when the run is over; sent to node 0 in one message.
    virtual Bytes evidence() const { return {}; }
};

using ProgramFactory = std::function<std::unique_ptr<Program>(NodeId)>;

}  // namespace heddle::runtime
