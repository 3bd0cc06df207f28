// The shared token queue of a node as a work source (schedule.token_queue: node).
#pragma once

#include <optional>
#include <span>

#include "runtime/sources/token_deque.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

class Node;

class SharedTokens final : public WorkSource {
public:
    explicit SharedTokens(Node& node) : node_(node), tokens_(waiting_) {}

    /// A worker's new token. Wakes a worker, or sends tokens to nodes that wait.
    void put(Worker& worker, const TaskType& type, std::span<const std::byte> arguments);
    /// A token that `from` gave, by the receiver.
    void put_arrived(const TaskType& type, std::span<const std::byte> arguments, NodeId from);
    /// The latest, for a worker that has shown itself active and runs it at once, as one of its tasks.
    std::optional<LooseTask> take(Worker& worker);
    std::uint32_t size() const { return tokens_.size(); }

    bool run(Worker& worker, Slot* head) override;
    std::uint32_t givable() const override { return size(); }
    void give(Gift& gift) override;

private:
    Node& node_;
    TokenDeque tokens_;
};

}  // namespace heddle::runtime
