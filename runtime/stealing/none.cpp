// No stealing at all: the baseline, and what a purely static placement wants.
#include "runtime/stealing/policies.hpp"

namespace heddle::runtime {

namespace {

class None final : public VictimPolicy {
public:
    Victim next() override { return {Victim::Kind::sleep, 0}; }
    void found() override {}
    bool steals_within_node() const override { return false; }
};

}  // namespace

std::unique_ptr<VictimPolicy> make_none(const ThiefView&) {
    return std::make_unique<None>();
}

}  // namespace heddle::runtime
