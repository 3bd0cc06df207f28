// Writes the report's section about one recorded run: its workers, its tasks over time, its critical path,
// and the causes of its makespan.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/units.hpp"
#include "report/causes.hpp"
#include "report/gantt_figure.hpp"
#include "report/sections.hpp"
#include "report/words.hpp"
#include "results/exact_seconds.hpp"

namespace heddle::report {

namespace {

/// The recorded run of the last winner that has one; else the last recorded run.
const Run* chosen_run(const Subject& subject, std::string& what) {
    const Run* chosen = nullptr;
    bool is_winner = false;
    for (const Competition& group : subject.findings.groups) {
        for (const Entry& entry : group.entries) {
            for (const std::size_t i : subject.combination_of(entry).runs) {
                const Run& run = subject.runs.all[i];
                const bool wins = &entry == group.winner();
                if ((is_winner && !wins) || !is_recorded(run)) continue;
                chosen = &run;
                is_winner = wins;
                what = group.name_of(entry);
                break;
            }
        }
    }
    return chosen;
}

std::string cause_colour(Cause cause) {
    switch (cause) {
        case Cause::work:
            return "#0072B2";
        case Cause::scheduler:
            return "#E69F00";
        case Cause::message:
            return "#009E73";
        case Cause::steal:
            return "#D55E00";
        case Cause::wake_up:
            return "#CC79A7";
        case Cause::no_task:
            break;
    }
    return "#D9D9D9";
}

Value exact_time(const TimeSum& time) {
    constexpr auto picoseconds = static_cast<TimeSum::Count>(1'000'000'000'000);
    return {show_seconds(to_seconds(time)),
            fmt::format("{}.{:012}", static_cast<std::int64_t>(time.count() / picoseconds),
                        static_cast<std::int64_t>(time.count() % picoseconds)),
            true};
}

Value exact_time(Time time) {
    Value value = seconds_value(to_seconds(time));
    value.exact = results::exact_seconds(time);
    return value;
}

void add_worker_times(Page& page, const Recorded& recorded) {
    constexpr std::size_t worker_rows_max = 64;
    const WorkerRows rows = rows_of(recorded, worker_rows_max);
    page.subtitle("Workers");
    Figure figure;
    figure.id = "workers";
    figure.caption = rows.together > 1
                         ? fmt::format("Time in each state; {} consecutive workers in a row.", rows.together)
                         : "Time of each worker in each state, until the makespan.";
    std::vector<std::string> titles = {"workers", "tasks", "stolen"},
                             fields = {"workers", "tasks", "stolen_tasks"};
    for (const Activity activity : all_activities) {
        titles.emplace_back(name(activity));
        fields.push_back(fmt::format("{}_seconds", name(activity)));
        figure.traces.push_back({{"type", "bar"},
                                 {"orientation", "h"},
                                 {"name", name(activity)},
                                 {"x", Json::array()},
                                 {"y", Json::array()},
                                 {"marker", {{"color", state_colour(name(activity))}}},
                                 {"hovertemplate", "%{y}<br>%{fullData.name}: %{x:.4s}s<extra></extra>"}});
    }
    HtmlTable table("workers-table", "Tasks, and time in each state.", titles, fields);
    for (std::size_t row = 0; row < rows.rows; ++row) {
        ActivityTotals times;
        std::uint64_t tasks = 0, stolen = 0;
        const std::size_t end = std::min((row + 1) * rows.together, recorded.workers.size());
        for (std::size_t w = row * rows.together; w < end; ++w) {
            times += recorded.workers[w].times;
            tasks += recorded.workers[w].tasks;
            stolen += recorded.workers[w].stolen;
        }
        std::vector<Value> cells = {text_value(rows.name(recorded, row)), number_value(std::to_string(tasks)),
                                    number_value(std::to_string(stolen))};
        for (std::size_t k = 0; k < all_activities.size(); ++k) {
            cells.push_back(exact_time(times[all_activities[k]]));
            if (rows.together == 1) cells.back() = exact_time(recorded.workers[row].times[all_activities[k]]);
            figure.traces[k]["x"].push_back(to_seconds(times[all_activities[k]]));
            figure.traces[k]["y"].push_back(rows.name(recorded, row));
        }
        table.add(std::move(cells));
    }
    figure.height = 120 + std::max(14, 28 - static_cast<int>(rows.rows) / 4) * static_cast<int>(rows.rows);
    figure.layout = {{"barmode", "stack"},
                     {"bargap", 0.2},
                     {"xaxis", {{"title", "time"}, {"tickformat", "~s"}, {"ticksuffix", "s"}}},
                     {"yaxis", {{"type", "category"}, {"autorange", "reversed"}}}};
    page.figure(figure);
    page.table(table);
}

void add_causes(Page& page, const Recorded& recorded, bool is_virtual) {
    CauseTimes all;
    std::array<TimeSum, all_causes.size()> sums{};
    TimeSum total{};
    for (const CauseTimes& worker : causes_of_workers(recorded)) {
        for (std::size_t k = 0; k < all_causes.size(); ++k) sums[k] += worker[all_causes[k]];
        total += worker.sum();
    }
    page.subtitle("Where the time of the workers went");
    HtmlTable table("causes", "Time of all workers by cause.", {"cause", "time", "share"},
                    {"cause", "seconds", "share"});
    Figure figure;
    figure.id = "causes-figure";
    figure.height = 170;
    figure.caption =
        "Time of all workers by cause. Rest is divided by what the worker's next task waited for.";
    for (std::size_t k = 0; k < all_causes.size(); ++k) {
        const double share = to_seconds(total) > 0 ? to_seconds(sums[k]) / to_seconds(total) : 0;
        Value shown = decimal_value(share, 4);
        shown.shown = percent(share);
        table.add({text_value(name(all_causes[k])), exact_time(sums[k]), shown});
        figure.traces.push_back({{"type", "bar"},
                                 {"orientation", "h"},
                                 {"name", name(all_causes[k])},
                                 {"x", {share}},
                                 {"y", {""}},
                                 {"marker", {{"color", cause_colour(all_causes[k])}}},
                                 {"hovertemplate", "%{fullData.name}: %{x:.1%}<extra></extra>"}});
    }
    table.add({text_value("sum"), exact_time(total), decimal_value(1, 0)});
    figure.layout = {{"barmode", "stack"},
                     {"xaxis", {{"tickformat", ".0%"}, {"range", {0, 1}}}},
                     {"yaxis", {{"showticklabels", false}, {"ticks", ""}}}};
    page.figure(figure);
    page.table(table);
    if (is_virtual) page.paragraph("The sum is the makespan times the number of workers, to the picosecond.");
}

void add_path(Page& page, const Recorded& recorded, const std::vector<PathStep>& path) {
    page.subtitle("Critical path");
    CauseTimes sums;
    constexpr std::size_t steps_max = 20'000;  // the page has each row twice, in links
    const std::string left_out =
        path.size() > steps_max ? fmt::format(" The first {} of {}.", steps_max, path.size()) : "";
    HtmlTable steps("critical-path", "The tasks of the path, and what passed before each." + left_out,
                    {"task", "worker", "message before", "scheduler", "steal", "wake-up", "no ready task",
                     "start", "end"},
                    {"task", "worker", "message_seconds", "scheduler_seconds", "steal_seconds",
                     "wake_up_seconds", "no_task_seconds", "start_seconds", "end_seconds"});
    for (const PathStep& step : path) {
        const RecordedTask& task = recorded.tasks[step.task];
        for (const Cause cause : all_causes) sums[cause] += step.before[cause] + step.within[cause];
        if (steps.rows() == steps_max) continue;
        const std::string label =
            task.name.empty() ? fmt::format("{} {}", task.kernel, task.number.value_or(0)) : task.name;
        steps.add({text_value(label), text_value(recorded.workers[task.worker].name()),
                   exact_time(step.before[Cause::message]), exact_time(step.before[Cause::scheduler]),
                   exact_time(step.before[Cause::steal]), exact_time(step.before[Cause::wake_up]),
                   exact_time(step.before[Cause::no_task]), exact_time(task.start), exact_time(task.end)});
    }
    Figure figure;
    figure.id = "path-figure";
    figure.height = 170;
    figure.caption = "What the makespan consists of, along the critical path.";
    HtmlTable table("critical-path-causes", "The critical path by cause.", {"cause", "time"},
                    {"cause", "seconds"});
    for (const Cause cause : all_causes) {
        table.add({text_value(name(cause)), exact_time(sums[cause])});
        figure.traces.push_back({{"type", "bar"},
                                 {"orientation", "h"},
                                 {"name", name(cause)},
                                 {"x", {to_seconds(sums[cause])}},
                                 {"y", {""}},
                                 {"marker", {{"color", cause_colour(cause)}}},
                                 {"hovertemplate", "%{fullData.name}: %{x:.4s}s<extra></extra>"}});
    }
    table.add({text_value("sum"), exact_time(sums.sum())});
    figure.layout = {{"barmode", "stack"},
                     {"xaxis", {{"tickformat", "~s"}, {"ticksuffix", "s"}}},
                     {"yaxis", {{"showticklabels", false}, {"ticks", ""}}}};
    const WorkAndSpan work = work_and_span(recorded);
    page.paragraph(fmt::format(
        "The path has {} and ends with the run, after {}. A task waited either for the task before it on its "
        "worker, or "
        "for the predecessor whose data came last. All tasks together take {} (the work); the longest chain "
        "of "
        "tasks takes {} "
        "(the span), so that no number of workers gives more than {} as much speed as one.",
        counted_things(path.size(), "task"), show_seconds(to_seconds(sums.sum())),
        show_seconds(to_seconds(work.work)), show_seconds(to_seconds(work.span)),
        times_as_long(work.span > Time::zero() ? to_seconds(work.work) / to_seconds(work.span) : 1)));
    page.figure(figure);
    page.table(table);
    page.table(steps);
}

}  // namespace

void add_recorded_run(Page& page, const Subject& subject) {
    if (subject.runs.all.empty()) return;
    std::string what;
    const Run* const run = chosen_run(subject, what);
    page.section("one-run", "One run in detail");
    if (!run) {
        page.paragraph(
            "No run was recorded, so the page cannot show workers and tasks over time. Add "
            "<code>--record</code> to <code>heddle run --out</code> or to <code>heddle compare</code>.");
        return;
    }
    Recorded recorded;
    std::vector<PathStep> path;  // empty: not known
    bool whole = false;
    try {
        recorded = read_recorded(*run);
        // More than the run's where a model's main program is one of them.
        whole = static_cast<double>(recorded.tasks.size()) >= run->number("tasks");
        if (whole && recorded.is_graph) path = critical_path(recorded);
    } catch (const Error& error) {
        page.paragraph(fmt::format("The record of a run cannot be shown: {}.", escaped(error.message())));
        return;
    }
    page.paragraph(fmt::format("{}, seed {}, took {}.", escaped(what.empty() ? run->value("name") : what),
                               escaped(run->value("seed")), show_seconds(to_seconds(recorded.makespan))));
    if (!whole)
        page.paragraph(fmt::format(
            "The record has {} of {}; the others were calls inside of tasks, or beyond --tasks-max.",
            counted_things(recorded.tasks.size(), "task"), escaped(run->value("tasks"))));
    add_worker_times(page, recorded);
    add_gantt(page, recorded);
    add_causes(page, recorded, run->value("backend") == "sim");
    if (!path.empty())
        add_path(page, recorded, path);
    else
        page.paragraph(
            "The critical path, work and span are not known, because forked tasks are recorded without what "
            "they waited for. Runs of task graphs have them.");
}

}  // namespace heddle::report
