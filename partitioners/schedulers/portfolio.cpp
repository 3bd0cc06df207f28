// Takes the best schedule of all other schedulers, and improves it by local search while the caller gives
// time (improve.hpp). On small graphs it also searches all schedules (exact.hpp), which can prove an optimum.
#include <algorithm>
#include <utility>

#include "partitioners/schedulers/exact.hpp"
#include "partitioners/schedulers/improve.hpp"
#include "partitioners/schedulers/members.hpp"
#include "partitioners/schedulers/symmetry.hpp"
#include "partitioners/schedulers/verify.hpp"

namespace heddle::schedulers {

namespace {

// How large graphs may be for the members that take more than about O(v log v).
constexpr TaskIndex dls_tasks_max = 20000, dcp_tasks_max = 2000, exact_first_tasks_max = 12,
                    exact_tasks_max = 40;

class Portfolio final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options& options) const override {
        Schedule best = best_of_all(problem, options);
        double bound = lower_bounds(problem).best();
        const TaskIndex tasks = problem.tasks();
        // A step of the searches compares processors that differ. So many take the time of one.
        const std::size_t dearer = std::max<std::size_t>(1, Symmetry(problem).kinds() / 16);
        const auto done = [&] { return best.makespan() <= bound * (1 + 1e-12); };
        const auto search = [&](std::size_t nodes_max) {
            if (done()) return;
            nodes_max = std::max<std::size_t>(1000, nodes_max / dearer);
            best = search_exhaustively(problem, best, nodes_max, options.out_of_time);
            bound = std::max(bound, best.proved_bound());
        };
        const auto climb = [&](std::size_t tries, std::uint64_t key) {
            if (done()) return;
            tries = std::max<std::size_t>(10, tries / dearer);
            best = improve(problem, best, bound, tries, Random(options.seed).split(key), options.out_of_time);
        };
        if (tasks <= exact_first_tasks_max) {
            search(4'000'000);
        } else if (tasks <= exact_tasks_max) {
            climb(2'000, 1);
            search(200'000);
        }
        const std::size_t size = tasks + problem.graph().edges() + 1;
        climb(options.out_of_time ? ~std::size_t{0} : std::clamp<std::size_t>(5'000'000 / size, 10, 20'000),
              2);
        best.set_proved_bound(std::max(bound, best.proved_bound()));
        return best;
    }

private:
    static Schedule best_of_all(const Problem& problem, const Options& options) {
        Schedule best = make_serial()->schedule(problem, options);
        const auto take = [&best](Schedule other) {
            if (other.makespan() < best.makespan()) best = std::move(other);
        };
        // Fast and mostly near the best: it runs also if there is no time for any other.
        if (options.out_of_time) take(make_heft()->schedule(problem, options));
        for (const Kind& kind : all()) {
            if (kind.name == "portfolio" || kind.name == "serial") continue;
            if (kind.name == "heft" && options.out_of_time) continue;
            if (kind.name == "dcp" && problem.tasks() > dcp_tasks_max) continue;
            if (kind.name == "dls" && problem.tasks() > dls_tasks_max) continue;
            if (options.out_of_time && options.out_of_time()) break;
            take(kind.make()->schedule(problem, options));
        }
        return best;
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_portfolio() {
    return std::make_unique<Portfolio>();
}

}  // namespace heddle::schedulers
