// The policy without stealing: each task runs on the worker that forked it or on which it was placed.
#include "runtime/stealing/policy.hpp"

namespace heddle::runtime {

namespace {

class None final : public VictimPolicy {
public:
    explicit None(const ThiefView&) {}

    Victim next() override { return {Victim::Kind::sleep, 0}; }
    void found() override {}
    bool steals_within_node() const override { return false; }
};

const auto registration = victim_policy<None>(
    "none", "no worker steals: a task runs on the worker that made it, or where it was placed");

}  // namespace
}  // namespace heddle::runtime
