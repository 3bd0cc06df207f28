// Reads the tables of a recorded run: tasks.csv, workers.csv and timeline.csv.
#include "report/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "report/csv_file.hpp"
#include "results/exact_seconds.hpp"

namespace heddle::report {

namespace {

std::optional<std::uint64_t> whole(const std::string& text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return !text.empty() && read.ec == std::errc{} && read.ptr == end ? std::optional(value) : std::nullopt;
}

[[noreturn]] void damaged(const std::string& path) {
    throw Error(fmt::format("{} is damaged", path), "run it again with --record, or remove the file");
}

Time time_in(const std::string& text, const std::string& path) {
    const auto time = results::parse_exact_seconds(text);
    if (!time) damaged(path);
    return *time;
}

using WorkerPlaces = std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t>;

WorkerPlaces read_workers(const std::string& path, Recorded& recorded) {
    CsvFile file(path);
    WorkerPlaces places;
    const std::size_t node = file.column("node"), worker = file.column("worker");
    const std::size_t tasks = file.column("tasks"), stolen = file.column("stolen_tasks");
    while (file.next()) {
        RecordedWorker& one = recorded.workers.emplace_back();
        const auto of_node = whole(file[node]), of_worker = whole(file[worker]);
        if (!of_node || !of_worker) damaged(path);
        one.node = static_cast<std::uint32_t>(*of_node);
        one.worker = static_cast<std::uint32_t>(*of_worker);
        one.tasks = whole(file[tasks]).value_or(0);
        one.stolen = whole(file[stolen]).value_or(0);
        TimeSum sum;
        for (const Activity activity : all_activities) {
            one.times[activity] = time_in(file[file.column(fmt::format("{}_seconds", name(activity)))], path);
            sum += one.times[activity];
        }
        if (sum.count() > never.count()) damaged(path);
        recorded.makespan = std::max(recorded.makespan, one.times.sum());
        places[{*of_node, *of_worker}] = recorded.workers.size() - 1;
    }
    return places;
}

std::size_t place_in(const WorkerPlaces& places, const CsvFile& file, std::size_t node, std::size_t worker,
                     const std::string& path) {
    const auto place = places.find({whole(file[node]).value_or(0), whole(file[worker]).value_or(0)});
    if (place == places.end()) damaged(path);
    return place->second;
}

void read_timeline(const std::string& path, const WorkerPlaces& places, Recorded& recorded) {
    CsvFile file(path);
    const std::size_t node = file.column("node"), worker = file.column("worker");
    const std::size_t state = file.column("state");
    const std::size_t start = file.column("start_seconds"), end = file.column("end_seconds");
    std::vector<ActivityTotals> sums(recorded.workers.size());
    while (file.next()) {
        const auto activity = std::find_if(all_activities.begin(), all_activities.end(),
                                           [&](Activity one) { return file[state] == name(one); });
        if (activity == all_activities.end()) damaged(path);
        const std::size_t place = place_in(places, file, node, worker, path);
        const Stay stay{*activity, time_in(file[start], path), time_in(file[end], path)};
        recorded.workers[place].stays.push_back(stay);
        sums[place][*activity] += TimeSum(stay.end) - TimeSum(stay.begin);
    }
    // A file that is cut off at the end of a line looks whole, but the workers' sums are of all stays.
    for (std::size_t i = 0; i < sums.size(); ++i) {
        ActivityTotals expected;
        if (sums[i] != (expected += recorded.workers[i].times)) damaged(path);
    }
}

std::vector<std::uint64_t> numbers_in(const std::string& text) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        if (const auto number = whole(text.substr(at, end - at))) numbers.push_back(*number);
        at = end + 1;
    }
    return numbers;
}

void read_tasks(const std::string& path, const WorkerPlaces& places, Recorded& recorded) {
    CsvFile file(path);
    const std::size_t number = file.column("task"), task_name = file.column("name");
    const std::size_t kernel = file.column("kernel"), node = file.column("node");
    const std::size_t worker = file.column("worker"), ready = file.column("ready_seconds");
    const std::size_t start = file.column("start_seconds"), end = file.column("end_seconds");
    const std::size_t stolen = file.column("stolen_from_node"), placed = file.column("placed_node");
    const std::size_t before = file.column("predecessors");
    while (file.next()) {
        RecordedTask& task = recorded.tasks.emplace_back();
        task.number = whole(file[number]);
        task.name = file[task_name];
        task.kernel = file[kernel];
        task.worker = place_in(places, file, node, worker, path);
        if (!file[ready].empty()) task.ready = time_in(file[ready], path);
        task.start = time_in(file[start], path);
        task.end = time_in(file[end], path);
        task.stolen = !file[stolen].empty();
        task.placed_node =
            static_cast<std::uint32_t>(whole(file[placed]).value_or(recorded.workers[task.worker].node));
        task.predecessors = numbers_in(file[before]);
        if (task.number) recorded.by_number[*task.number] = recorded.tasks.size() - 1;
    }
}

/// The predecessor on the task's node that ended last, if its worker made the task ready; else, of those on
/// other nodes, the one that ended last; else the former all the same.
std::optional<std::size_t> enabler_of(const Recorded& recorded, const RecordedTask& task) {
    std::optional<std::size_t> near, far;
    for (const std::uint64_t number : task.predecessors) {
        const auto found = recorded.by_number.find(number);
        if (found == recorded.by_number.end()) continue;
        const RecordedTask& before = recorded.tasks[found->second];
        const bool here = recorded.workers[before.worker].node == task.placed_node;
        std::optional<std::size_t>& last = here ? near : far;
        if (!last || before.end > recorded.tasks[*last].end) last = found->second;
    }
    if (near && (!far || schedules_until(recorded, recorded.tasks[*near], task.ready))) return near;
    return far;
}

/// Fills in each worker's list, and finds out whether tasks nest.
void order_tasks(Recorded& recorded) {
    recorded.is_graph = !recorded.tasks.empty();
    for (std::size_t i = 0; i < recorded.tasks.size(); ++i) {
        recorded.workers[recorded.tasks[i].worker].tasks_begun.push_back(i);
        recorded.is_graph = recorded.is_graph && recorded.tasks[i].number.has_value();
    }
    for (RecordedTask& task : recorded.tasks)
        if (task.ready != never) task.enabler = enabler_of(recorded, task);
    for (RecordedWorker& worker : recorded.workers) {
        std::stable_sort(
            worker.tasks_begun.begin(), worker.tasks_begun.end(),
            [&](std::size_t a, std::size_t b) { return recorded.tasks[a].start < recorded.tasks[b].start; });
        for (std::size_t k = 1; k < worker.tasks_begun.size(); ++k) {
            if (recorded.tasks[worker.tasks_begun[k]].start < recorded.tasks[worker.tasks_begun[k - 1]].end)
                recorded.is_graph = false;
        }
    }
}

}  // namespace

std::string RecordedWorker::name() const {
    return fmt::format("node {} worker {}", node, worker);
}

bool is_recorded(const Run& run) {
    return !run.recorded("tasks.csv").empty() && !run.recorded("workers.csv").empty() &&
           !run.recorded("timeline.csv").empty();
}

bool schedules_until(const Recorded& recorded, const RecordedTask& ended, Time time) {
    const std::vector<Stay>& stays = recorded.workers[ended.worker].stays;
    auto stay = std::upper_bound(stays.begin(), stays.end(), ended.end,
                                 [](Time at, const Stay& one) { return at < one.end; });
    for (; stay != stays.end() && stay->begin < time; ++stay)
        if (stay->activity != Activity::overhead) return false;
    return true;
}

Recorded read_recorded(const Run& run) {
    Recorded recorded;
    const WorkerPlaces places = read_workers(run.recorded("workers.csv"), recorded);
    read_timeline(run.recorded("timeline.csv"), places, recorded);
    read_tasks(run.recorded("tasks.csv"), places, recorded);
    order_tasks(recorded);
    return recorded;
}

}  // namespace heddle::report
