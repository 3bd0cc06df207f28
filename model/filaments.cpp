// Starts the main program of a program of filaments on each node.
#include "model/filaments.hpp"

#include "runtime/core/node.hpp"

namespace heddle::filaments {

void FilamentProgram::set_up(runtime::Node& node) {
    node.state<Filaments>();
}

void FilamentProgram::begin(runtime::Worker& worker) {
    if (worker.id.core != 0) return;
    worker.node().state<Filaments>().run(worker, *this, [this](Filaments& fil) { main(fil); });
}

}  // namespace heddle::filaments
