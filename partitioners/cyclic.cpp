// Gives tasks to workers in turn. Work and edges are not considered.
#include "partitioners/members.hpp"

namespace heddle::partitioners {

namespace {

class Cyclic final : public Partitioner {
public:
    Placement place(const TaskGraph& graph, const WorkerGrid& grid,
                    std::span<const double> /*speeds*/) const override {
        std::vector<WorkerId> of_task;
        of_task.reserve(graph.tasks());
        for (std::size_t task = 0; task < graph.tasks(); ++task) {
            of_task.push_back(grid.worker(task % grid.workers()));
        }
        return {grid, std::move(of_task)};
    }
};

}  // namespace

std::unique_ptr<Partitioner> make_cyclic() {
    return std::make_unique<Cyclic>();
}

}  // namespace heddle::partitioners
