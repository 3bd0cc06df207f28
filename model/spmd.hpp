// Data-parallel programs: the same main function on every thread of every node, with collective calls and
// layouts (Chiang, Wu, Lin: "Toward supporting data parallel programming on clusters of symmetric
// multiprocessors"). What programs include.
//
//     class Norm : public SpmdProgram {
//         void main(Spmd& self) override {
//             const auto mine = layout.domain_of_thread(self.node(), self.thread_rank());
//             const double sum = self.all_reduce_value(std::plus<double>(), norm_of(mine));
//         }
//     };
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "model/spmd/layout.hpp"
#include "model/spmd/redistribution.hpp"
#include "model/spmd/spmd.hpp"
#include "runtime/run/program.hpp"

namespace heddle::spmd {

/// A program whose main function runs on every thread of every node: a strand on each worker. The run ends
/// when all have ended.
class SpmdProgram : public runtime::Program {
public:
    explicit SpmdProgram(SpmdOptions options = {}) : options_(std::move(options)) {}

    virtual void main(Spmd& self) = 0;

    void set_up(runtime::Node& node) override;
    void begin(runtime::Worker& worker) override;

private:
    SpmdOptions options_;
    std::unique_ptr<SpmdNode> here_;
    std::deque<ThreadName> names_;
};

}  // namespace heddle::spmd
