// The tables of all columns, and the search among the keys of an experiment.
#include "results/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "configs/fields.hpp"
#include "results/record.hpp"
#include "runtime/stealing/policy.hpp"
#include "workloads/workload.hpp"

namespace heddle::results {

namespace {

struct FixedColumn {
    const char* name;
    const char* type;
    const char* unit;
    const char* meaning;
};

constexpr std::array run_columns = std::to_array<FixedColumn>({
    {"cell", "string", "", "the directory of the run: a digest of all that determines it"},
    {"program_id", "string", "", "equal in two rows if the same code made them"},
    {"files_id", "string", "", "equal in two rows if the same files were read"},
    {"ok", "boolean", "", "false if the answer was wrong"},
    {"makespan_seconds", "number", "s", "from the start to the end of the last task; virtual in simulation"},
    {"promised_seconds", "number", "s", "the makespan that the placement promises"},
    {"lower_bound_seconds", "number", "s", "no schedule of this work on this machine is shorter"},
    {"tasks", "integer", "", "tasks run to completion"},
    {"steals_within_node", "integer", "", "tasks that a worker took from another worker of its node"},
    {"steals_between_nodes", "integer", "", "tasks that a node took from another node"},
    {"steals_between_groups", "integer", "",
     "of these, the tasks whose thief and victim are in different groups of the network"},
    {"steal_attempts", "integer", "", "attempts to steal, with or without success"},
    {"steal_requests", "integer", "",
     "of these, requests to other nodes; the others are looks at workers of the node"},
    {"steal_requests_granted", "integer", "",
     "of the requests, those that were answered with tasks; not lifelines"},
    {"steal_far_requests", "integer", "", "of the requests, those to another group of the network"},
    {"steal_far_requests_granted", "integer", "", "of these, those that were answered with tasks"},
    {"messages", "integer", "", "messages between nodes"},
    {"active_messages", "integer", "", "messages before small ones were put together"},
    {"bytes", "integer", "B", "bytes between nodes"},
    {"data_bytes", "integer", "B", "of these, what tasks hand to each other"},
    {"promised_data_bytes", "number", "B", "what the placement asks for"},
    {"declared_flops", "number", "flop", "work that tasks declared"},
    {"busy_seconds", "number", "s", "time that workers did not sleep, summed over all workers"},
    {"time_seconds_working", "number", "s", "time in user work, summed over all workers"},
    {"time_seconds_overhead", "number", "s",
     "time in the scheduler in and around tasks, summed over all workers"},
    {"time_seconds_stealing", "number", "s", "time in search of work elsewhere, summed over all workers"},
    {"time_seconds_waiting", "number", "s",
     "time of rest while something that the worker needs is under way, summed over all workers"},
    {"time_seconds_idle", "number", "s", "time of rest without anything to do, summed over all workers"},
    {"nodes", "integer", "", "nodes of the machine as it was built"},
    {"cores", "integer", "", "cores of each node"},
    {"memory_page_faults", "integer", "", "page faults of shared memory"},
    {"memory_page_requests", "integer", "", "messages that asked for a page"},
    {"memory_pages_moved", "integer", "", "pages that moved with their contents"},
    {"memory_page_bytes", "integer", "B", "bytes of pages and of changed parts of pages"},
    {"memory_invalidations", "integer", "", "copies of pages that were invalidated"},
});

constexpr std::array timing_columns = std::to_array<FixedColumn>({
    {"cell", "string", "", "the directory of the run"},
    {"wall_seconds", "number", "s", "real time of the run"},
    {"placement_seconds", "number", "s", "real time of the placement before the run"},
    {"peak_memory_bytes", "integer", "B", "most memory that the process had"},
    {"host", "string", "", "name of the machine"},
    {"sim_threads", "integer", "", "threads that simulated; 0 natively"},
});

constexpr std::array comparison_columns = std::to_array<FixedColumn>({
    {"runs", "integer", "", "runs with a right answer"},
    {"failed", "integer", "", "runs that failed or were wrong"},
    {"median_seconds", "number", "s", "median makespan of the runs with a right answer"},
    {"low_seconds", "number", "s", "lower end of the median's 95% interval"},
    {"high_seconds", "number", "s", "upper end of the median's 95% interval"},
    {"identical", "boolean", "", "all repeats took the same time, so that they are one value"},
    {"ratio", "number", "", "median over the least median of the group"},
    {"lower_bound_seconds", "number", "s", "no schedule of this work on this machine is shorter"},
    {"p_value", "number", "",
     "Mann and Whitney's test against the best of the group, with Holm's correction over all pairs; in "
     "groups of more than 40 with Bonferroni's"},
    {"standing", "string", "", "best, worse, longer, undecided, untested or no result"},
    {"against_best", "string", "",
     "the words of the table: worse, may be chance, lower mean rank, as good, not tested, too few runs to "
     "tell, "
     "longer in every run, best or no result"},
    {"speedup", "number", "", "the baseline's median over this one"},
    {"speedup_low", "number", "", "lower end of the speedup's 95% interval"},
    {"speedup_high", "number", "", "upper end of the speedup's 95% interval"},
    {"efficiency", "number", "", "work for each worker and second, over the baseline's"},
    {"efficiency_low", "number", "", "lower end of the efficiency's 95% interval"},
    {"efficiency_high", "number", "", "upper end of the efficiency's 95% interval"},
});

constexpr std::array validation_columns = std::to_array<FixedColumn>({
    {"native_runs", "integer", "", "native runs with a right answer"},
    {"simulated_runs", "integer", "", "simulated runs with a right answer"},
    {"failed", "integer", "", "runs that failed or were wrong, in both worlds"},
    {"repeated", "integer", "", "native runs that were disturbed, and were run again"},
    {"disturbed", "integer", "", "native runs that count although they were disturbed"},
    {"native_seconds", "number", "s", "median makespan of the native runs"},
    {"simulated_seconds", "number", "s", "median makespan of the simulated runs"},
    {"ratio", "number", "", "simulated over native median"},
    {"ratio_low", "number", "", "lower end of the ratio's 95% interval"},
    {"ratio_high", "number", "", "upper end of the ratio's 95% interval"},
    {"error", "number", "", "the ratio's distance from 1"},
    {"replayed_runs", "integer", "",
     "simulations of the schedules that native runs had, with a right answer"},
    {"replayed_seconds", "number", "s", "median makespan of these"},
    {"replayed_native_seconds", "number", "s", "median makespan of those native runs"},
    {"replayed_simulated_seconds", "number", "s", "median makespan of the simulated runs with their seeds"},
    {"timing_error", "number", "",
     "replayed over the same native time less 1: what times of tasks and messages cause"},
    {"scheduling_error", "number", "",
     "the same simulated over replayed time less 1: what the schedule causes"},
    {"within_5_percent", "string", "", "within, outside or undecided: two one-sided tests against 5%"},
    {"within_15_percent", "string", "", "within, outside or undecided: two one-sided tests against 15%"},
    {"same_tasks", "boolean", "", "each simulated run has as many tasks as the native run of its seed"},
});

constexpr std::array failure_columns = std::to_array<FixedColumn>({
    {"cell", "string", "", "the directory of the run that has no result"},
    {"exit_code", "integer", "", "of its process; 128 + the signal that ended it"},
    {"error", "string", "", "what it said last"},
    {"command", "string", "", "runs it again, in a shell"},
});

constexpr std::array steal_columns = std::to_array<FixedColumn>({
    {"thief", "integer", "", "node that took the tasks"},
    {"victim", "integer", "", "node that had them"},
    {"tasks", "integer", "", "tasks stolen"},
});

constexpr std::array task_columns = std::to_array<FixedColumn>({
    {"task", "integer", "", "number of the task in its graph; empty for forked tasks"},
    {"name", "string", "", "name of the task in its graph"},
    {"kernel", "string", "", "kind of work"},
    {"node", "integer", "", "node that ran the task"},
    {"worker", "integer", "", "worker of that node"},
    {"placed_node", "integer", "", "node that the placement chose"},
    {"placed_worker", "integer", "", "worker that the placement chose"},
    {"ready_seconds", "number", "s",
     "when its data were complete and, without stealing, its turn had come; or when it was forked"},
    {"start_seconds", "number", "s", "when its work began"},
    {"end_seconds", "number", "s", "when its work ended"},
    {"stolen_from_node", "integer", "", "the last victim; empty if the task was not stolen"},
    {"stolen_from_worker", "integer", "", "the victim's worker, if the victim was a worker of the same node"},
    {"flops", "number", "flop", "floating-point operations that the task declared"},
    {"bytes", "number", "B", "bytes to and from memory that the task declared"},
    {"predecessors", "string", "", "numbers of its predecessors in the graph, with blanks between"},
});

constexpr std::array worker_columns = std::to_array<FixedColumn>({
    {"node", "integer", "", "node of the worker"},
    {"worker", "integer", "", "number of the worker on its node"},
    {"tasks", "integer", "", "recorded tasks that it began"},
    {"stolen_tasks", "integer", "", "of these, tasks that it or its node had stolen"},
    {"working_seconds", "number", "s", "time in user work"},
    {"overhead_seconds", "number", "s", "time in the scheduler in and around tasks"},
    {"stealing_seconds", "number", "s", "time in search of work elsewhere"},
    {"waiting_seconds", "number", "s", "time of rest while something that it needs is under way"},
    {"idle_seconds", "number", "s", "time of rest without anything to do"},
});

constexpr std::array timeline_columns = std::to_array<FixedColumn>({
    {"node", "integer", "", "node of the worker"},
    {"worker", "integer", "", "number of the worker on its node"},
    {"state", "string", "", "working, overhead, stealing, waiting or idle"},
    {"start_seconds", "number", "s", "when the worker entered the state"},
    {"end_seconds", "number", "s", "when it left the state, or the makespan"},
});

struct KnownTable {
    std::string_view name;
    std::span<const FixedColumn> columns;
};

constexpr std::array known_tables = std::to_array<KnownTable>({
    {"runs.csv", run_columns},
    {"timings.csv", timing_columns},
    {"failures.csv", failure_columns},
    {"comparison.csv", comparison_columns},
    {"results.csv", validation_columns},
    {"steals.csv", steal_columns},
    {"tasks.csv", task_columns},
    {"workers.csv", worker_columns},
    {"timeline.csv", timeline_columns},
});

const FixedColumn* find_column(std::span<const FixedColumn> columns, std::string_view name) {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [name](const FixedColumn& column) { return column.name == name; });
    return found == columns.end() ? nullptr : &*found;
}

const FixedColumn* find_fixed(std::string_view table, std::string_view column) {
    for (const KnownTable& known : known_tables) {
        if (known.name == table)
            if (const FixedColumn* found = find_column(known.columns, column)) return found;
    }
    // A comparison has medians of what a run counts.
    return table == "comparison.csv" ? find_column(run_columns, column) : nullptr;
}

struct TypeAndUnit {
    const char* type;
    const char* unit;
};

/// As runs.csv has it: in base units, lists as JSON. A key whose value may be a list or not has any type.
TypeAndUnit type_of(configs::Shape::Kind kind) {
    using Kind = configs::Shape::Kind;
    switch (kind) {
        case Kind::integer:
            return {"integer", ""};
        case Kind::number:
            return {"number", ""};
        case Kind::boolean:
            return {"boolean", ""};
        case Kind::time:
            return {"number", "s"};
        case Kind::flops:
            return {"number", "flop"};
        case Kind::bytes:
            return {"number", "B"};
        case Kind::bandwidth:
            return {"number", "B/s"};
        case Kind::bandwidths:
            return {"any", "B/s"};
        case Kind::text:
        case Kind::choice:
            return {"string", ""};
        case Kind::integers:
        case Kind::factors:
        case Kind::names:
        case Kind::events:
        case Kind::kernels:
        case Kind::message_bytes:
        case Kind::networks:
            break;
    }
    return {"any", ""};
}

struct KnownKey {
    std::string key;
    configs::Shape::Kind kind = configs::Shape::Kind::text;
    std::string help;
};

std::optional<KnownKey> find_key(std::string_view column_name, std::string_view workload) {
    for (const configs::Field& field : configs::fields()) {
        if (column(field.key) == column_name) return KnownKey{field.key, field.shape.kind, field.help};
    }
    const auto among = [column_name](const std::string& section,
                                     const std::vector<Setting>& settings) -> std::optional<KnownKey> {
        for (const Setting& setting : settings) {
            std::string key = fmt::format("{}.{}", section, setting.name);
            if (column(key) == column_name)
                return KnownKey{std::move(key), configs::shape_of(setting).kind, setting.help};
        }
        return std::nullopt;
    };
    for (const workloads::Kind& kind : workloads::all()) {
        if (!workload.empty() && kind.name != workload) continue;
        if (auto key = among("workload", kind.settings)) return key;
    }
    for (const auto& policy : runtime::victim_policy_kinds())
        if (auto key = among("schedule.stealing", policy.settings)) return key;
    return std::nullopt;
}

}  // namespace

bool is_known_table(std::string_view table) {
    return std::any_of(known_tables.begin(), known_tables.end(),
                       [table](const KnownTable& known) { return known.name == table; });
}

namespace {

/// The columns of results.csv for what a run counts: `native_tasks`, `simulated_tasks`, and the parts of the
/// error, `error_idle`.
std::optional<ColumnInfo> describe_counted(std::string_view column) {
    for (const std::string_view world : {"native", "simulated"}) {
        if (!column.starts_with(fmt::format("{}_", world))) continue;
        const FixedColumn* const counted = find_column(run_columns, column.substr(world.size() + 1));
        if (counted)
            return ColumnInfo{ColumnKind::measured, "number", counted->unit,
                              fmt::format("median of the {} runs: {}", world, counted->meaning)};
    }
    constexpr std::string_view part = "error_";
    if (!column.starts_with(part)) return std::nullopt;
    return ColumnInfo{ColumnKind::measured, "number", "",
                      fmt::format("part of the error: simulated less native time `{}`, over the native time "
                                  "of all workers",
                                  column.substr(part.size()))};
}

}  // namespace

ColumnInfo describe_column(std::string_view table, std::string_view column, std::string_view workload) {
    const bool is_validation = table == "results.csv";
    if (const FixedColumn* fixed = find_fixed(table, column)) {
        const bool names_row = column == "cell" || column == "program_id" || column == "files_id";
        // A comparison has medians of counts.
        const bool is_median = table == "comparison.csv" && find_column(run_columns, column) == fixed;
        return {names_row ? ColumnKind::identity : ColumnKind::measured, is_median ? "number" : fixed->type,
                fixed->unit, fixed->meaning};
    }
    if (is_validation)
        if (const auto counted = describe_counted(column)) return *counted;
    constexpr std::string_view answer = "answer_";
    if (column.starts_with(answer))
        return {ColumnKind::answer, "number", "",
                fmt::format("the value `{}` of the answer", column.substr(answer.size()))};
    if (column == "workload_name") return {ColumnKind::configuration, "string", "", "the program"};
    if (column == "variant")
        return {ColumnKind::configuration, "string", "", "name of a set of values that are compared"};
    if (const auto key = find_key(column, workload)) {
        const TypeAndUnit type = type_of(key->kind);
        const bool speed = key->key == "platform.core_speed";
        // These show values as the file states them, with units of their own.
        if (table == "comparison.csv" || is_validation)
            return {ColumnKind::configuration, "string", "", fmt::format("{}: {}", key->key, key->help)};
        return {ColumnKind::configuration, type.type, speed ? "flop/s" : type.unit,
                fmt::format("{}: {}", key->key, key->help)};
    }
    return {ColumnKind::configuration, "any", "", "a key of the experiment"};
}

std::optional<std::string> key_of_column(std::string_view column, std::string_view workload) {
    if (column == "workload_name") return "workload.name";
    const auto key = find_key(column, workload);
    return key ? std::optional(key->key) : std::nullopt;
}

}  // namespace heddle::results
