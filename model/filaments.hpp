// Filaments, for programs: a node's main program, phases of filaments in pools, and reduction variables
// (Lowenthal, Subramanian: "HyFi: Architecture-independent parallelism on networks of multiprocessors").
//
//     class Sum : public filaments::FilamentProgram {
//         filaments::Reduction<double> sum_{*this, "sum"};
//
//         void square(filaments::Processor& self, int i) { self.value(sum_) += 1.0 * i * i; }
//         filaments::PostPhase combine(filaments::Filaments& fil) {
//             fil.reduce(sum_, filaments::add);
//             return filaments::F_DONE;
//         }
//         void main(filaments::Filaments& fil) override {
//             auto& phase = fil.create_phase<&Sum::square, &Sum::combine>(*this);
//             auto& pools = fil.create_pool_array(phase, 1000);
//             for (const auto [i, pool] : filaments::block(0, 1000, fil.nodes(),
//             pools.size()).of(fil.my_node()))
//                 fil.create_filament(pools[pool], i);
//             fil.start();
//         }
//     };
#pragma once

#include <memory>

#include "model/filaments/distribution.hpp"
#include "model/filaments/filaments.hpp"
#include "model/filaments/reduction.hpp"
#include "runtime/run/program.hpp"

namespace heddle::filaments {

/// A program whose main program runs on every node.
class FilamentProgram : public runtime::Program, public ReductionOwner {
public:
    /// On each node, on a strand pinned to processor 0.
    virtual void main(Filaments& fil) = 0;

    void set_up(runtime::Node& node) override;
    void begin(runtime::Worker& worker) override;

private:
    std::unique_ptr<Filaments> filaments_;
};

}  // namespace heddle::filaments
