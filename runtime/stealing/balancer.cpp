// Sends detached tasks to another node, drawn at random or a neighbour with fewer tasks, and tells neighbours
// how many tasks this node has.
#include "runtime/stealing/balancer.hpp"

#include <algorithm>

#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

namespace {

const Handler load_handler("balance.load", Handler::Kind::control, [](Node& node, NodeId from, auto message) {
    node.balancer().told(from, value_in<std::uint32_t>(message));
});

}  // namespace

Balancer::Balancer(Node& node)
    : node_(node), settings_(node.schedule().balancing), of_worker_(node.topology().cores) {
    const NodeId nodes = node.topology().nodes;
    if (nodes > 1) neighbours_[neighbours_count_++].node = (node.id() + 1) % nodes;
    if (nodes > 2) neighbours_[neighbours_count_++].node = (node.id() + nodes - 1) % nodes;
}

void Balancer::look(Worker& worker, std::uint32_t tasks) {
    of_worker_[worker.id.core].store(tasks, std::memory_order_relaxed);
    const NodeId nodes = node_.topology().nodes;
    if (nodes == 1) return;
    if (settings_.policy == Balancing::Policy::neighbours) return average(worker);
    if (tasks < settings_.threshold) return;
    const auto other = static_cast<NodeId>(worker.random().below(nodes - 1));
    node_.steals().give_away(worker.outbox(), other < node_.id() ? other : other + 1);
}

void Balancer::average(Worker& worker) {
    std::uint32_t tasks = 0;
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
    if (std::all_of(of_worker_.begin(), of_worker_.end(), none)) tell(worker, 0);
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
