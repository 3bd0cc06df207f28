// DSC, dominant sequence clustering: takes tasks by falling t-level plus b-level; each joins the cluster of
// its predecessors if it can then start earlier. Yang, Gerasoulis: "DSC: scheduling parallel tasks on an
// unbounded number of processors", IEEE TPDS 5(9), 1994. O((v + e) log v). If the number of processors is
// given, the clusters are then mapped to them. The paper's processors are equal: on unequal ones clusters are
// made with mean times and delays, and mapped with those of each processor.
#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "partitioners/schedulers/clusters.hpp"
#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/members.hpp"

namespace heddle::schedulers {

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

class DominantSequence {
public:
    explicit DominantSequence(const Problem& problem)
        : problem_(problem), graph_(problem.graph()), tasks_(graph_.tasks()) {
        clusters_.reserve(graph_.tasks());
        const std::vector<double> bottom = bottom_levels(problem);
        for (TaskIndex task = 0; task < graph_.tasks(); ++task) {
            Task& mine = tasks_[task];
            mine.bottom = bottom[task];
            mine.time = problem.mean_time(task);
            mine.missing = static_cast<std::uint32_t>(graph_.predecessors(task).size());
            if (mine.missing == 0) free_.emplace(mine.bottom, -std::int64_t{task});
        }
    }

    Clustering run() && {
        while (!free_.empty()) {
            const TaskIndex task = task_of(free_.top());
            free_.pop();
            for (const TaskGraph::Link& link : graph_.successors(task)) fetch(&tasks_[link.task]);
            join_predecessors(task);
            examined(task);
        }
        return finish();
    }

private:
    /// Highest first, equal ones by number.
    using Entry = std::pair<double, std::int64_t>;
    using Queue = std::priority_queue<Entry>;
    static TaskIndex task_of(const Entry& entry) { return static_cast<TaskIndex>(-entry.second); }

    /// What is known of a task, together in the cache: tasks are examined all over the graph.
    struct alignas(32) Task {
        double start = 0;   ///< the t-level so far
        double bottom = 0;  ///< the b-level
        double time = 0;
        std::uint32_t missing = 0;  ///< predecessors that are not examined
        /// Before the task is examined: the examined predecessor whose message arrives last, or none.
        /// Afterwards: the task's cluster.
        std::uint32_t last_from_or_cluster = none;

        double end() const { return start + time; }
        double priority() const { return start + bottom; }
    };
    struct Cluster {
        double end = 0;
        std::uint32_t tasks = 0;
    };

    static void fetch(const void* memory) { __builtin_prefetch(memory); }

    /// The partly free task of highest priority (some of its predecessors are examined, not all), if that is
    /// above the given one. Old entries lie below new ones of the same task, so what is not above stays.
    TaskIndex first_partly_free(double priority) {
        for (; !partly_free_.empty() && partly_free_.top().first > priority; partly_free_.pop()) {
            const TaskIndex task = task_of(partly_free_.top());
            if (tasks_[task].missing > 0 && partly_free_.top().first == tasks_[task].priority()) return task;
        }
        return none;
    }

    /// True where a partly free task on a longer path could still start earlier in this cluster, so that
    /// no other task may lengthen it (the paper's condition DSRW).
    bool is_reserved(std::uint32_t cluster, double priority) {
        const TaskIndex waiting = first_partly_free(priority);
        if (waiting == none) return false;
        return tasks_[tasks_[waiting].last_from_or_cluster].last_from_or_cluster == cluster &&
               clusters_[cluster].end < tasks_[waiting].start;
    }

    void join_predecessors(TaskIndex task) {
        Task& mine = tasks_[task];
        if (mine.last_from_or_cluster != none) {
            const std::uint32_t cluster = tasks_[mine.last_from_or_cluster].last_from_or_cluster;
            if (!is_reserved(cluster, mine.priority()) && join(task, cluster)) return;
        }
        mine.last_from_or_cluster = static_cast<std::uint32_t>(clusters_.size());
        clusters_.push_back({mine.end(), 1});
    }

    /// Into the cluster, if the task starts earlier there; and with it predecessors that have no other
    /// successor and no company in their own clusters, as long as that brings its start forward.
    bool join(TaskIndex task, std::uint32_t cluster) {
        Task& mine = tasks_[task];
        arrivals_.clear();
        for (const TaskGraph::Link& link : graph_.predecessors(task)) {
            if (tasks_[link.task].last_from_or_cluster == cluster) continue;
            arrivals_.emplace_back(tasks_[link.task].end() + problem_.mean_delay(link.bytes), link.task);
        }
        std::sort(arrivals_.begin(), arrivals_.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        arrivals_.emplace_back(0, none);

        double cluster_end = clusters_[cluster].end, best_start = mine.start;
        std::size_t moved = 0, best_moved = none;
        for (;; ++moved) {
            const double start = std::max(cluster_end, arrivals_[moved].first);
            if (start < best_start) {
                best_start = start;
                best_moved = moved;
            }
            const TaskIndex next = arrivals_[moved].second;
            if (next == none || cluster_end >= best_start || !may_move(next)) break;
            cluster_end = std::max(cluster_end, arrival_in(next, cluster)) + tasks_[next].time;
        }
        if (best_moved == none) return false;
        for (std::size_t i = 0; i < best_moved; ++i) move(arrivals_[i].second, cluster);
        mine.start = best_start;
        mine.last_from_or_cluster = cluster;
        clusters_[cluster].end = mine.end();
        ++clusters_[cluster].tasks;
        return true;
    }

    bool may_move(TaskIndex task) const {
        return graph_.successors(task).size() == 1 && clusters_[tasks_[task].last_from_or_cluster].tasks == 1;
    }

    /// When the data of an examined task would be in another cluster.
    double arrival_in(TaskIndex task, std::uint32_t cluster) const {
        double latest = 0;
        for (const TaskGraph::Link& link : graph_.predecessors(task)) {
            const double delay =
                tasks_[link.task].last_from_or_cluster == cluster ? 0 : problem_.mean_delay(link.bytes);
            latest = std::max(latest, tasks_[link.task].end() + delay);
        }
        return latest;
    }

    void move(TaskIndex task, std::uint32_t cluster) {
        Task& mine = tasks_[task];
        mine.start = std::max(clusters_[cluster].end, arrival_in(task, cluster));
        clusters_[mine.last_from_or_cluster].tasks = 0;
        mine.last_from_or_cluster = cluster;
        clusters_[cluster].end = mine.end();
        ++clusters_[cluster].tasks;
    }

    void examined(TaskIndex task) {
        const double end = tasks_[task].end();
        for (const TaskGraph::Link& link : graph_.successors(task)) {
            Task& next = tasks_[link.task];
            const double arrival = end + problem_.mean_delay(link.bytes);
            const bool later = next.last_from_or_cluster == none || arrival > next.start;
            if (later) {
                next.start = std::max(next.start, arrival);
                next.last_from_or_cluster = task;
            }
            if (--next.missing == 0) {
                // Often the next to be examined: what it needs is fetched while the queue is kept in order.
                fetch(graph_.successors(link.task).data());
                fetch(graph_.predecessors(link.task).data());
                free_.emplace(next.priority(), -std::int64_t{link.task});
            } else if (later) {
                partly_free_.emplace(next.priority(), -std::int64_t{link.task});
            }
        }
    }

    /// Numbers the clusters that are left by their first tasks, so that neighbours in the graph are
    /// neighbours here.
    Clustering finish() {
        Clustering clustering;
        std::vector<std::uint32_t> number(clusters_.size(), none);
        clustering.cluster.reserve(tasks_.size());
        for (const Task& task : tasks_) {
            std::uint32_t& its = number[task.last_from_or_cluster];
            if (its == none) its = clustering.clusters++;
            clustering.cluster.push_back(its);
        }
        return clustering;
    }

    const Problem& problem_;
    const TaskGraph& graph_;
    std::vector<Task> tasks_;
    std::vector<Cluster> clusters_;
    Queue free_, partly_free_;
    std::vector<std::pair<double, TaskIndex>> arrivals_;
};

class Dsc final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options&) const override {
        const Clustering clustering = dominant_sequence_clustering(problem);
        if (problem.interchangeable() && clustering.clusters <= problem.processors()) {
            return schedule_on(problem, clustering.cluster);
        }
        const bool equal = problem.equal_speeds() && problem.equal_distances();
        Schedule best = schedule_on(
            problem, equal ? map_by_list(problem, clustering) : map_by_finish(problem, clustering));
        Schedule other = schedule_on(
            problem, equal ? map_by_load(problem, clustering) : map_by_speed(problem, clustering));
        return other.makespan() < best.makespan() ? other : best;
    }
};

}  // namespace

Clustering dominant_sequence_clustering(const Problem& problem) {
    return DominantSequence(problem).run();
}

std::unique_ptr<Scheduler> make_dsc() {
    return std::make_unique<Dsc>();
}

}  // namespace heddle::schedulers
