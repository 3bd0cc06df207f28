// The placement `none`: all tasks start on the first worker, and only stealing moves them to others.
#include "partitioners/members.hpp"

namespace heddle::partitioners {

namespace {

class None final : public Partitioner {
public:
    Placement place(const TaskGraph& graph, const WorkerGrid& grid,
                    std::span<const double> /*speeds*/) const override {
        return {grid, std::vector<WorkerId>(graph.tasks())};
    }
};

}  // namespace

std::unique_ptr<Partitioner> make_none() {
    return std::make_unique<None>();
}

}  // namespace heddle::partitioners
