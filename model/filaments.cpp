// Starts the main program of a program of filaments on each node.
#include "model/filaments.hpp"

#include "runtime/core/node.hpp"

namespace heddle::filaments {

void FilamentProgram::set_up(runtime::Node& node) {
    filaments_ = std::make_unique<Filaments>(node, node.state<dsm::SharedMemory>());
}

void FilamentProgram::begin(runtime::Worker& worker) {
    if (worker.id.core != 0) return worker.begins_nothing();
    filaments_->run(worker, *this, [this](Filaments& fil) { main(fil); });
}

}  // namespace heddle::filaments
