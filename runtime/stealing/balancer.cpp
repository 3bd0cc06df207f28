// Sends detached tasks to another node, drawn at random or a neighbour with fewer tasks, and tells neighbours
// how many tasks this node has.
#include "runtime/stealing/balancer.hpp"

#include <algorithm>

#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

namespace {

const Handler load_handler(
    "balance.load", Handler::Kind::control,
    [](Node& node, NodeId from, auto message) {
        node.balancer().told(from, value_in<std::uint32_t>(message));
    },
    Handler::IfGone::drop);

}  // namespace

Balancer::Balancer(Node& node)
    : node_(node), settings_(node.schedule().balancing), of_worker_(node.topology().cores) {
    const NodeId nodes = node.topology().nodes;
    neighbours_[0].node = (node.id() + 1) % nodes;
    neighbours_[1].node = (node.id() + nodes - 1) % nodes;
    neighbours_count_ = std::min<std::size_t>(nodes - 1, neighbours_.size());
}

void Balancer::follow(const MemberList& members) {
    const std::size_t count = members.nodes.size();
    const std::size_t place = members.place_of(node_.id());
    neighbours_count_ = 0;
    neighbours_[0].node = members.nodes[(place + 1) % count];
    neighbours_[1].node = members.nodes[(place + count - 1) % count];
    for (Neighbour& neighbour : neighbours_) neighbour.tasks = 0;
    neighbours_count_ = std::min(count - 1, neighbours_.size());
}

void Balancer::look(Worker& worker, std::uint32_t tasks) {
    of_worker_[worker.id.core].store(tasks, std::memory_order_relaxed);
    const auto members = node_.members() ? node_.members()->list() : nullptr;
    const NodeId nodes = members ? members->topology.nodes : node_.topology().nodes;
    if (nodes == 1) return;
    if (settings_.policy == Balancing::Policy::neighbours) return average(worker);
    if (tasks + node_.shared_tokens().size() < settings_.threshold) return;
    const NodeId own = members ? members->place_of(node_.id()) : node_.id();
    auto other = static_cast<NodeId>(worker.random().below(nodes - 1));
    if (other >= own) ++other;
    node_.steals().give_away(worker.outbox(), members ? members->nodes[other] : other);
}

void Balancer::average(Worker& worker) {
    std::uint32_t tasks = node_.shared_tokens().size();  // the node's, and so no worker's
    for (const auto& of_one : of_worker_) tasks += of_one.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < neighbours_count_; ++i) {
        Neighbour& neighbour = neighbours_[i];
        const std::uint32_t there = neighbour.tasks.load(std::memory_order_relaxed);
        if (tasks < there + settings_.threshold) continue;
        const std::uint32_t given = node_.steals().give_away(worker.outbox(), neighbour.node);
        neighbour.tasks.store(there + given, std::memory_order_relaxed);
        tasks -= std::min(tasks, given);
    }
    const std::uint32_t known = told_.load(std::memory_order_relaxed);
    if (std::max(tasks, known) - std::min(tasks, known) >= settings_.threshold) tell(worker, tasks);
}

void Balancer::idle(Worker& worker) {
    of_worker_[worker.id.core].store(0, std::memory_order_relaxed);
    if (settings_.policy != Balancing::Policy::neighbours || told_.load(std::memory_order_relaxed) == 0)
        return;
    const auto none = [](const auto& tasks) { return tasks.load(std::memory_order_relaxed) == 0; };
    if (node_.shared_tokens().size() == 0 && std::all_of(of_worker_.begin(), of_worker_.end(), none))
        tell(worker, 0);
}

void Balancer::tell(Worker& worker, std::uint32_t tasks) {
    told_.store(tasks, std::memory_order_relaxed);
    for (std::size_t i = 0; i < neighbours_count_; ++i)
        worker.outbox().post(neighbours_[i].node, load_handler, bytes_of(tasks));
}

void Balancer::told(NodeId neighbour, std::uint32_t tasks) {
    for (std::size_t i = 0; i < neighbours_count_; ++i)
        if (neighbours_[i].node == neighbour) neighbours_[i].tasks.store(tasks, std::memory_order_relaxed);
}

}  // namespace heddle::runtime
