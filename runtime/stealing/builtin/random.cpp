// Steals from any other worker of the run with equal chance, wherever it is: one victim a round, then a
// back-off (Blumofe, Leiserson: "Scheduling multithreaded computations by work stealing", JACM 1999).
#include <utility>

#include "runtime/stealing/rounds.hpp"

namespace heddle::runtime {

namespace {

class AnyWorker final : public VictimPolicy {
public:
    explicit AnyWorker(const ThiefView& view)
        : self_(view.self),
          nodes_(view.topology->nodes),
          cores_(view.topology->cores),
          random_(view.random) {}

    Victim next() override {
        const std::uint64_t others = std::uint64_t{nodes_} * cores_ - 1;
        if (others == 0) return {Victim::Kind::sleep, 0};
        if (std::exchange(looked_, !looked_)) return round_over(nodes_);
        std::uint64_t pick = random_.below(others);
        if (pick >= std::uint64_t{self_.node} * cores_ + self_.core) ++pick;
        const auto node = static_cast<NodeId>(pick / cores_);
        if (node != self_.node) return {Victim::Kind::node, node};
        return {Victim::Kind::core, static_cast<CoreId>(pick % cores_)};
    }
    void found() override { looked_ = false; }

private:
    WorkerId self_;
    NodeId nodes_;
    CoreId cores_;
    Random random_;
    bool looked_ = false;
};

const auto registration =
    victim_policy<AnyWorker>("random", "any worker of the whole run, each equally likely");

}  // namespace
}  // namespace heddle::runtime
