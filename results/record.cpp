// Prints a finished run as JSON: its answer, times, counters, configuration and versions.
#include "results/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "results/lower_bound.hpp"
#include "results/sharing_report.hpp"

namespace heddle::results {

namespace {

using Json = nlohmann::ordered_json;

/// Whole numbers without a decimal point, as far as a double counts exactly (2^53).
Json json_number(double value) {
    const bool whole = std::abs(value) <= 9007199254740992.0 && value == std::floor(value);
    return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

/// Divided, not multiplied: 1e-12 is no exact double, and 1500 ps would become 1.4999999999999998e-09.
double seconds(auto time) {
    return static_cast<double>(time.count()) / 1e12;
}

const char* check_name(workloads::Verdict::Kind kind) {
    switch (kind) {
        case workloads::Verdict::Kind::right:
            return "right";
        case workloads::Verdict::Kind::wrong:
            return "wrong";
        case workloads::Verdict::Kind::unchecked:
            break;
    }
    return "unchecked";
}

Json answer_of(const Record& record) {
    Json answer = Json::object();
    for (const runtime::AnswerValue& value : record.result.answer)
        answer[value.name] = json_number(value.value);
    return answer;
}

Json steals_of(const Record& record) {
    Json matrix = Json::array();
    for (const auto& [pair, tasks] : record.result.steals) matrix.push_back({pair.first, pair.second, tasks});
    const runtime::Counters& total = record.result.total;
    return {{"within_node", total.steals_within_node},
            {"between_nodes", total.steals_between_nodes},
            {"between_groups", steals_between_groups(record)},
            {"attempts", total.steal_attempts},
            {"requests", total.steal_requests},
            {"requests_granted", total.requests_granted},
            {"far_requests", total.far_requests},
            {"far_requests_granted", total.far_granted},
            {"matrix", std::move(matrix)}};
}

/// Runs of nodes, by number: [group, nodes] each.
Json groups_of(const NodeDistances& distances) {
    Json runs = Json::array();
    for (NodeId node = 0; node < distances.nodes();) {
        const std::uint32_t group = distances.group(node);
        const NodeId begin = node;
        while (node < distances.nodes() && distances.group(node) == group) ++node;
        runs.push_back({group, node - begin});
    }
    return runs;
}

Json times_of(const Record& record) {
    Json times = Json::object();
    for (const Activity activity : all_activities)
        times[name(activity)] = seconds(record.result.total.times[activity]);
    return times;
}

/// A number that is not known is null.
Json known(const std::optional<double>& value) {
    return value ? json_number(*value) : Json(nullptr);
}

Json json_of(const configs::Determinants& determinants) {
    Json files = Json::object();
    for (const configs::InputFile& file : determinants.files) files[file.key] = file.sha256;
    Json program = Json::object();
    for (const auto& [name, id] : determinants.program) program[name] = id;
    return {{"configuration", determinants.configuration},
            {"files", std::move(files)},
            {"program", std::move(program)}};
}

/// The nodes that took part for a while only. Null: not at all, or until the end.
Json members_of(const Record& record) {
    Json list = Json::array();
    for (const auto& [node, membership] : record.result.members) {
        std::optional<double> began, left;
        if (membership.began != never) began = seconds(membership.began);
        if (membership.ended != Time::zero()) left = seconds(membership.ended);
        list.push_back({{"node", node},
                        {"began_seconds", known(began)},
                        {"left_seconds", known(left)},
                        {"tasks", record.result.nodes[node].tasks}});
    }
    return list;
}

/// As the program declares them, whatever is charged for them.
double declared_flops(const Record& record) {
    return record.result.total.declared_flops * record.experiment.declared_per_charged;
}

/// `with_timing`: wall time and memory too, in their place among the other fields.
Json fields_of(const Record& record, bool with_timing) {
    const runtime::Counters& total = record.result.total;
    Json json = {{"workload", record.experiment.kind->name},
                 {"backend", configs::name(record.experiment.backend)},
                 {"ok", record.ok()},
                 {"answer", answer_of(record)},
                 {"check", {{"verdict", check_name(record.verdict.kind)}, {"reason", record.verdict.reason}}},
                 {"makespan_seconds", seconds(record.result.makespan)},
                 {"promised_seconds", known(record.forecast.makespan_seconds)},
                 {"lower_bound_seconds", known(lower_bound_seconds(record))},
                 {"tasks", total.tasks},
                 {"steals", steals_of(record)},
                 {"messages", total.messages},
                 {"active_messages", total.active_messages},
                 {"bytes", total.bytes},
                 {"data_bytes", total.data_bytes},
                 {"promised_data_bytes", known(record.forecast.data_bytes)},
                 {"declared_flops", json_number(declared_flops(record))},
                 {"busy_seconds", seconds(total.busy)},
                 {"time_seconds", times_of(record)},
                 {"nodes", record.topology.nodes},
                 {"cores", record.topology.cores},
                 {"warnings", record.warnings}};
    if (record.topology.distances.groups() > 1) json["node_groups"] = groups_of(record.topology.distances);
    if (!record.result.sharing.arrays.empty()) json["memory"] = memory_json(total, record.result.sharing);
    if (!record.result.members.empty()) json["members"] = members_of(record);
    if (with_timing) {
        json["wall_seconds"] = record.timing.wall_seconds;
        json["placement_seconds"] = record.timing.placement_seconds;
        json["peak_memory_bytes"] = record.timing.peak_memory_bytes;
        json["host"] = record.timing.host;
        json["hosts"] = record.timing.hosts;
        json["sim_threads"] = record.timing.sim_threads;
    }
    json["seed"] = record.experiment.seed;
    json["cell"] = record.determinants.cell();
    json["determinants"] = json_of(record.determinants);
    json["configuration"] = Json::parse(configs::resolved_json(record.experiment));
    const Versions& versions = record.versions;
    json["versions"] = {
        {"heddle", versions.heddle}, {"simgrid", versions.simgrid}, {"compiler", versions.compiler},
        {"metis", versions.metis},   {"scotch", versions.scotch},   {"openblas", versions.openblas},
        {"mpi", versions.mpi}};
    return json;
}

std::string dumped(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string result_json(const Record& record) {
    return dumped(fields_of(record, false), 2);
}

std::string timing_json(const Record& record) {
    const Timing& timing = record.timing;
    return dumped({{"wall_seconds", timing.wall_seconds},
                   {"placement_seconds", timing.placement_seconds},
                   {"peak_memory_bytes", timing.peak_memory_bytes},
                   {"host", timing.host},
                   {"hosts", timing.hosts},
                   {"sim_threads", timing.sim_threads}},
                  2);
}

std::size_t median_run(const std::vector<Record>& records) {
    std::vector<std::size_t> order(records.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&records](std::size_t a, std::size_t b) {
        return records[a].result.makespan < records[b].result.makespan;
    });
    return order[(order.size() - 1) / 2];
}

std::string summary_json(const std::vector<Record>& records) {
    Json json = fields_of(records[median_run(records)], true);
    if (records.size() > 1) {
        json["ok"] =
            std::all_of(records.begin(), records.end(), [](const Record& record) { return record.ok(); });
        Json runs = Json::array();
        for (const Record& record : records) {
            Json run = fields_of(record, true);
            for (const char* same : {"workload", "backend", "configuration", "versions", "host", "hosts",
                                     "nodes", "cores", "determinants"}) {
                run.erase(same);
            }
            runs.push_back(std::move(run));
        }
        json["runs"] = std::move(runs);
    }
    return dumped(json, -1);
}

std::uint64_t steals_between_groups(const Record& record) {
    const auto& group = record.topology.group;
    std::uint64_t sum = 0;
    for (const auto& [pair, tasks] : record.result.steals) {
        const bool known = pair.first < group.size() && pair.second < group.size();
        if (known && group[pair.first] != group[pair.second]) sum += tasks;
    }
    return sum;
}

std::string steals_csv(const Record& record) {
    std::string text = "thief,victim,tasks\n";
    for (const auto& [pair, tasks] : record.result.steals) {
        text += fmt::format("{},{},{}\n", pair.first, pair.second, tasks);
    }
    return text;
}

}  // namespace heddle::results
