// Divides each worker's time among causes, by its recorded states and by what its next task waited for.
#include "report/causes.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::report {

namespace {

/// What a task waited for: until `enabled` its last predecessor had not ended, until `ready` its data had not
/// come.
struct Wait {
    Time enabled{};
    Time ready{};
    bool from_elsewhere = false;  ///< the predecessor ran on another node
};

std::optional<Wait> wait_of(const Recorded& recorded, const RecordedTask& task) {
    if (!task.number || task.ready == never) return std::nullopt;
    Wait wait{Time::zero(), task.ready, false};
    if (task.enabler) {
        const RecordedTask& before = recorded.tasks[*task.enabler];
        wait.enabled = std::min(before.end, task.ready);
        wait.from_elsewhere = recorded.workers[before.worker].node != task.placed_node;
    } else if (!task.predecessors.empty()) {
        return std::nullopt;
    }
    return wait;
}

Time overlap(Time begin, Time end, Time from, Time to) {
    return std::max(Time::zero(), std::min(end, to) - std::max(begin, from));
}

/// Adds a stretch of rest before `task`, if there is one.
void add_rest(CauseTimes& times, Activity activity, Time begin, Time end, const std::optional<Wait>& wait,
              bool stolen) {
    if (!wait) {
        times[activity == Activity::waiting ? Cause::message : Cause::no_task] += end - begin;
        return;
    }
    const Time not_enabled = overlap(begin, end, Time::min(), wait->enabled);
    const Time on_its_way = overlap(begin, end, wait->enabled, wait->ready);
    times[Cause::no_task] += not_enabled;
    times[wait->from_elsewhere ? Cause::message : Cause::scheduler] += on_its_way;
    times[stolen ? Cause::steal : Cause::wake_up] += end - begin - not_enabled - on_its_way;
}

/// The first stay that ends after `time`.
std::vector<Stay>::const_iterator first_after(const std::vector<Stay>& stays, Time time) {
    return std::upper_bound(stays.begin(), stays.end(), time,
                            [](Time at, const Stay& one) { return at < one.end; });
}

/// Adds the states of a worker in [begin, end). `next`: the task that it begins afterwards, if any.
void add_stretch(CauseTimes& times, const Recorded& recorded, std::size_t worker, Time begin, Time end,
                 const RecordedTask* next) {
    const std::vector<Stay>& stays = recorded.workers[worker].stays;
    auto stay = first_after(stays, begin);
    const auto wait = next ? wait_of(recorded, *next) : std::nullopt;
    Time at = begin;
    for (; stay != stays.end() && stay->begin < end; ++stay) {
        const Time from = std::max(stay->begin, begin), to = std::min(stay->end, end);
        switch (stay->activity) {
            case Activity::working:
                times[Cause::work] += to - from;
                break;
            case Activity::overhead:
                times[Cause::scheduler] += to - from;
                break;
            case Activity::stealing:
                times[Cause::steal] += to - from;
                break;
            case Activity::waiting:
            case Activity::idle:
                add_rest(times, stay->activity, from, to, wait, next && next->stolen);
                break;
        }
        at = to;
    }
    times[Cause::scheduler] += end - at;  // natively a record may end before its last task
}

/// The task before `task` on its worker; nothing for the first one.
std::optional<std::size_t> before_on_worker(const Recorded& recorded, std::size_t task) {
    const std::vector<std::size_t>& begun = recorded.workers[recorded.tasks[task].worker].tasks_begun;
    // In order of their starts, which tasks that take no time may share.
    const auto first = std::ranges::lower_bound(begun, recorded.tasks[task].start, {},
                                                [&](std::size_t one) { return recorded.tasks[one].start; });
    const auto place = std::find(first, begun.end(), task);
    return place == begun.begin() ? std::nullopt : std::optional(*std::prev(place));
}

/// What passed between the end of a predecessor, or zero, and the start of a task that waited for it.
CauseTimes before_data(const Recorded& recorded, const RecordedTask& task, Time since) {
    CauseTimes times;
    const auto wait = wait_of(recorded, task);
    const Time start = std::max(since, task.start);  // clocks of two machines may disagree
    const Time ready = wait ? std::clamp(wait->ready, since, start) : start;
    times[wait && wait->from_elsewhere ? Cause::message : Cause::scheduler] += ready - since;
    add_stretch(times, recorded, task.worker, ready, start, &task);
    return times;
}

}  // namespace

const char* name(Cause cause) {
    switch (cause) {
        case Cause::work:
            return "work";
        case Cause::scheduler:
            return "scheduler";
        case Cause::message:
            return "message";
        case Cause::steal:
            return "steal";
        case Cause::wake_up:
            return "wake-up";
        case Cause::no_task:
            break;
    }
    return "no ready task";
}

Time CauseTimes::sum() const {
    Time sum{};
    for (const Time time : times_) sum += time;
    return sum;
}

std::vector<PathStep> critical_path(const Recorded& recorded) {
    HEDDLE_ASSERT(recorded.is_graph);
    std::vector<PathStep> path;
    const auto last = std::max_element(recorded.tasks.begin(), recorded.tasks.end(),
                                       [](const auto& a, const auto& b) { return a.end < b.end; });
    std::optional<std::size_t> at = static_cast<std::size_t>(last - recorded.tasks.begin());
    while (at) {
        if (path.size() == recorded.tasks.size())
            throw Error("tasks.csv has tasks that wait for each other", "record the run again");
        const RecordedTask& task = recorded.tasks[*at];
        PathStep step{*at, {}, {}};
        add_stretch(step.within, recorded, task.worker, task.start, task.end, nullptr);
        const auto on_worker = before_on_worker(recorded, *at);
        const Time busy_until = on_worker ? recorded.tasks[*on_worker].end : Time::zero();
        const std::optional<std::size_t> enabler = task.enabler;
        // Without stealing a task is ready once its turn has come, too: the worker says so shortly after it
        // has ended the task before. Until then it could not have begun this one.
        const bool was_busy =
            on_worker &&
            (busy_until >= task.ready || schedules_until(recorded, recorded.tasks[*on_worker], task.ready));
        // A task ends before one that waited for it begins, so steps of an undamaged record go back in time.
        if (on_worker && (!enabler || was_busy)) {
            add_stretch(step.before, recorded, task.worker, busy_until, task.start, &task);
            at = on_worker;
        } else {
            step.before = before_data(recorded, task, enabler ? recorded.tasks[*enabler].end : Time::zero());
            at = enabler;
        }
        path.push_back(step);
    }
    std::reverse(path.begin(), path.end());
    return path;
}

std::vector<CauseTimes> causes_of_workers(const Recorded& recorded) {
    std::vector<CauseTimes> all;
    for (std::size_t worker = 0; worker < recorded.workers.size(); ++worker) {
        CauseTimes times;
        Time at{};
        for (const std::size_t i : recorded.workers[worker].tasks_begun) {
            const RecordedTask& task = recorded.tasks[i];
            if (task.end <= at) continue;  // it ran inside another one
            const Time start = std::max(at, task.start);
            add_stretch(times, recorded, worker, at, start, &task);
            add_stretch(times, recorded, worker, start, task.end, nullptr);
            at = task.end;
        }
        add_stretch(times, recorded, worker, at, std::max(at, recorded.makespan), nullptr);
        all.push_back(times);
    }
    return all;
}

WorkAndSpan work_and_span(const Recorded& recorded) {
    HEDDLE_ASSERT(recorded.is_graph);
    WorkAndSpan result;
    std::unordered_map<std::uint64_t, std::size_t> by_number;
    for (std::size_t i = 0; i < recorded.tasks.size(); ++i) by_number.emplace(*recorded.tasks[i].number, i);
    // By predecessors, not by time: clocks of two machines may disagree which of two tasks ended first.
    enum class Seen : std::uint8_t { no, on_the_way, yes };
    std::vector<Seen> seen(recorded.tasks.size(), Seen::no);
    std::vector<Time> finish(recorded.tasks.size());
    std::vector<std::size_t> open;
    for (std::size_t first = 0; first < recorded.tasks.size(); ++first) {
        for (open.assign(1, first); !open.empty();) {
            const std::size_t at = open.back();
            const RecordedTask& task = recorded.tasks[at];
            if (seen[at] == Seen::no) {
                seen[at] = Seen::on_the_way;
                for (const std::uint64_t before : task.predecessors)
                    if (const auto found = by_number.find(before);
                        found != by_number.end() && seen[found->second] == Seen::no)
                        open.push_back(found->second);
                continue;
            }
            open.pop_back();
            if (std::exchange(seen[at], Seen::yes) == Seen::yes) continue;  // two tasks had named it
            Time begin{};
            for (const std::uint64_t before : task.predecessors)
                if (const auto found = by_number.find(before); found != by_number.end())
                    begin = std::max(begin, finish[found->second]);
            finish[at] = begin + (task.end - task.start);
            result.work += task.end - task.start;
            result.span = std::max(result.span, finish[at]);
        }
    }
    return result;
}

}  // namespace heddle::report
