// For tests of steal requests that remain unanswered: a program whose nodes work, and have no task to share.
#pragma once

#include "runtime/core/worker.hpp"
#include "runtime/run/program.hpp"

namespace heddle::runtime {

/// Of three nodes, node 1 has nothing to do, node 0 works for a while and node 2 for longer.
class SharesNothing final : public Program {
public:
    void begin(Worker& worker) override {
        const int turns = worker.id.node == 0 ? 100 : worker.id.node == 2 ? 3000 : 0;
        for (int i = 0; i < turns; ++i) worker.work(1);
    }
    Answer answer() const override { return {}; }
};

}  // namespace heddle::runtime
