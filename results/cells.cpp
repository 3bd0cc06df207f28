// Reads what the runs of a comparison have left behind: results, times, or why a run failed. Each run, one
// configuration with one seed, is called a cell and has a directory of its own.
#include "results/cells.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/csv_table.hpp"
#include "base/error.hpp"
#include "results/data_package.hpp"
#include "results/record.hpp"
#include "results/result_json.hpp"
#include "results/store.hpp"

namespace heddle::results {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json json_of(const fs::path& path) {
    return parse_result(read_stored(path, {.text = false}));  // what is no JSON counts as missing
}

/// The configuration without what chooses how and from which seed the work is done; files by their contents.
std::string work_and_machine_of(const Json& result) {
    Json configuration = result.at("configuration");
    for (const char* key : {"name", "repeat", "seed", "schedule"}) configuration.erase(key);
    return configs::sha256(configuration.dump() + result.at("determinants").at("files").dump());
}

std::vector<std::pair<std::string, double>> counted_in(const Json& result) {
    std::vector<std::pair<std::string, double>> counted;
    const auto add = [&counted](const std::string& name, const Json& value) {
        if (value.is_number()) counted.emplace_back(name, value.get<double>());
    };
    const Json& steals = result.at("steals");
    add("tasks", result.at("tasks"));
    add("steals_within_node", steals.at("within_node"));
    add("steals_between_nodes", steals.at("between_nodes"));
    add("steals_between_groups", steals.at("between_groups"));
    add("steal_attempts", steals.at("attempts"));
    for (const char* name : {"requests", "requests_granted", "far_requests", "far_requests_granted"})
        if (steals.contains(name))
            add(fmt::format("steal_{}", name), steals.at(name));  // earlier versions had none
    for (const char* name : {"messages", "bytes", "data_bytes"}) add(name, result.at(name));
    for (const auto& [state, time] : result.at("time_seconds").items())
        add(fmt::format("time_seconds_{}", state), time);
    return counted;
}

Outcome outcome_of(const Json& result, const std::string& cell) {
    Outcome outcome;
    if (result.at("cell") != cell) return outcome;
    outcome.makespan_seconds = result.at("makespan_seconds").get<double>();
    if (const Json& bound = result.at("lower_bound_seconds"); bound.is_number())
        outcome.lower_bound_seconds = bound.get<double>();
    outcome.work_and_machine = work_and_machine_of(result);
    outcome.deterministic = result.at("backend") != "native";
    outcome.workers = result.at("nodes").get<double>() * result.at("cores").get<double>();
    outcome.declared_flops = result.at("declared_flops").get<double>();
    outcome.counted = counted_in(result);
    for (const auto& [name, value] : result.at("answer").items())
        if (value.is_number()) outcome.answer.emplace_back(name, value.get<double>());
    outcome.heddle = result.at("versions").at("heddle").get<std::string>();
    const bool right = result.at("ok").get<bool>();
    if (!right) {
        outcome.failure = {"wrong answer: " + result.at("check").at("reason").get<std::string>(), 1, {}};
    }
    outcome.state = right ? Outcome::State::right : Outcome::State::wrong;
    return outcome;
}

/// Every directory with a result, by name.
std::set<std::string> results_in(const std::string& directory) {
    std::set<std::string> names;
    for (const std::string& name : folders_in(directory))
        if (std::error_code ignored; fs::exists(fs::path(directory) / name / "result.json", ignored))
            names.insert(name);
    return names;
}

[[noreturn]] void cannot_read(const std::string& directory, int reason) {
    throw Error(fmt::format("cannot be read ({})", std::strerror(reason)),
                "check the path, and whether you may read it", {directory, 0});
}

/// Without rows there are no columns: then the table of earlier cells is removed.
void write_table(const fs::path& path, const std::vector<Row>& rows) {
    if (!rows.empty()) return write_atomically(path, CsvTable::of(rows).csv());
    std::error_code ignored;
    fs::remove(path, ignored);
}

configs::Determinants determinants_in(const Json& result) {
    const Json& json = result.at("determinants");
    configs::Determinants determinants;
    determinants.configuration = json.at("configuration").get<std::string>();
    for (const auto& [key, digest] : json.at("files").items())
        determinants.files.push_back({key, {}, digest.get<std::string>()});
    for (const auto& [name, id] : json.at("program").items())
        determinants.program.emplace_back(name, id.get<std::string>());
    return determinants;
}

/// Removes the temporary files in `folder`. The caller must know that no process writes there.
void sweep(const fs::path& folder) {
    std::vector<fs::path> left;
    std::error_code problem;
    for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
         entry.increment(problem)) {
        if (entry->path().extension() == ".tmp") left.push_back(entry->path());
    }
    for (const fs::path& path : left) fs::remove(path, problem);
}

}  // namespace

std::vector<std::string> folders_in(const std::string& directory) {
    std::vector<std::string> names;
    std::error_code problem;
    const bool is_there = fs::is_directory(directory, problem);
    if (problem && problem != std::errc::no_such_file_or_directory && problem != std::errc::not_a_directory)
        cannot_read(directory, problem.value());
    if (!is_there) return names;
    // A directory that can be listed but not entered would seem to have empty folders.
    if (::access(directory.c_str(), R_OK | X_OK) != 0) cannot_read(directory, errno);
    for (fs::directory_iterator entry(directory, problem), end; !problem && entry != end;
         entry.increment(problem)) {
        if (std::error_code ignored; entry->is_directory(ignored)) names.push_back(entry->path().filename());
    }
    if (problem) cannot_read(directory, problem.value());
    std::sort(names.begin(), names.end());
    return names;
}

Outcome read_outcome(const std::string& directory, const std::string& cell) {
    const fs::path folder = fs::path(directory) / cell;
    const auto written = [&folder](const char* name) {
        std::error_code ignored;
        return fs::last_write_time(folder / name, ignored);
    };
    try {
        if (const Json result = json_of(folder / "result.json"); result.is_object()) {
            Outcome outcome = outcome_of(result, cell);
            const Json timing = json_of(folder / "timing.json");
            if (timing.is_object()) outcome.wall_seconds = timing.value("wall_seconds", 0.0);
            if (outcome.bad()) outcome.written = written("result.json");
            return outcome;
        }
        const auto failed_at = written("failure.json");  // before it is read: it may be replaced meanwhile
        if (const Json failure = json_of(folder / "failure.json"); failure.is_object()) {
            Outcome outcome;
            outcome.written = failed_at;
            outcome.failure = {failure.at("error"), failure.at("exit_code"), failure.at("command")};
            outcome.state = Outcome::State::failed;
            return outcome;
        }
    } catch (const Json::exception&) {
        // Heddle does not write such a file: the cell counts as missing.
    }
    return {};
}

void write_failure(const std::string& directory, const std::string& cell, const Failure& failure) {
    const fs::path folder = fs::path(directory) / cell;
    std::error_code problem;
    fs::create_directories(folder, problem);  // what is wrong with it, the file will say
    const Json json = {{"cell", cell},
                       {"error", failure.error},
                       {"exit_code", failure.exit_code},
                       {"command", failure.command}};
    write_atomically(folder / "failure.json",
                     json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::vector<OtherResult> other_results(const std::string& directory, const std::vector<std::string>& cells) {
    std::set<std::string> names = results_in(directory);
    for (const std::string& cell : cells) names.erase(cell);
    std::vector<OtherResult> others;
    for (const std::string& cell : names) {
        try {
            others.push_back({cell, determinants_in(json_of(fs::path(directory) / cell / "result.json"))});
        } catch (const std::exception&) {
            // Of an earlier version, or damaged: it explains nothing.
        }
    }
    return others;
}

void forget_cell(const std::string& directory, const std::string& cell) {
    std::error_code ignored;
    for (const char* name : {"result.json", "failure.json"})
        fs::remove(fs::path(directory) / cell / name, ignored);
}

void sweep_cell(const std::string& directory, const std::string& cell) {
    sweep(fs::path(directory) / cell);
}

void write_tables(const std::string& directory, const std::vector<std::string>& cells) {
    std::vector<Row> runs, timings;
    std::string failures = "cell,exit_code,error,command\n";
    for (const std::string& cell : cells) {
        const fs::path folder = fs::path(directory) / cell;
        const Outcome outcome = read_outcome(directory, cell);
        if (outcome.state == Outcome::State::failed)
            failures += fmt::format("{},{},{},{}\n", cell, outcome.failure.exit_code,
                                    csv_cell(outcome.failure.error), csv_cell(outcome.failure.command));
        if (!outcome.finished()) continue;  // a damaged result has no rows until it is run again
        try {
            Row run = run_row(read_stored(folder / "result.json"));
            runs.push_back(std::move(run));
        } catch (const Error&) {
            continue;
        }
        try {
            timings.push_back(timing_row(cell, read_stored(folder / "timing.json")));
        } catch (const Error&) {
            timings.push_back({{"cell", cell}});  // the timing was lost, the run was not
        }
    }
    write_table(fs::path(directory) / "runs.csv", runs);
    write_table(fs::path(directory) / "timings.csv", timings);
    write_atomically(fs::path(directory) / "failures.csv", failures);
    write_data_package(directory);
}

}  // namespace heddle::results
