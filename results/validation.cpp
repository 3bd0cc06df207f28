// Takes medians of both worlds, tests whether they are equal within a bound, and compares the winners.
#include "results/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/error.hpp"
#include "base/settings.hpp"

namespace heddle::results {

namespace {

std::vector<double> right_makespans(const std::vector<Outcome>& runs) {
    std::vector<double> makespans;
    for (const Outcome& run : runs)
        if (run.state == Outcome::State::right) makespans.push_back(run.makespan_seconds);
    return makespans;
}

std::optional<double> count_of(const Outcome& run, const std::string& what) {
    for (const auto& [name, value] : run.counted)
        if (name == what) return value;
    return std::nullopt;
}

std::optional<double> median_of(const std::vector<Outcome>& runs, const std::string& what) {
    std::vector<double> values;
    for (const Outcome& run : runs) {
        if (run.state != Outcome::State::right) continue;
        if (const auto value = count_of(run, what)) values.push_back(*value);
    }
    return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

/// What the runs count, in the order of the first that has finished.
std::vector<WorldMedians> medians_of(const WorldPair& pair) {
    std::vector<WorldMedians> medians;
    for (const auto* const runs : {&pair.native, &pair.simulated}) {
        for (const Outcome& run : *runs) {
            if (run.state != Outcome::State::right) continue;
            for (const auto& [name, value] : run.counted)
                medians.push_back({name, median_of(pair.native, name), median_of(pair.simulated, name)});
            return medians;
        }
    }
    return medians;
}

std::optional<bool> same_tasks_in(const WorldPair& pair) {
    std::optional<bool> same;
    for (std::size_t i = 0; i < std::min(pair.native.size(), pair.simulated.size()); ++i) {
        if (!pair.native[i].finished() || !pair.simulated[i].finished()) continue;
        const bool equal = count_of(pair.native[i], "tasks") == count_of(pair.simulated[i], "tasks");
        same = same.value_or(true) && equal;
    }
    return same;
}

std::vector<std::pair<std::string, double>> parts_of(const ValidationLine& line, const WorldPair& pair) {
    constexpr std::string_view prefix = "time_seconds_";
    std::vector<std::pair<std::string, double>> parts;
    double workers = 0;
    for (const Outcome& run : pair.native)
        if (run.state == Outcome::State::right) workers = run.workers;
    if (!line.ratio || workers <= 0) return parts;
    for (const WorldMedians& medians : line.counted) {
        if (!medians.what.starts_with(prefix) || !medians.native || !medians.simulated) continue;
        parts.emplace_back(medians.what.substr(prefix.size()),
                           (*medians.simulated - *medians.native) / (workers * *line.native_seconds));
    }
    return parts;
}

std::optional<ReplayMedians> replay_medians_of(const WorldPair& pair) {
    struct Round {
        double native, replayed;
        std::optional<double> simulated;
    };
    const auto right = [](const std::vector<Outcome>& runs, std::size_t i) {
        return i < runs.size() && runs[i].state == Outcome::State::right
                   ? std::optional(runs[i].makespan_seconds)
                   : std::nullopt;
    };
    // Further runs of a constant simulation are left out, and would be the same.
    const std::vector<double> constant =
        is_constant(pair.simulated) ? right_makespans(pair.simulated) : std::vector<double>{};
    std::vector<Round> rounds;
    for (std::size_t i = 0; i < std::min(pair.native.size(), pair.replayed.size()); ++i) {
        const auto native = right(pair.native, i), replayed = right(pair.replayed, i);
        if (!native || !replayed) continue;
        const auto simulated = constant.empty() ? right(pair.simulated, i) : std::optional(median(constant));
        rounds.push_back({*native, *replayed, simulated});
    }
    // All medians are of the same rounds.
    const auto is_simulated = [](const Round& round) { return round.simulated.has_value(); };
    const bool any_simulated = std::ranges::any_of(rounds, is_simulated);
    if (any_simulated) std::erase_if(rounds, std::not_fn(is_simulated));
    std::vector<double> native, replayed, simulated;
    for (const Round& round : rounds) {
        native.push_back(round.native);
        replayed.push_back(round.replayed);
        if (round.simulated) simulated.push_back(*round.simulated);
    }
    if (native.empty() || std::ranges::min(native) <= 0 || std::ranges::min(replayed) <= 0)
        return std::nullopt;
    return ReplayMedians{native.size(), median(native), median(replayed),
                         any_simulated ? std::optional(median(simulated)) : std::nullopt};
}

/// Whether a key chooses how the work is done, and not what is done.
bool is_policy(const std::string& key) {
    return key.starts_with("schedule.") || key == configs::variant_key;
}

std::vector<std::size_t> competing_places(const std::vector<std::string>& keys,
                                          const std::vector<std::string>& by) {
    for (const std::string& key : by) {
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        throw Error(fmt::format("--by {}: this key is not compared", key), nearest_advice(key, keys));
    }
    std::vector<std::size_t> places;
    const bool some_policy = std::any_of(keys.begin(), keys.end(), is_policy);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const bool competes = !by.empty()   ? std::find(by.begin(), by.end(), keys[i]) == by.end()
                              : some_policy ? is_policy(keys[i])
                                            : i + 1 == keys.size();
        if (competes) places.push_back(i);
    }
    return places;
}

/// Adds the pairs of a group of rivals.
void rank_group(const std::vector<const WorldPair*>& rivals, Ranking& ranking) {
    struct Difference {
        double native, simulated;
        bool ranks_agree;  ///< native mean ranks differ in the direction of the medians
    };
    std::vector<Difference> differences;
    std::vector<double> p;
    for (std::size_t i = 0; i < rivals.size(); ++i) {
        const auto native = right_makespans(rivals[i]->native);
        const auto simulated = right_makespans(rivals[i]->simulated);
        if (native.empty() || simulated.empty()) continue;
        for (std::size_t k = i + 1; k < rivals.size(); ++k) {
            const auto other_native = right_makespans(rivals[k]->native);
            const auto other_simulated = right_makespans(rivals[k]->simulated);
            if (other_native.empty() || other_simulated.empty()) continue;
            const double difference = median(native) - median(other_native);
            differences.push_back(
                {difference, median(simulated) - median(other_simulated),
                 difference > 0 ? ranks_higher(native, other_native) : ranks_higher(other_native, native)});
            p.push_back(mann_whitney(native, other_native));
        }
    }
    const std::vector<double> adjusted = holm(p);
    for (std::size_t i = 0; i < differences.size(); ++i) {
        if (adjusted[i] >= level || !differences[i].ranks_agree) continue;
        ++ranking.pairs;
        if (differences[i].native * differences[i].simulated > 0) ++ranking.alike;
    }
}

Ranking ranking_of(const std::vector<WorldPair>& pairs, const std::vector<std::size_t>& competing) {
    std::map<std::vector<std::string>, std::vector<const WorldPair*>> groups;
    for (const WorldPair& pair : pairs) {
        std::vector<std::string> common = pair.values;
        for (const std::size_t place : competing) common[place].clear();
        groups[common].push_back(&pair);
    }
    Ranking ranking;
    for (const auto& [common, rivals] : groups) rank_group(rivals, ranking);
    return ranking;
}

}  // namespace

std::optional<double> ValidationLine::error() const {
    return ratio ? std::optional(std::abs(ratio->value - 1)) : std::nullopt;
}

std::optional<double> ReplayMedians::scheduling_error() const {
    return simulated ? std::optional(*simulated / replayed - 1) : std::nullopt;
}

std::size_t Validation::passed() const {
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [](const ValidationLine& line) { return line.passes(); }));
}

std::size_t Validation::failed() const {
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [](const ValidationLine& line) { return line.fails(); }));
}

std::size_t Validation::outside() const {
    return static_cast<std::size_t>(
        std::ranges::count(lines, Equivalence::outside, &ValidationLine::within_wide));
}

bool is_constant(const std::vector<Outcome>& runs) {
    const std::vector<double> makespans = right_makespans(runs);
    return makespans.size() > 1 &&
           std::all_of(runs.begin(), runs.end(),
                       [](const Outcome& run) { return !run.finished() || run.deterministic; }) &&
           std::adjacent_find(makespans.begin(), makespans.end(), std::not_equal_to<>()) == makespans.end();
}

RatioVerdict ratio_verdict(const Sample& simulated, const Sample& native) {
    RatioVerdict verdict;
    verdict.ratio = {median(simulated.values) / median(native.values),
                     ratio_interval(simulated, native, interval_confidence)};
    verdict.within_narrow = equivalence_at_looks(simulated, native, narrow_bound, level);
    verdict.within_wide = equivalence_at_looks(simulated, native, wide_bound, level);
    return verdict;
}

ValidationLine validate_pair(const WorldPair& pair) {
    ValidationLine line;
    line.values = pair.values;
    line.repeated = pair.repeated;
    line.disturbed = pair.disturbed;
    for (const auto* const runs : {&pair.native, &pair.simulated})
        line.bad += static_cast<std::size_t>(
            std::count_if(runs->begin(), runs->end(), [](const Outcome& run) { return run.bad(); }));
    const std::vector<double> native = right_makespans(pair.native);
    const std::vector<double> simulated = right_makespans(pair.simulated);
    line.native_runs = native.size();
    line.simulated_runs = simulated.size();
    if (!native.empty()) line.native_seconds = median(native);
    if (!simulated.empty()) line.simulated_seconds = median(simulated);
    line.replays = replay_medians_of(pair);
    line.same_tasks = same_tasks_in(pair);
    line.counted = medians_of(pair);
    if (native.empty() || simulated.empty() || *std::min_element(native.begin(), native.end()) <= 0)
        return line;
    const RatioVerdict verdict = ratio_verdict({simulated, is_constant(pair.simulated)}, {native});
    line.ratio = verdict.ratio;
    line.within_narrow = verdict.within_narrow;
    line.within_wide = verdict.within_wide;
    line.parts = parts_of(line, pair);
    return line;
}

Validation validate(const std::string& name, const std::vector<std::string>& keys,
                    const std::vector<WorldPair>& pairs, const std::vector<std::string>& by) {
    Validation validation;
    validation.name = name;
    validation.keys = keys;
    const std::vector<std::size_t> competing = competing_places(keys, by);
    for (const std::size_t place : competing) validation.competing.push_back(keys[place]);
    std::vector<double> errors;
    for (const WorldPair& pair : pairs) {
        validation.lines.push_back(validate_pair(pair));
        if (const auto error = validation.lines.back().error()) errors.push_back(*error);
    }
    if (!errors.empty()) {
        validation.largest_error = *std::max_element(errors.begin(), errors.end());
        validation.median_error = median(std::move(errors));
    }
    validation.ranking = ranking_of(pairs, competing);
    return validation;
}

}  // namespace heddle::results
