// Chooses an algorithm for each measured call, and merges neighbouring sizes into rules.
#include "cli/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <tuple>

#include "base/settings.hpp"
#include "results/statistics.hpp"

namespace heddle::cli {

namespace {

/// Simulated times are exact; their mean over calls is rounded.
constexpr double equal_part = 1e-9;

auto series_of(const TunedCall& call) {
    return std::tuple(call.operation, call.nodes, call.threads);
}

/// The value below which a part of the sorted values lies; in between, a line.
double quantile(const std::vector<double>& sorted, double part) {
    const double place = part * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::size_t best_of(const TunedCall& call, std::optional<std::size_t> without = std::nullopt) {
    std::size_t best = call.algorithms.size();
    for (std::size_t i = 0; i < call.algorithms.size(); ++i) {
        if (!call.algorithms[i].measured() || i == without) continue;
        if (best == call.algorithms.size() || call.algorithms[i].median() < call.algorithms[best].median())
            best = i;
    }
    return best;
}

bool ties(const TunedRuns& one, const TunedRuns& best) {
    const double difference = one.median() - best.median();
    return difference <= std::max({one.spread(), best.spread(), equal_part * best.median()});
}

/// What a choice for the sizes up to one costs: rules first, then the logarithm of the product of times.
using Cost = std::pair<std::size_t, double>;

/// The winners of one series, by dynamic programming over its sizes.
class SeriesChoice {
public:
    explicit SeriesChoice(std::span<TunedCall> calls) : calls_(calls), at_(calls.size()) {}

    void choose() {
        for (std::size_t i = 0; i < calls_.size(); ++i) extend(i);
        std::optional<std::size_t> last;
        for (std::size_t i = calls_.size(); i-- > 0;) {
            const std::vector<State>& states = at_[i];
            const auto least = [](const State& a, const State& b) { return a.cost < b.cost; };
            const State& state =
                last ? states[*last] : *std::min_element(states.begin(), states.end(), least);
            calls_[i].winner = state.algorithm;
            last = state.before;
        }
    }

private:
    struct State {
        std::size_t algorithm;
        Cost cost;
        std::size_t before;  ///< the state of the size before
    };

    void extend(std::size_t i) {
        const TunedCall& call = calls_[i];
        const TunedRuns& best = call.algorithms[best_of(call)];
        for (std::size_t k = 0; k < call.algorithms.size(); ++k) {
            const TunedRuns& one = call.algorithms[k];
            if (!one.measured() || !ties(one, best)) continue;
            State state{k, {1, 0}, 0};
            if (i > 0) state = after(at_[i - 1], i, call.algorithms[k].algorithm, k);
            state.cost.second += std::log(std::max(one.median(), 1e-15));
            at_[i].push_back(state);
        }
    }
    State after(const std::vector<State>& before, std::size_t i, const std::string& name,
                std::size_t algorithm) const {
        std::optional<State> best;
        for (std::size_t k = 0; k < before.size(); ++k) {
            const bool same = calls_[i - 1].algorithms[before[k].algorithm].algorithm == name;
            const Cost cost{before[k].cost.first + (same ? 0 : 1), before[k].cost.second};
            if (!best || cost < best->cost) best = State{algorithm, cost, k};
        }
        return *best;
    }

    std::span<TunedCall> calls_;
    std::vector<std::vector<State>> at_;
};

std::uint64_t geometric_mean(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(a) * static_cast<double>(b)));
}

/// The numbers that take the rule of `value`, which is one of the measured ones.
spmd::RuleRange range_around(std::uint64_t value, const std::set<std::uint64_t>& measured) {
    const auto place = measured.find(value);
    const auto next = std::next(place);
    spmd::RuleRange range{value, value};
    if (place != measured.begin()) range.first = geometric_mean(*std::prev(place), value) + 1;
    if (next != measured.end()) range.last = geometric_mean(value, *next);
    return range;
}

}  // namespace

double TunedRuns::median() const {
    return results::median(seconds);
}

double TunedRuns::spread() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return quantile(sorted, 0.75) - quantile(sorted, 0.25);
}

bool TunedCall::measured() const {
    return std::ranges::any_of(algorithms, &TunedRuns::measured);
}

double TunedCall::best_seconds() const {
    return algorithms[best_of(*this)].median();
}

std::optional<std::size_t> TunedCall::runner_up() const {
    const std::size_t next = best_of(*this, winner);
    return next == algorithms.size() ? std::nullopt : std::optional(next);
}

double how_much_longer(double seconds, double least) {
    return seconds == least ? 0 : seconds / least - 1;
}

const TunedRuns& TunedCall::taken_by_automatic() const {
    const auto named = std::ranges::find(algorithms, automatic.ran, &TunedRuns::algorithm);
    return named != algorithms.end() && named->measured() ? *named : automatic;
}

std::optional<double> loss_of_automatic(const TunedCall& call) {
    if (!call.automatic.measured()) return std::nullopt;
    return how_much_longer(call.taken_by_automatic().median(), call.best_seconds());
}

bool automatic_ties(const TunedCall& call) {
    return call.automatic.measured() && ties(call.taken_by_automatic(), call.algorithms[best_of(call)]);
}

void choose(std::vector<TunedCall>& calls) {
    std::erase_if(calls, [](const TunedCall& call) { return !call.measured(); });
    std::ranges::sort(calls, {}, [](const TunedCall& call) {
        return std::tuple(call.operation, call.nodes, call.threads, call.bytes);
    });
    for (std::size_t begin = 0; begin < calls.size();) {
        std::size_t end = begin + 1;
        while (end < calls.size() && series_of(calls[end]) == series_of(calls[begin])) ++end;
        SeriesChoice(std::span(calls).subspan(begin, end - begin)).choose();
        begin = end;
    }
}

std::vector<TunedRule> rules_of(const std::vector<TunedCall>& calls) {
    std::vector<TunedRule> rules;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const TunedCall& call = calls[i];
        const bool goes_on = i > 0 && series_of(calls[i - 1]) == series_of(call);
        const std::uint64_t most = static_cast<std::uint64_t>(integer_max);
        if (goes_on && calls[i - 1].chosen().algorithm == call.chosen().algorithm) {
            rules.back().last = i;
            continue;
        }
        std::set<std::uint64_t> nodes;
        std::set<std::uint64_t> threads;
        for (const TunedCall& other : calls) {
            if (other.operation != call.operation) continue;
            nodes.insert(other.nodes);
            threads.insert(other.threads);
        }
        spmd::RuleRange bytes{0, most};
        if (goes_on) {
            rules.back().rule.bytes.last = geometric_mean(calls[i - 1].bytes, call.bytes);
            bytes.first = rules.back().rule.bytes.last + 1;
        }
        rules.push_back({{call.operation, &spmd::find_algorithm(call.operation, call.chosen().algorithm),
                          bytes, range_around(call.nodes, nodes), range_around(call.threads, threads)},
                         i,
                         i});
    }
    return rules;
}

}  // namespace heddle::cli
