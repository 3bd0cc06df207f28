// Finds columns of the configuration whose values differ, and drops those that follow from others.
#include "report/design.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "base/units.hpp"
#include "results/columns.hpp"

namespace heddle::report {

namespace {

const std::string directory_column = "directory";

/// Of two keys whose values follow from each other, the one that comes first here is the factor.
constexpr std::array chosen_first = {"workload_name",           "backend",
                                     "platform_nodes",          "platform_cores",
                                     "schedule_placement",      "schedule_stealing_victim",
                                     "schedule_stealing_amount"};

constexpr std::array always_told = {"workload_name",
                                    "backend",
                                    "platform_nodes",
                                    "platform_cores",
                                    "platform_core_speed",
                                    "platform_network_topology",
                                    "platform_network_bandwidth",
                                    "platform_network_latency",
                                    "schedule_placement",
                                    "schedule_stealing_victim",
                                    "schedule_stealing_amount"};

std::optional<double> number_in(const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    return read.ec == std::errc{} && read.ptr == end ? std::optional(number) : std::nullopt;
}

const std::string& value_of(const Run& run, const std::string& column) {
    return column == directory_column ? run.directory : run.value(column);
}

/// Whether each value of `from` comes with one value of `to` only.
bool determines(const Runs& runs, const std::string& from, const std::string& to) {
    std::map<std::string, std::string> seen;
    return std::all_of(runs.all.begin(), runs.all.end(), [&](const Run& run) {
        const auto [place, is_new] = seen.try_emplace(value_of(run, from), value_of(run, to));
        return is_new || place->second == value_of(run, to);
    });
}

std::string key_of(const std::string& column, const Runs& runs) {
    for (const Run& run : runs.all) {
        if (const auto key = results::key_of_column(column, run.value("workload_name"))) return *key;
    }
    return column;
}

Factor factor_of(const Runs& runs, const std::string& column) {
    Factor factor{column, key_of(column, runs), results::describe_column("runs.csv", column).unit, true, {},
                  {}};
    std::set<std::string> seen;
    for (const Run& run : runs.all) {
        const std::string& value = value_of(run, column);
        if (!seen.insert(value).second) continue;
        factor.values.push_back(value);
        factor.is_number = factor.is_number && number_in(value).has_value();
    }
    if (factor.is_number)
        std::stable_sort(factor.values.begin(), factor.values.end(),
                         [](const auto& a, const auto& b) { return *number_in(a) < *number_in(b); });
    return factor;
}

/// What a run computed with, beside its keys: digests, with names for people.
constexpr std::array<std::pair<const char*, const char*>, 2> made_with = {
    {{"files_id", "files"}, {"program_id", "program"}}};

/// Whether runs with equal factors have equal values of `column`.
bool determine(const Runs& runs, const std::vector<Factor>& factors, const std::string& column) {
    std::map<std::vector<std::string>, std::string> seen;
    return std::all_of(runs.all.begin(), runs.all.end(), [&](const Run& run) {
        std::vector<std::string> values;
        for (const Factor& factor : factors) values.push_back(value_of(run, factor.column));
        const auto [place, is_new] = seen.try_emplace(std::move(values), value_of(run, column));
        return is_new || place->second == value_of(run, column);
    });
}

std::size_t rank_of(const std::string& column) {
    const auto place = std::find(chosen_first.begin(), chosen_first.end(), column);
    const auto rank = static_cast<std::size_t>(place - chosen_first.begin());
    return column == directory_column ? rank + 1 : rank;
}

std::vector<Factor> factors_of(const Runs& runs, const std::vector<std::string>& wanted) {
    std::vector<std::string> columns = runs.columns;
    columns.push_back(directory_column);
    std::vector<Factor> candidates;
    for (const std::string& column : columns) {
        if (column != directory_column && !runs.configuration.contains(column)) continue;
        Factor factor = factor_of(runs, column);
        if (factor.values.size() > 1) candidates.push_back(std::move(factor));
    }
    const auto is_wanted = [&wanted](const Factor& factor) {
        return std::find(wanted.begin(), wanted.end(), factor.key) != wanted.end();
    };
    std::stable_sort(candidates.begin(), candidates.end(), [&](const Factor& a, const Factor& b) {
        if (is_wanted(a) != is_wanted(b)) return is_wanted(a);
        if (a.values.size() != b.values.size()) return a.values.size() > b.values.size();
        return rank_of(a.column) < rank_of(b.column);
    });
    std::vector<Factor> factors;
    for (Factor& candidate : candidates) {
        const auto cause = std::find_if(factors.begin(), factors.end(), [&](const Factor& factor) {
            return determines(runs, factor.column, candidate.column);
        });
        if (cause != factors.end() && !is_wanted(candidate))
            cause->goes_with.push_back(candidate.key);
        else
            factors.push_back(std::move(candidate));
    }
    // Runs of other input files or of another program are no repeats of each other.
    for (const auto& [column, name] : made_with) {
        if (determine(runs, factors, column)) continue;
        Factor factor = factor_of(runs, column);
        factor.key = name;
        factor.is_number = false;  // a digest, though it may have no letters
        factors.push_back(std::move(factor));
    }
    // In the order of the tables, as the file of the experiment has them.
    std::stable_sort(factors.begin(), factors.end(), [&columns](const Factor& a, const Factor& b) {
        return std::find(columns.begin(), columns.end(), a.column) <
               std::find(columns.begin(), columns.end(), b.column);
    });
    return factors;
}

}  // namespace

std::string Factor::shown(const std::string& value) const {
    if (value.empty()) return "not stated";
    // A damaged result may have any number.
    if (const auto number = number_in(value); number && std::isfinite(*number) && *number >= 0) {
        if (unit == "s") return show_seconds(*number);
        if (unit == "B") return show_bytes(*number);
        if (unit == "B/s") return print_bandwidth(*number);
        if (unit == "flop/s" || unit == "flop") return print_flops(*number);
    }
    return value;
}

std::size_t Design::find(const std::string& column) const {
    const auto place = std::find_if(factors.begin(), factors.end(),
                                    [&column](const Factor& factor) { return factor.column == column; });
    return static_cast<std::size_t>(place - factors.begin());
}

Design design_of(const Runs& runs, const std::vector<std::string>& wanted) {
    Design design;
    if (runs.all.empty()) return design;
    design.factors = factors_of(runs, wanted);
    for (const char* column : always_told) {
        const Factor factor = factor_of(runs, column);
        if (factor.values.size() == 1 && !factor.values.front().empty())
            design.common.emplace_back(factor.key, factor.shown(factor.values.front()));
    }
    std::map<std::vector<std::size_t>, Combination> combinations;
    for (std::size_t i = 0; i < runs.all.size(); ++i) {
        std::vector<std::size_t> places;
        std::vector<std::string> values;
        for (const Factor& factor : design.factors) {
            values.push_back(value_of(runs.all[i], factor.column));
            const auto place = std::find(factor.values.begin(), factor.values.end(), values.back());
            places.push_back(static_cast<std::size_t>(place - factor.values.begin()));
        }
        Combination& combination = combinations[places];
        combination.values = std::move(values);
        combination.runs.push_back(i);
    }
    for (auto& [places, combination] : combinations) design.combinations.push_back(std::move(combination));
    return design;
}

}  // namespace heddle::report
