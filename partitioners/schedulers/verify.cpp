// Checks whether a schedule is possible, by computing all times itself; no scheduler's code is used.
#include "partitioners/schedulers/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::schedulers {

namespace {

constexpr std::size_t violations_max = 20;

class Check {
public:
    Check(const Problem& problem, const Schedule& schedule)
        : graph_(problem.graph()), machine_(problem.machine()), schedule_(schedule) {}

    std::vector<std::string> run() {
        if (schedule_.tasks() != graph_.tasks()) {
            say(fmt::format("{} tasks are scheduled of {}", schedule_.tasks(), graph_.tasks()));
            return violations_;
        }
        double last = 0;
        for (TaskIndex task = 0; task < graph_.tasks(); ++task) {
            if (std::isfinite(schedule_.finish(task))) last = std::max(last, schedule_.finish(task));
        }
        tolerance_ = 1e-9 * last;
        if (!(std::abs(schedule_.makespan() - last) <= tolerance_)) {
            say(fmt::format("the makespan is given as {}, but the last task ends at {}", schedule_.makespan(),
                            last));
        }
        for (TaskIndex task = 0; task < graph_.tasks(); ++task) slot(task);
        for (TaskIndex task = 0; task < graph_.tasks(); ++task) arrivals(task);
        processors();
        return violations_;
    }

private:
    void slot(TaskIndex task) {
        const Slot& slot = schedule_.slot(task);
        if (machine_.processors != unbounded && slot.processor >= machine_.processors) {
            say(fmt::format("{} runs on processor {} of {}", graph_.name(task), slot.processor,
                            machine_.processors));
            return;
        }
        if (!(slot.start >= 0)) say(fmt::format("{} starts at {}", graph_.name(task), slot.start));
        double duration = 0;
        if (!machine_.times.empty()) {
            duration = machine_.times.at(std::size_t{task} * machine_.processors + slot.processor);
        } else if (!machine_.speeds.empty()) {
            duration = graph_.flops(task) / machine_.speeds.at(slot.processor);
        } else {
            duration = graph_.flops(task) / machine_.speed;
        }
        if (machine_.routes) duration = whole_picoseconds(duration);
        if (!(std::abs(slot.finish - slot.start - duration) <= tolerance_)) {
            say(fmt::format("{} runs from {} to {} on processor {}, where it takes {}", graph_.name(task),
                            slot.start, slot.finish, slot.processor, duration));
        }
    }

    void arrivals(TaskIndex task) {
        for (const TaskGraph::Link& link : graph_.predecessors(task)) {
            const ProcessorIndex from = schedule_.processor(link.task), to = schedule_.processor(task);
            double arrival = schedule_.finish(link.task);
            if (from != to) {
                const ProcessorIndex node = from / machine_.processors_per_node;
                const ProcessorIndex other = to / machine_.processors_per_node;
                const MessageCost& cost = node == other ? machine_.within_node : machine_.between_nodes;
                arrival += node != other && machine_.routes ? on_route(link.bytes, node, other)
                                                            : cost.latency + cost.time_per_byte * link.bytes;
            }
            if (!(schedule_.start(task) >= arrival - tolerance_)) {
                say(fmt::format("{} starts at {} on processor {}, but the data of {} arrive there at {}",
                                graph_.name(task), schedule_.start(task), to, graph_.name(link.task),
                                arrival));
            }
        }
    }

    static double whole_picoseconds(double seconds) { return std::floor(seconds * 1e12 + 0.5) * 1e-12; }

    /// Latency, and whole bytes at the route's bandwidth.
    double on_route(double bytes, ProcessorIndex node, ProcessorIndex other) const {
        const RouteTable::Route& route = machine_.routes->between(node, other);
        const double carried = std::floor(bytes + 0.5) + machine_.bytes_besides;
        return to_seconds(route.latency) + whole_picoseconds(carried / route.bandwidth);
    }

    void processors() {
        std::vector<int> times_run(graph_.tasks(), 0);
        for (ProcessorIndex processor = 0; processor < schedule_.processors(); ++processor) {
            double free_from = 0;
            for (const TaskIndex task : schedule_.order(processor)) {
                ++times_run[task];
                if (schedule_.processor(task) != processor) {
                    say(fmt::format("{} is in the order of processor {} but runs on {}", graph_.name(task),
                                    processor, schedule_.processor(task)));
                }
                if (!(schedule_.start(task) >= free_from - tolerance_)) {
                    say(fmt::format("{} starts at {} while processor {} is busy until {}", graph_.name(task),
                                    schedule_.start(task), processor, free_from));
                }
                free_from = std::max(free_from, schedule_.finish(task));
            }
        }
        for (TaskIndex task = 0; task < graph_.tasks(); ++task) {
            if (times_run[task] != 1)
                say(fmt::format("{} runs {} times", graph_.name(task), times_run[task]));
        }
    }

    void say(std::string violation) {
        if (violations_.size() < violations_max) violations_.push_back(std::move(violation));
    }

    const TaskGraph& graph_;
    const Machine& machine_;
    const Schedule& schedule_;
    double tolerance_ = 0;
    std::vector<std::string> violations_;
};

}  // namespace

std::vector<std::string> verify(const Problem& problem, const Schedule& schedule) {
    return Check(problem, schedule).run();
}

}  // namespace heddle::schedulers
