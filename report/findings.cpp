// Computes the report's findings: passes the runs to results/comparison.hpp and adds letters of significance
// for all pairs of a group.
#include "report/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "report/letters.hpp"
#include "results/pair_tests.hpp"

namespace heddle::report {

namespace {

/// Beyond so many entries of a group, their letters would be unreadable.
constexpr std::size_t letters_max = 40;

constexpr std::array counted_columns = {"tasks",
                                        "steals_within_node",
                                        "steals_between_nodes",
                                        "steals_between_groups",
                                        "steal_attempts",
                                        "steal_requests",
                                        "steal_requests_granted",
                                        "steal_far_requests",
                                        "steal_far_requests_granted",
                                        "messages",
                                        "bytes",
                                        "data_bytes",
                                        "time_seconds_working",
                                        "time_seconds_overhead",
                                        "time_seconds_stealing",
                                        "time_seconds_waiting",
                                        "time_seconds_idle"};

/// What is computed and on which machine: the row without what chooses how.
std::string work_and_machine_of(const Run& run, const Runs& runs) {
    std::string all = run.value("files_id");
    for (const std::string& column : runs.configuration)
        if (!column.starts_with("schedule_")) all += fmt::format("\n{}={}", column, run.value(column));
    return all;
}

results::Outcome outcome_of(const Run& run, const Runs& runs) {
    results::Outcome outcome;
    outcome.state = run.ok() ? results::Outcome::State::right : results::Outcome::State::wrong;
    outcome.makespan_seconds = run.number("makespan_seconds");
    if (!run.value("lower_bound_seconds").empty())
        outcome.lower_bound_seconds = run.number("lower_bound_seconds");
    outcome.work_and_machine = work_and_machine_of(run, runs);
    outcome.deterministic = run.value("backend") != "native";
    outcome.workers = run.number("nodes") * run.number("cores");
    outcome.declared_flops = run.number("declared_flops");
    for (const char* column : counted_columns)
        if (!run.value(column).empty()) outcome.counted.emplace_back(column, run.number(column));
    return outcome;
}

std::vector<double> makespans_of(const Combination& combination, const Runs& runs) {
    std::vector<double> makespans;
    for (const std::size_t run : combination.runs)
        if (runs.all[run].ok()) makespans.push_back(runs.all[run].number("makespan_seconds"));
    return makespans;
}

std::vector<std::size_t> common_factors(const Design& design, const std::vector<std::string>& by) {
    std::vector<std::string> keys;
    for (const Factor& factor : design.factors) keys.push_back(factor.key);
    for (const std::string& key : by) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end())
            throw Error(fmt::format("--by {}: this key does not vary in these results", key),
                        nearest_advice(key, keys));
    }
    std::vector<std::size_t> common;
    for (std::size_t i = 0; i < design.factors.size(); ++i) {
        const std::string& column = design.factors[i].column;
        const bool chooses = column.starts_with("schedule_") || column == "variant" ||
                             column == "directory" || column == "program_id";
        const bool is_common = by.empty() ? !chooses : std::find(by.begin(), by.end(), keys[i]) != by.end();
        if (is_common) common.push_back(i);
    }
    if (!common.empty() && common.size() == design.factors.size()) {
        if (!by.empty())
            throw Error("--by names every key that varies", "leave out the one whose values are to compete");
        common.pop_back();
    }
    return common;
}

std::string values_in_words(const Design& design, const std::vector<std::size_t>& factors,
                            const Combination& combination, bool with_keys) {
    std::string words;
    for (const std::size_t i : factors) {
        const Factor& factor = design.factors[i];
        words += words.empty() ? "" : ", ";
        // A bare number or digest would say nothing.
        if (with_keys || factor.is_number || factor.column.ends_with("_id")) words += factor.key + " ";
        words += factor.shown(combination.values[i]);
    }
    return words;
}

void set_letters(Competition& group, const Design& design, const Runs& runs) {
    if (group.entries.size() < 2 || group.entries.size() > letters_max) return;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < group.entries.size(); ++i)
        if (group.entries[i].line.runs > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&group](std::size_t a, std::size_t b) {
        return group.entries[a].line.median_seconds < group.entries[b].line.median_seconds;
    });
    std::vector<std::vector<double>> samples;
    std::vector<bool> identical;
    for (const std::size_t i : order) {
        samples.push_back(makespans_of(design.combinations[group.entries[i].combination], runs));
        identical.push_back(group.entries[i].line.identical);
    }
    if (!all_can_differ(samples, identical)) return;
    const auto differ = differences(samples, identical);
    const auto names =
        letters(order.size(), [&differ](std::size_t a, std::size_t b) { return differ[a][b]; });
    for (std::size_t k = 0; k < order.size(); ++k) group.entries[order[k]].letters = names[k];
}

bool each_longer(const std::vector<double>& a, const std::vector<double>& b) {
    return *std::min_element(a.begin(), a.end()) > *std::max_element(b.begin(), b.end());
}

}  // namespace

bool all_can_differ(const std::vector<std::vector<double>>& samples, const std::vector<bool>& identical) {
    return std::none_of(samples.begin(), samples.end(),
                        [](const auto& sample) { return sample.size() < 2; }) &&
           results::all_can_be_below(results::level, samples, identical);
}

std::vector<std::vector<bool>> differences(const std::vector<std::vector<double>>& samples,
                                           const std::vector<bool>& identical) {
    const std::size_t count = samples.size();
    std::vector<std::vector<bool>> differ(count, std::vector<bool>(count));
    const results::PairTests tests(samples, identical);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < count; ++j) {
            const auto test = tests.of(i, j);
            differ[i][j] = test ? test->p < results::level
                                : each_longer(samples[i], samples[j]) || each_longer(samples[j], samples[i]);
        }
    }
    return differ;
}

std::string Competition::name_of(const Entry& entry) const {
    return entry.competitor + (entry.competitor.empty() || name.empty() ? "" : " at ") + name;
}

const Entry* Competition::winner() const {
    const Entry* best = nullptr;
    for (const Entry& entry : entries) {
        if (entry.line.runs > 0 && (!best || entry.line.median_seconds < best->line.median_seconds))
            best = &entry;
    }
    return best;
}

const Entry* Competition::runner_up() const {
    const Entry* const first = winner();
    const Entry* best = nullptr;
    for (const Entry& entry : entries) {
        if (&entry != first && entry.line.runs > 0 &&
            (!best || entry.line.median_seconds < best->line.median_seconds))
            best = &entry;
    }
    return best;
}

Findings find_out(const Runs& runs, const Design& design, const std::vector<std::string>& by) {
    Findings findings;
    findings.common = common_factors(design, by);
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < design.factors.size(); ++i) {
        keys.push_back(design.factors[i].column);
        if (std::find(findings.common.begin(), findings.common.end(), i) == findings.common.end())
            findings.competing.push_back(i);
    }
    // results::compare wants a key that competes; without a factor there is one combination of one.
    if (keys.empty()) keys.emplace_back("all");
    std::vector<results::Contender> contenders;
    for (const Combination& combination : design.combinations) {
        results::Contender contender{combination.values, {}};
        if (design.factors.empty()) contender.values.emplace_back("all");
        for (const std::size_t run : combination.runs)
            contender.runs.push_back(outcome_of(runs.all[run], runs));
        contenders.push_back(std::move(contender));
    }
    std::vector<std::string> competing;
    for (const std::size_t i : findings.competing) competing.push_back(keys[i]);
    if (competing.empty()) competing = keys;
    results::Comparison comparison = results::compare("report", keys, contenders, {}, competing);

    // The lines come back group by group, within a group in the order of the combinations.
    std::map<std::vector<std::string>, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < design.combinations.size(); ++i) {
        std::vector<std::string> values;
        for (const std::size_t factor : findings.common)
            values.push_back(design.combinations[i].values[factor]);
        places[values].push_back(i);
    }
    for (results::Group& group : comparison.groups) {
        const std::vector<std::size_t>& members = places.at(group.values);
        Competition competition;
        competition.values = group.values;
        competition.name =
            values_in_words(design, findings.common, design.combinations[members.front()], true);
        for (std::size_t k = 0; k < members.size(); ++k) {
            const Combination& combination = design.combinations[members[k]];
            competition.entries.push_back({members[k],
                                           std::move(group.lines[k]),
                                           {},
                                           values_in_words(design, findings.competing, combination, false)});
        }
        set_letters(competition, design, runs);
        findings.groups.push_back(std::move(competition));
    }
    return findings;
}

double counted(const Entry& entry, const std::string& column) {
    for (const auto& [name, value] : entry.line.counted)
        if (name == column) return value;
    return 0;
}

}  // namespace heddle::report
