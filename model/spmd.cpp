// Starts the threads of a data-parallel program.
#include "model/spmd.hpp"

#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::spmd {

void SpmdProgram::set_up(runtime::Node& node) {
    node.expect_same_nodes("data-parallel programs need");
    here_ = std::make_unique<SpmdNode>(node, options_);
    for (CoreId core = 0; core < node.topology().cores; ++core) names_.emplace_back(node.id(), core);
}

void SpmdProgram::begin(runtime::Worker& worker) {
    const CoreId core = worker.id.core;
    runtime::Strand::start(worker,
                           [this, core](runtime::Strand& strand) {
                               Spmd self(strand, *here_, core, names_[core]);
                               main(self);
                               self.end();
                           },
                           {names_[core].text(), core});
}

}  // namespace heddle::spmd
