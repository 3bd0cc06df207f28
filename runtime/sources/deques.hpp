// The workers' deques (runtime/core/deque.hpp) as a work source, from which thieves take tasks. Owners push
// and pop without it.
#pragma once

#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

class Node;

/// `may_wait` is always false: a deque holds tasks only as long as its owner is active.
class Deques final : public WorkSource {
public:
    explicit Deques(Node& node) : node_(node) { with_active_workers_ = true; }

    bool run(Worker& /*worker*/, Slot* /*head*/) override { return false; }
    bool may_steal(Worker& victim) const override;
    bool steal(Worker& thief, Worker& victim, Slot* head) override;
    std::uint32_t givable() const override;
    void give(Gift& gift) override;

private:
    bool give_one(Gift& gift, Worker& victim);

    Node& node_;
};

}  // namespace heddle::runtime
