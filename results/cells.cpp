#include "results/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "results/record.hpp"
#include "results/store.hpp"
#include "results/table.hpp"

namespace heddle::results {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Json json_of(const fs::path& path) {
    return Json::parse(text_of(path), nullptr, false);
}

/// The bound that the result states, if it states one; otherwise: the work that was done, divided among
/// all workers. Nothing where the world did not count it.
std::optional<double> lower_bound(const Json& result) {
    const auto stated = result.find("lower_bound_seconds");
    if (stated != result.end() && stated->is_number()) return result.at("lower_bound_seconds").get<double>();
    const double busy = result.at("busy_seconds").get<double>();
    const double workers = result.at("nodes").get<double>() * result.at("cores").get<double>();
    if (busy <= 0 || workers <= 0) return std::nullopt;
    return busy / workers;
}

Outcome outcome_of(const Json& result, const std::string& cell) {
    Outcome outcome;
    if (result.at("cell") != cell) return outcome;
    outcome.makespan_seconds = result.at("makespan_seconds").get<double>();
    outcome.lower_bound_seconds = lower_bound(result);
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
    std::error_code problem;
    for (fs::directory_iterator entry(directory, problem), end; !problem && entry != end;
         entry.increment(problem)) {
        if (fs::exists(entry->path() / "result.json")) names.insert(entry->path().filename());
    }
    return names;
}

/// Removes the temporary files in `folder`. The caller must make sure that no process writes there.
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

Outcome read_outcome(const std::string& directory, const std::string& cell) {
    const fs::path folder = fs::path(directory) / cell;
    try {
        if (const Json result = json_of(folder / "result.json"); result.is_object()) {
            Outcome outcome = outcome_of(result, cell);
            const Json timing = json_of(folder / "timing.json");
            if (timing.is_object()) outcome.wall_seconds = timing.value("wall_seconds", 0.0);
            return outcome;
        }
        if (const Json failure = json_of(folder / "failure.json"); failure.is_object()) {
            Outcome outcome;
            outcome.failure = {failure.at("error"), failure.at("exit_code"), failure.at("command")};
            outcome.state = Outcome::State::failed;
            return outcome;
        }
    } catch (const Json::exception&) {
        // Not what heddle writes: as if nothing were there.
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

void forget_cell(const std::string& directory, const std::string& cell) {
    std::error_code ignored;
    for (const char* name : {"result.json", "failure.json"})
        fs::remove(fs::path(directory) / cell / name, ignored);
}

void sweep_cell(const std::string& directory, const std::string& cell) {
    sweep(fs::path(directory) / cell);
}

void write_tables(const std::string& directory, const std::vector<std::string>& cells) {
    std::set<std::string> others = results_in(directory);
    std::vector<Row> runs;
    std::vector<Row> timings;
    const auto add = [&](const std::string& cell) {
        const fs::path folder = fs::path(directory) / cell;
        try {
            Row run = run_row(text_of(folder / "result.json"));
            timings.push_back(timing_row(cell, text_of(folder / "timing.json")));
            runs.push_back(std::move(run));
        } catch (const Error&) {
            // Damaged: it has no rows until it is run again.
        }
    };
    for (const std::string& cell : cells) {
        if (others.erase(cell) > 0) add(cell);
    }
    for (const std::string& cell : others) add(cell);
    if (runs.empty()) return;
    write_atomically(fs::path(directory) / "runs.csv", Table::of(runs).csv());
    write_atomically(fs::path(directory) / "timings.csv", Table::of(timings).csv());
}

}  // namespace heddle::results
