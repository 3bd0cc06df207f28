// Bounds that hold for every schedule, computed without messages, which only make schedules longer.
#include <algorithm>
#include <cmath>
#include <vector>

#include "partitioners/schedulers/verify.hpp"

namespace heddle::schedulers {

namespace {

constexpr TaskIndex interval_tasks_max = 2000;

/// Earliest starts, and latest ends that keep the critical path.
struct Windows {
    std::vector<double> time, earliest_start, latest_end;
    double critical_path = 0;
};

Windows windows(const Problem& problem) {
    const TaskGraph& graph = problem.graph();
    Windows w;
    w.time.resize(graph.tasks());
    w.earliest_start.assign(graph.tasks(), 0);
    for (const TaskIndex task : graph.topological_order()) {
        w.time[task] = problem.least_time(task);
        for (const TaskGraph::Link& link : graph.predecessors(task)) {
            w.earliest_start[task] =
                std::max(w.earliest_start[task], w.earliest_start[link.task] + w.time[link.task]);
        }
        w.critical_path = std::max(w.critical_path, w.earliest_start[task] + w.time[task]);
    }
    w.latest_end.assign(graph.tasks(), w.critical_path);
    for (auto task = graph.topological_order().rbegin(); task != graph.topological_order().rend(); ++task) {
        for (const TaskGraph::Link& link : graph.successors(*task)) {
            w.latest_end[*task] = std::min(w.latest_end[*task], w.latest_end[link.task] - w.time[link.task]);
        }
    }
    return w;
}

/// How far the work that must fall between `from` and any later moment exceeds what `processors` can do
/// there.
double excess_from(const Windows& w, double from, double processors,
                   std::vector<std::pair<double, double>>& bends) {
    // A task's share of [from, to] is 0 up to the later of `from` and its latest start, then grows with `to`
    // until it is all that is left of the task when it starts as early as it can.
    bends.clear();
    for (std::size_t task = 0; task < w.time.size(); ++task) {
        const double whole = std::min(w.time[task], w.earliest_start[task] + w.time[task] - from);
        if (whole <= 0) continue;
        const double begin = std::max(from, w.latest_end[task] - w.time[task]);
        bends.emplace_back(begin, 1.0);
        bends.emplace_back(begin + whole, -1.0);
    }
    std::sort(bends.begin(), bends.end());
    double work = 0, slope = 0, at = from, most = 0;
    for (const auto& [to, bend] : bends) {
        work += slope * (to - at);
        at = to;
        slope += bend;
        most = std::max(most, work / processors - (to - from));
    }
    return most;
}

bool whole(double number) {
    return number == std::floor(number) && number < 1e15;
}

}  // namespace

bool in_whole_numbers(const Problem& problem) {
    if (problem.in_picoseconds()) return false;
    const Machine& machine = problem.machine();
    const ProcessorIndex kinds = problem.equal_speeds() ? 1 : problem.processors();
    for (TaskIndex task = 0; task < problem.tasks(); ++task) {
        for (ProcessorIndex processor = 0; processor < kinds; ++processor) {
            if (!whole(problem.time(task, processor))) return false;
        }
        for (const TaskGraph::Link& link : problem.graph().successors(task)) {
            if (!whole(machine.within_node.of(link.bytes)) && machine.processors_per_node > 1) return false;
            if (!whole(machine.between_nodes.of(link.bytes))) return false;
        }
    }
    return true;
}

double LowerBounds::best() const {
    return std::max({critical_path, work, intervals});
}

LowerBounds lower_bounds(const Problem& problem) {
    const Windows w = windows(problem);
    LowerBounds bounds;
    bounds.critical_path = w.critical_path;
    const double processors = std::min<double>(problem.processors(), std::max<TaskIndex>(problem.tasks(), 1));
    bounds.work = problem.least_work_time();
    if (problem.processors() < problem.tasks() && problem.tasks() <= interval_tasks_max) {
        std::vector<double> starts = w.earliest_start;
        for (std::size_t task = 0; task < w.time.size(); ++task)
            starts.push_back(w.latest_end[task] - w.time[task]);
        std::sort(starts.begin(), starts.end());
        starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
        double excess = 0;
        std::vector<std::pair<double, double>> bends;
        for (const double from : starts) excess = std::max(excess, excess_from(w, from, processors, bends));
        bounds.intervals = w.critical_path + excess;
    }
    if (in_whole_numbers(problem)) {
        // Rounding errors of sums of quotients must not lift a bound to the next number.
        const auto lift = [](double bound) { return std::ceil(bound * (1 - 1e-12) - 1e-9); };
        bounds.work = std::max(bounds.work * (1 - 1e-12), lift(bounds.work));
        bounds.intervals = lift(bounds.intervals);
    } else {
        bounds.work *= 1 - 1e-12;
        bounds.intervals *= 1 - 1e-12;
    }
    return bounds;
}

}  // namespace heddle::schedulers
