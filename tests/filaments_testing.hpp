// For tests: runs programs of filaments natively, in simulation and in-process, on nodes x processors.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "model/filaments.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_filaments {

using namespace filaments;
using testing_strands::World;

/// What the nodes of a run have noted. They live in one process.
template <class T>
class Notes {
public:
    void add(const T& note) {
        const std::scoped_lock guard(mutex_);
        all_.push_back(note);
    }
    std::vector<T> take() { return std::exchange(all_, {}); }

private:
    std::mutex mutex_;
    std::vector<T> all_;
};

/// The nodes' programs: each is made as `P(arguments...)`.
template <class P, class... Given>
void run(const World& world, NodeId nodes, CoreId cores, Given&&... arguments) {
    world.run(nodes, cores, [&](NodeId) { return std::make_unique<P>(arguments...); });
}

class FilamentWorlds : public testing::TestWithParam<World> {
protected:
    /// So many nodes, if the world has more than one.
    static NodeId nodes(NodeId wanted) { return GetParam().one_node ? 1 : wanted; }
    /// For runs that fail: natively a failed run with several workers or nodes ends the process.
    static CoreId failing_cores() { return GetParam().ends_process ? 1 : 2; }
    static NodeId failing_nodes(NodeId wanted) { return GetParam().ends_process ? 1 : wanted; }

    template <class P, class... Given>
    void run(NodeId nodes, CoreId cores, Given&&... arguments) {
        testing_filaments::run<P>(GetParam(), nodes, cores, arguments...);
    }
    template <class P, class... Given>
    std::string error_of(NodeId nodes, CoreId cores, Given&&... arguments) {
        return testing_strands::error_of([&] { run<P>(nodes, cores, arguments...); });
    }
};

/// A program without an answer.
class TestProgram : public FilamentProgram {
public:
    runtime::Answer answer() const override { return {}; }
};

}  // namespace heddle::testing_filaments
