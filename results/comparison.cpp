// Groups a comparison's combinations, takes each median, and tests which differ from the best beyond chance.
#include "results/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/csv_table.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "results/pair_tests.hpp"
#include "results/record.hpp"

namespace heddle::results {

namespace {

using Json = nlohmann::ordered_json;

/// Makespans of the runs with a right answer.
std::vector<double> makespans_of(const Contender& contender) {
    std::vector<double> makespans;
    for (const Outcome& run : contender.runs)
        if (run.state == Outcome::State::right) makespans.push_back(run.makespan_seconds);
    return makespans;
}

/// The least bound of all runs with one work on one machine. A schedule may do the work in another order, or
/// prove a better bound; neither makes a run shorter than the least.
using Bounds = std::map<std::string, double>;

Bounds bounds_of(const std::vector<Contender>& contenders) {
    Bounds bounds;
    for (const Contender& contender : contenders) {
        for (const Outcome& run : contender.runs) {
            if (run.state != Outcome::State::right || !run.lower_bound_seconds) continue;
            const auto [bound, is_new] = bounds.try_emplace(run.work_and_machine, *run.lower_bound_seconds);
            if (!is_new) bound->second = std::min(bound->second, *run.lower_bound_seconds);
        }
    }
    return bounds;
}

std::optional<double> bound_of(const Contender& contender, const Bounds& bounds) {
    std::optional<double> least;
    for (const Outcome& run : contender.runs) {
        if (run.state != Outcome::State::right) continue;
        if (!run.lower_bound_seconds) return std::nullopt;
        const double bound = bounds.at(run.work_and_machine);
        least = std::min(least.value_or(bound), bound);
    }
    return least;
}

std::vector<std::pair<std::string, double>> medians_of_counted(const Contender& contender) {
    std::vector<std::pair<std::string, std::vector<double>>> samples;
    for (const Outcome& run : contender.runs) {
        if (run.state != Outcome::State::right) continue;
        for (std::size_t i = 0; i < run.counted.size(); ++i) {
            if (i >= samples.size()) samples.emplace_back(run.counted[i].first, std::vector<double>());
            samples[i].second.push_back(run.counted[i].second);
        }
    }
    std::vector<std::pair<std::string, double>> medians;
    for (auto& [what, sample] : samples) medians.emplace_back(what, median(std::move(sample)));
    return medians;
}

bool are_identical(const Contender& contender, const std::vector<double>& makespans) {
    if (makespans.size() < 2) return false;
    const bool deterministic = std::all_of(
        contender.runs.begin(), contender.runs.end(),
        [](const Outcome& run) { return run.state != Outcome::State::right || run.deterministic; });
    return deterministic && std::all_of(makespans.begin(), makespans.end(),
                                        [&](double makespan) { return makespan == makespans.front(); });
}

Line line_of(const Contender& contender, const std::vector<double>& makespans, const Bounds& bounds) {
    Line line;
    line.runs = makespans.size();
    for (const Outcome& run : contender.runs) {
        if (run.bad()) ++line.bad;
        if (run.state == Outcome::State::missing) ++line.missing;
    }
    if (makespans.empty()) return line;
    line.median_seconds = median(makespans);
    line.identical = are_identical(contender, makespans);
    if (!line.identical) line.interval_seconds = median_interval({makespans}, interval_confidence);
    line.lower_bound_seconds = bound_of(contender, bounds);
    line.counted = medians_of_counted(contender);
    return line;
}

const Outcome* first_right(const Contender& contender) {
    for (const Outcome& run : contender.runs)
        if (run.state == Outcome::State::right) return &run;
    return nullptr;
}

/// Work per second and worker, over the baseline's: the speedup is multiplied by the ratio of declared work
/// (weak scaling) if both declare some, and divided by the ratio of workers.
double efficiency_factor(const Outcome& run, const Outcome& baseline) {
    const double work = run.declared_flops > 0 && baseline.declared_flops > 0
                            ? run.declared_flops / baseline.declared_flops
                            : 1;
    return run.workers > 0 ? work * baseline.workers / run.workers : 0;
}

void set_speedup(Line& line, const Contender& contender, const Contender& baseline) {
    const std::vector<double> own = makespans_of(contender);
    const std::vector<double> before = makespans_of(baseline);
    if (own.empty() || before.empty() || *std::min_element(own.begin(), own.end()) <= 0) return;
    Ratio speedup{median(before) / median(own)};
    const bool baseline_identical = are_identical(baseline, before);
    if (!(line.identical && baseline_identical) && &contender != &baseline)
        speedup.interval =
            ratio_interval({before, baseline_identical}, {own, line.identical}, interval_confidence);
    line.speedup = speedup;
    const double factor = efficiency_factor(*first_right(contender), *first_right(baseline));
    if (factor <= 0) return;
    line.efficiency = Ratio{speedup.value * factor};
    if (speedup.interval)
        line.efficiency->interval = Interval{speedup.interval->low * factor, speedup.interval->high * factor};
}

/// The standing of a line if its repeats, or those of the best, are identical: no test applies to them.
Standing standing_untested(const std::vector<double>& best, const std::vector<double>& other) {
    const double longest = *std::max_element(best.begin(), best.end());
    return *std::min_element(other.begin(), other.end()) > longest ? Standing::longer : Standing::undecided;
}

/// Fills in how the lines stand to the best of them. `samples`: the makespans of each line.
void judge(std::vector<Line>& lines, const std::vector<std::vector<double>>& samples) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (samples[i].empty()) continue;
        if (!best || lines[i].median_seconds < lines[*best].median_seconds) best = i;
    }
    if (!best) return;
    lines[*best].standing = Standing::best;
    lines[*best].ratio = 1;
    std::vector<bool> identical;
    for (const Line& line : lines) identical.push_back(line.identical);
    const PairTests tests(samples, identical);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i == *best || samples[i].empty()) continue;
        Line& line = lines[i];
        const double of = lines[*best].median_seconds;
        if (of > 0) line.ratio = line.median_seconds / of;
        if (line.median_seconds == of) line.ratio = 1;  // also where both take no time
        const auto test = tests.of(*best, i);
        if (!test) {
            line.standing = standing_untested(samples[*best], samples[i]);
            continue;
        }
        line.p_value = test->p;
        const bool significant = test->p < level;
        // Few very long runs may move a mean rank and a median in opposite directions. Then neither is worse.
        const bool longer = ranks_higher(samples[i], samples[*best]);
        const bool testable = test->least < level;
        line.standing = significant && longer     ? Standing::worse
                        : significant || testable ? Standing::undecided
                                                  : Standing::untested;
    }
}

std::vector<std::string> chosen(const std::vector<std::string>& all, const std::vector<std::size_t>& places) {
    std::vector<std::string> some;
    for (const std::size_t place : places) some.push_back(all[place]);
    return some;
}

std::string number(double value) {
    return Json(value).dump();
}

Json values_by_key(const std::vector<std::string>& keys, const std::vector<std::string>& values) {
    Json object = Json::object();
    for (std::size_t i = 0; i < keys.size(); ++i) object[keys[i]] = values[i];
    return object;
}

Json with_interval(const char* name, double value, const std::optional<Interval>& interval) {
    return {{name, value},
            {"low", interval ? Json(interval->low) : Json()},
            {"high", interval ? Json(interval->high) : Json()}};
}

Json json_of(const Line& line, const std::vector<std::string>& keys) {
    Json json = {{"values", values_by_key(keys, line.values)},
                 {"runs", line.runs},
                 {"failed", line.bad},
                 {"missing", line.missing},
                 {"standing", name(line.standing)},
                 {"against_best", against_best(line)}};
    if (line.runs == 0) return json;
    json["makespan_seconds"] = with_interval("median", line.median_seconds, line.interval_seconds);
    json["identical"] = line.identical;
    json["ratio"] = line.ratio ? Json(*line.ratio) : Json();
    json["lower_bound_seconds"] = line.lower_bound_seconds ? Json(*line.lower_bound_seconds) : Json();
    json["p_value"] = line.p_value ? Json(*line.p_value) : Json();
    const auto ratio = [](const Ratio& of) { return with_interval("value", of.value, of.interval); };
    if (line.speedup) json["speedup"] = ratio(*line.speedup);
    if (line.efficiency) json["efficiency"] = ratio(*line.efficiency);
    Json& counted = json["counted"] = Json::object();
    for (const auto& [what, value] : line.counted) counted[what] = value;
    return json;
}

}  // namespace

const char* name(Standing standing) {
    switch (standing) {
        case Standing::best:
            return "best";
        case Standing::worse:
            return "worse";
        case Standing::longer:
            return "longer";
        case Standing::undecided:
            return "undecided";
        case Standing::untested:
            return "untested";
        case Standing::no_result:
            break;
    }
    return "no result";
}

const char* against_best(const Line& line) {
    const bool longer = !line.ratio || *line.ratio > 1;
    switch (line.standing) {
        case Standing::longer:
            return "longer in every run";
        case Standing::undecided:
            if (!longer) return "as good";
            if (!line.p_value) return "not tested";
            return *line.p_value < level ? "lower mean rank" : "may be chance";
        case Standing::untested:
            return longer ? "too few runs to tell" : "as good";
        case Standing::best:
        case Standing::worse:
        case Standing::no_result:
            break;
    }
    return name(line.standing);
}

std::string standing_in_words(const Line& line) {
    const std::string_view verdict = against_best(line);
    std::string words(verdict);
    if (verdict == "worse" || verdict == "lower mean rank" || verdict == "may be chance")
        words += fmt::format(" (p {:.2g})", line.p_value.value_or(0));
    if (line.identical) words += fmt::format("; all {} repeats identical", line.runs);
    if (line.bad > 0) words += fmt::format("; {} failed", line.bad);
    if (line.missing > 0) words += fmt::format("; {} missing", line.missing);
    return words;
}

std::size_t runs_needed(std::size_t contenders) {
    if (contenders < 2) return 1;
    std::size_t runs = 1;
    while (mann_whitney_least(runs, runs) * pairs_of(contenders) >= level) ++runs;
    return runs;
}

Comparison compare(const std::string& name, const std::vector<std::string>& keys,
                   const std::vector<Contender>& contenders, const std::vector<std::string>& by,
                   const std::vector<std::string>& competing_keys) {
    for (const std::string& key : by) {
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        throw Error(fmt::format("--by {}: this key is not compared", key), nearest_advice(key, keys));
    }
    const auto among = [](const std::string& key, const std::vector<std::string>& some) {
        return std::find(some.begin(), some.end(), key) != some.end();
    };
    std::vector<std::size_t> common;
    std::vector<std::size_t> competing;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const bool is_common = !by.empty()               ? among(keys[i], by)
                               : !competing_keys.empty() ? !among(keys[i], competing_keys)
                                                         : i + 1 < keys.size();
        (is_common ? common : competing).push_back(i);
    }
    if (competing.empty()) {
        throw Error("--by names every key that is compared", "leave out the one whose values are to compete");
    }
    Comparison comparison{name, chosen(keys, common), chosen(keys, competing), {}};
    std::map<std::vector<std::string>, std::size_t> places;
    std::vector<std::vector<std::vector<double>>> samples;
    const Bounds bounds = bounds_of(contenders);
    for (const Contender& contender : contenders) {
        const std::vector<std::string> values = chosen(contender.values, common);
        const auto [place, is_new] = places.try_emplace(values, comparison.groups.size());
        if (is_new) {
            comparison.groups.push_back({values, {}});
            samples.emplace_back();
        }
        std::vector<double> makespans = makespans_of(contender);
        Line line = line_of(contender, makespans, bounds);
        if (contender.baseline) set_speedup(line, contender, contenders[*contender.baseline]);
        line.values = chosen(contender.values, competing);
        comparison.groups[place->second].lines.push_back(std::move(line));
        samples[place->second].push_back(std::move(makespans));
    }
    for (std::size_t i = 0; i < comparison.groups.size(); ++i) judge(comparison.groups[i].lines, samples[i]);
    return comparison;
}

std::string comparison_csv(const Comparison& comparison) {
    std::vector<std::vector<std::pair<std::string, std::string>>> rows;
    for (const Group& group : comparison.groups) {
        for (const Line& line : group.lines) {
            auto& row = rows.emplace_back();
            for (std::size_t i = 0; i < group.values.size(); ++i)
                row.emplace_back(column(comparison.group_keys[i]), group.values[i]);
            for (std::size_t i = 0; i < line.values.size(); ++i)
                row.emplace_back(column(comparison.keys[i]), line.values[i]);
            const auto add = [&](const char* column, bool is_known, double value) {
                row.emplace_back(column, is_known ? number(value) : "");
            };
            row.emplace_back("runs", std::to_string(line.runs));
            row.emplace_back("failed", std::to_string(line.bad));
            add("median_seconds", line.runs > 0, line.median_seconds);
            const auto add_interval = [&](const std::string& low, const std::string& high,
                                          const std::optional<Interval>& interval) {
                add(low.c_str(), interval.has_value(), interval ? interval->low : 0);
                add(high.c_str(), interval.has_value(), interval ? interval->high : 0);
            };
            add_interval("low_seconds", "high_seconds", line.interval_seconds);
            row.emplace_back("identical", line.identical ? "true" : "false");
            add("ratio", line.ratio.has_value(), line.ratio.value_or(0));
            add("lower_bound_seconds", line.lower_bound_seconds.has_value(),
                line.lower_bound_seconds.value_or(0));
            add("p_value", line.p_value.has_value(), line.p_value.value_or(0));
            row.emplace_back("standing", results::name(line.standing));
            row.emplace_back("against_best", against_best(line));
            if (line.speedup) {
                add("speedup", true, line.speedup->value);
                add_interval("speedup_low", "speedup_high", line.speedup->interval);
            }
            if (line.efficiency) {
                add("efficiency", true, line.efficiency->value);
                add_interval("efficiency_low", "efficiency_high", line.efficiency->interval);
            }
            for (const auto& [what, value] : line.counted) add(what.c_str(), true, value);
        }
    }
    return CsvTable::of(rows).csv();
}

std::string comparison_json(const Comparison& comparison) {
    Json groups = Json::array();
    for (const Group& group : comparison.groups) {
        Json lines = Json::array();
        Json best = nullptr;
        for (const Line& line : group.lines) {
            lines.push_back(json_of(line, comparison.keys));
            if (line.standing == Standing::best) best = lines.back()["values"];
        }
        groups.push_back({{"values", values_by_key(comparison.group_keys, group.values)},
                          {"best", std::move(best)},
                          {"lines", std::move(lines)}});
    }
    const Json json = {
        {"name", comparison.name},
        {"group_keys", comparison.group_keys},
        {"keys", comparison.keys},
        {"confidence", interval_confidence},
        {"interval", "interpolated order statistics around the median"},
        {"level", level},
        {"test", fmt::format("Mann-Whitney against the best of the group, two-sided, Holm's correction "
                             "over all pairs of the group; Bonferroni's if more than {} are tested",
                             PairTests::holm_max)},
        {"groups", std::move(groups)}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace heddle::results
