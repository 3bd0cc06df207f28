// `heddle schedule`: where and when every task of a graph runs, by one or several schedulers.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include "base/output_file.hpp"
#include "base/printable.hpp"
#include "base/settings.hpp"
#include "cli/gantt.hpp"
#include "cli/graph_options.hpp"
#include "cli/machine_options.hpp"
#include "cli/option_rules.hpp"
#include "cli/platform_source.hpp"
#include "cli/schedule_file.hpp"
#include "cli/schedule_report.hpp"
#include "cli/verbs.hpp"
#include "graphs/graph_source.hpp"
#include "host/wall_clock.hpp"
#include "partitioners/schedulers/scheduler.hpp"
#include "partitioners/schedulers/verify.hpp"

namespace heddle::cli {

namespace {

struct ScheduleOptions {
    GraphOptions graph;
    MachineOptions machine;
    std::string schedulers, seed, budget;
    std::string out, read;
    bool gantt = false;
    bool json = false;
};

/// Fast on every size of graph, and made for unequal processors too.
const std::string default_scheduler = "heft";

const OutputWords words_of_out = {"the schedule",
                                  "name another file with --out, or make its folder writable"};

/// How a schedule is made.
struct Effort {
    std::uint64_t seed = 1;
    std::optional<double> budget;  ///< seconds
};

Effort effort_of(const ScheduleOptions& options) {
    Effort effort;
    // JSON holds no larger whole number exactly.
    if (!options.seed.empty()) effort.seed = whole_number<std::uint64_t>("--seed", options.seed, 0, seed_max);
    if (options.budget.empty()) return effort;
    Settings checked({{"budget", SettingKind::number, "", "seconds", {}, 0}});
    checked.set("budget", options.budget, {"--budget", 0});
    effort.budget = checked.number("budget");
    return effort;
}

JudgedSchedule make_schedule(const ScheduleTask& task, const std::string& name, const Effort& effort,
                             double lower_bound) {
    const auto scheduler = schedulers::make(name);
    schedulers::Options how{effort.seed, {}};
    const double began = host::wall_seconds();
    if (effort.budget)
        how.out_of_time = [end = began + *effort.budget] { return host::wall_seconds() >= end; };
    schedulers::Schedule schedule = scheduler->schedule(task.problem, how);
    // On a platform, what a run would do: each task as early as the order and the data allow.
    if (task.problem.in_picoseconds()) schedule = run_exactly(task.problem, schedule).schedule;
    const double seconds = host::wall_seconds() - began;
    return judge(task, name, effort.seed, std::move(schedule), seconds, lower_bound);
}

JudgedSchedule check_file(const ScheduleTask& task, ScheduleFile file, const ScheduleOptions& options,
                          double lower_bound) {
    try {
        return judge(task, std::move(file.scheduler), file.seed,
                     schedulers::Schedule(task.problem, std::move(file.slots)), file.seconds, lower_bound);
    } catch (const Error& error) {  // a processor that the machine lacks
        throw error.at({options.read, file.line});
    }
}

std::string text_of(const ScheduleTask& task, const std::vector<JudgedSchedule>& made, bool with_gantt) {
    std::string text = schedule_table(task, made);
    if (!with_gantt) return text;
    for (const JudgedSchedule& judged : made)
        text += fmt::format("\n{}\n{}", judged.scheduler, gantt(judged.schedule));
    return text;
}

/// Says what is wrong with each infeasible schedule. True where there is none.
bool all_feasible(const std::vector<JudgedSchedule>& made, const std::string& file) {
    bool all = true;
    for (const JudgedSchedule& judged : made) {
        if (judged.feasible()) continue;
        all = false;
        std::cerr << fmt::format("heddle: {}: the schedule is not feasible:\n",
                                 file.empty() ? judged.scheduler : printable(file));
        for (const std::string& violation : judged.violations)
            std::cerr << "  " << printable(violation) << '\n';
    }
    return all;
}

/// The graph, in the units that the options state or else the platform's experiment.
graphs::GraphFile load_stated(const ScheduleOptions& options) {
    GraphOptions graph = options.graph;
    if (!options.machine.platform.empty() && !graphs::names_generator(graph.source)) {
        const StatedUnits units = units_named(options.machine.platform, options.machine.sets);
        if (graph.time_unit.empty()) graph.time_unit = units.time_unit;
        if (graph.bytes_unit.empty()) graph.bytes_unit = units.bytes_unit;
    }
    return graphs::load_graph(graph.source, read_options(graph));
}

int schedule(const ScheduleOptions& options) {
    const bool make = options.read.empty();
    const std::vector<std::string> names =
        make ? names_in("--scheduler", options.schedulers.empty() ? default_scheduler : options.schedulers,
                        schedulers::names())
             : std::vector<std::string>{};
    for (const std::string& name : names) schedulers::make(name);  // unknown names before any work
    const Effort effort = effort_of(options);
    if (effort.budget && !std::any_of(names.begin(), names.end(), schedulers::improves))
        throw Error("none of these schedulers improves a schedule as long as it may",
                    "add portfolio to --scheduler", {"--budget", 0});
    if (!options.out.empty() && names.size() > 1)
        throw Error("a file holds one schedule", "name one scheduler, or leave out --out");
    refuse_input_as_out(options.out, {options.graph.source, options.machine.platform});
    if (!options.out.empty()) expect_writable(options.out, words_of_out);

    graphs::GraphFile graph = load_stated(options);
    const std::string hash = graph_hash(graph);
    ScheduleFile file;
    if (!make) file = read_schedule(options.read, graph);
    const bool own_machine = !file.machine || states_machine(options.machine);
    MachineChoice machine = own_machine ? machine_of(options.machine, graph) : *file.machine;
    fit(machine, graph);
    const schedulers::Problem problem(graph.graph, machine.machine);
    const ScheduleTask task{options.graph.source, hash, graph, machine, problem};

    const double lower_bound = schedulers::lower_bounds(problem).best();
    std::vector<JudgedSchedule> made;
    if (!make) made.push_back(check_file(task, std::move(file), options, lower_bound));
    for (const std::string& name : names) made.push_back(make_schedule(task, name, effort, lower_bound));
    // What one has proved holds for all.
    double proved = lower_bound;
    for (const JudgedSchedule& judged : made) proved = std::max(proved, judged.lower_bound);
    for (JudgedSchedule& judged : made) judged.lower_bound = proved;

    if (!options.out.empty())
        write_file(options.out, schedule_json(task, made.front()), OutputFile::Durable::yes, words_of_out);
    std::cout << (!options.json      ? printable_lines(text_of(task, made, options.gantt))
                  : made.size() == 1 ? schedule_json(task, made.front())
                                     : schedules_json(task, made));
    std::cout.flush();
    return all_feasible(made, options.read) ? success : wrong_answer;
}

}  // namespace

void add_schedule(CLI::App& app, Action& action) {
    const auto options = std::make_shared<ScheduleOptions>();
    CLI::App* verb = app.add_subcommand("schedule", "decide where and when every task of a graph runs");
    add_graph_options(*verb, options->graph);
    CLI::Option* scheduler =
        verb->add_option("--scheduler", options->schedulers,
                         "one or several, separated by commas, or all (heddle list schedulers); heft");
    scheduler->type_name("NAME,...");
    add_machine_options(*verb, options->machine);
    CLI::Option* seed = verb->add_option("--seed", options->seed, "of schedulers that draw numbers (1)");
    CLI::Option* budget =
        verb->add_option("--budget", options->budget, "how long the portfolio may improve a schedule")
            ->type_name("SECONDS");
    CLI::Option* out =
        verb->add_option("--out", options->out, "write the schedule, as JSON")->type_name("FILE");
    verb->add_option("--read", options->read, "check a schedule that was written, and make none")
        ->type_name("FILE")
        ->excludes(scheduler)
        ->excludes(seed)
        ->excludes(budget)
        ->excludes(out);
    CLI::Option* drawn = verb->add_flag("--gantt", options->gantt, "draw the schedule");
    verb->add_flag("--json", options->json, "print one JSON object and nothing else")->excludes(drawn);
    verb->callback([options, &action] { action = [options] { return schedule(*options); }; });
}

}  // namespace heddle::cli
