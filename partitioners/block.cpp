// Gives each worker a run of neighbouring tasks. The lengths differ by at most one, or follow the speeds of
// unequal workers. Work and edges are not considered.
#include "partitioners/graph/part_targets.hpp"
#include "partitioners/members.hpp"

namespace heddle::partitioners {

namespace {

class Block final : public Partitioner {
public:
    Placement place(const TaskGraph& graph, const WorkerGrid& grid,
                    std::span<const double> speeds) const override {
        std::vector<WorkerId> of_task;
        of_task.reserve(graph.tasks());
        const std::size_t tasks = graph.tasks();
        if (!speeds.empty()) {
            const PartEnds ends(speeds);
            for (std::size_t task = 0; task < tasks; ++task) {
                const double middle = (static_cast<double>(task) + 0.5) / static_cast<double>(tasks);
                of_task.push_back(grid.worker(ends.part_at(middle)));
            }
            return {grid, std::move(of_task)};
        }
        for (std::size_t task = 0; task < tasks; ++task) {
            // The worker w with w * tasks / workers <= task < (w + 1) * tasks / workers, in whole numbers.
            of_task.push_back(grid.worker(((task + 1) * grid.workers() - 1) / tasks));
        }
        return {grid, std::move(of_task)};
    }
};

}  // namespace

std::unique_ptr<Partitioner> make_block() {
    return std::make_unique<Block>();
}

}  // namespace heddle::partitioners
