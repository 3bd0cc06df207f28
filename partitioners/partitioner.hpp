// Decides on which worker each task of a graph starts: one interface, one factory, each partitioner in a
// small file beside this one. How tasks are stolen later is not decided here.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/placement.hpp"
#include "base/task_graph.hpp"

namespace heddle::partitioners {

class Partitioner {
public:
    virtual ~Partitioner() = default;

    /// A worker of the grid for every task. `speeds`: of each worker; empty: all alike. The same arguments
    /// give the same placement.
    virtual Placement place(const TaskGraph& graph, const WorkerGrid& grid,
                            std::span<const double> speeds = {}) const = 0;
};

/// A named partitioner.
struct Kind {
    std::string name;
    std::string help;
    std::unique_ptr<Partitioner> (*make)();
};

/// All partitioners, in the order in which they are documented.
const std::vector<Kind>& all();

/// Their names.
std::vector<std::string> names();

/// Throws Error with the nearest known name.
std::unique_ptr<Partitioner> make(const std::string& name);

}  // namespace heddle::partitioners
