#include "results/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "results/table.hpp"

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

std::optional<double> bound_of(const Contender& contender) {
    std::optional<double> least;
    for (const Outcome& run : contender.runs) {
        if (run.state != Outcome::State::right) continue;
        if (!run.lower_bound_seconds) return std::nullopt;
        least = std::min(least.value_or(*run.lower_bound_seconds), *run.lower_bound_seconds);
    }
    return least;
}

Line line_of(const Contender& contender, const std::vector<double>& makespans) {
    Line line;
    line.runs = makespans.size();
    for (const Outcome& run : contender.runs) {
        if (run.bad()) ++line.bad;
        if (run.state == Outcome::State::missing) ++line.missing;
    }
    if (makespans.empty()) return line;
    line.median_seconds = median(makespans);
    line.interval_seconds =
        bootstrap_median(makespans, confidence, bootstrap_resamples, Random(bootstrap_seed));
    line.lower_bound_seconds = bound_of(contender);
    return line;
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
    std::vector<std::size_t> rivals;
    std::vector<double> p;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i == *best || samples[i].empty()) continue;
        rivals.push_back(i);
        p.push_back(mann_whitney(samples[*best], samples[i]));
    }
    const std::vector<double> adjusted = holm(p);
    for (std::size_t k = 0; k < rivals.size(); ++k) {
        Line& line = lines[rivals[k]];
        const double least = mann_whitney_least(samples[*best].size(), samples[rivals[k]].size());
        if (const double of = lines[*best].median_seconds; of > 0) line.ratio = line.median_seconds / of;
        line.p_value = adjusted[k];
        line.standing = line.p_value < level                                  ? Standing::worse
                        : least * static_cast<double>(rivals.size()) >= level ? Standing::untested
                                                                              : Standing::undecided;
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

Json json_of(const Line& line, const std::vector<std::string>& keys) {
    Json json = {{"values", values_by_key(keys, line.values)},
                 {"runs", line.runs},
                 {"failed", line.bad},
                 {"missing", line.missing},
                 {"standing", name(line.standing)}};
    if (line.runs == 0) return json;
    json["makespan_seconds"] = {{"median", line.median_seconds},
                                {"low", line.interval_seconds.low},
                                {"high", line.interval_seconds.high}};
    json["ratio"] = line.ratio;
    json["lower_bound_seconds"] = line.lower_bound_seconds ? Json(*line.lower_bound_seconds) : Json();
    json["p_value"] = line.p_value;
    return json;
}

}  // namespace

const char* name(Standing standing) {
    switch (standing) {
        case Standing::best:
            return "best";
        case Standing::worse:
            return "worse";
        case Standing::undecided:
            return "undecided";
        case Standing::untested:
            return "untested";
        case Standing::no_result:
            break;
    }
    return "no result";
}

std::size_t runs_needed(std::size_t contenders) {
    if (contenders < 2) return 1;
    std::size_t runs = 1;
    while (mann_whitney_least(runs, runs) * static_cast<double>(contenders - 1) >= level) ++runs;
    return runs;
}

Comparison compare(const std::string& name, const std::vector<std::string>& keys,
                   const std::vector<Contender>& contenders, const std::vector<std::string>& by) {
    for (const std::string& key : by) {
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        throw Error(fmt::format("--by {}: this key is not compared", key), nearest_advice(key, keys));
    }
    std::vector<std::size_t> common;
    std::vector<std::size_t> competing;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const bool is_common =
            by.empty() ? i + 1 < keys.size() : std::find(by.begin(), by.end(), keys[i]) != by.end();
        (is_common ? common : competing).push_back(i);
    }
    if (competing.empty()) {
        throw Error("--by names every key that is compared", "leave out the one whose values are to compete");
    }
    Comparison comparison{name, chosen(keys, common), chosen(keys, competing), {}};
    std::map<std::vector<std::string>, std::size_t> places;
    std::vector<std::vector<std::vector<double>>> samples;
    for (const Contender& contender : contenders) {
        const std::vector<std::string> values = chosen(contender.values, common);
        const auto [place, is_new] = places.try_emplace(values, comparison.groups.size());
        if (is_new) {
            comparison.groups.push_back({values, {}});
            samples.emplace_back();
        }
        std::vector<double> makespans = makespans_of(contender);
        Line line = line_of(contender, makespans);
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
                row.emplace_back(comparison.group_keys[i], group.values[i]);
            for (std::size_t i = 0; i < line.values.size(); ++i)
                row.emplace_back(comparison.keys[i], line.values[i]);
            const auto add = [&](const char* column, bool is_known, double value) {
                row.emplace_back(column, is_known ? number(value) : "");
            };
            row.emplace_back("runs", std::to_string(line.runs));
            row.emplace_back("failed", std::to_string(line.bad));
            add("median_seconds", line.runs > 0, line.median_seconds);
            add("low_seconds", line.runs > 0, line.interval_seconds.low);
            add("high_seconds", line.runs > 0, line.interval_seconds.high);
            add("ratio", line.runs > 0, line.ratio);
            add("lower_bound_seconds", line.lower_bound_seconds.has_value(),
                line.lower_bound_seconds.value_or(0));
            add("p_value", line.runs > 0, line.p_value);
            row.emplace_back("standing", results::name(line.standing));
        }
    }
    return Table::of(rows).csv();
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
    const Json json = {{"name", comparison.name},
                       {"group_keys", comparison.group_keys},
                       {"keys", comparison.keys},
                       {"confidence", confidence},
                       {"interval", "percentile bootstrap of the median"},
                       {"bootstrap_resamples", bootstrap_resamples},
                       {"bootstrap_seed", bootstrap_seed},
                       {"level", level},
                       {"test", "Mann-Whitney against the best of the group, two-sided, Holm's correction"},
                       {"groups", std::move(groups)}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace heddle::results
