// Writes the first sentences of the report: which combination wins, by how much, and what its workers do
// differently.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/units.hpp"
#include "report/sections.hpp"
#include "report/words.hpp"

namespace heddle::report {

namespace {

constexpr std::array all_states = {"working", "overhead", "stealing", "waiting", "idle"};

std::string strong(const std::string& text) {
    return fmt::format("<strong>{}</strong>", escaped(text));
}

double state_seconds(const Entry& entry, const std::string& state) {
    return counted(entry, "time_seconds_" + state);
}

double all_seconds(const Entry& entry) {
    double sum = 0;
    for (const char* state : all_states) sum += state_seconds(entry, state);
    return sum;
}

/// What a worker's state is called in a sentence.
const char* doing(std::string_view state) {
    if (state == "working") return "at work";
    if (state == "overhead") return "in the scheduler";
    if (state == "stealing") return "looking for work elsewhere";
    if (state == "waiting") return "waiting for data or results under way";
    return "idle without work";
}

/// The state in which the slower one loses most of the difference, in seconds of its workers.
std::string reason_of(const Entry& fast, const Entry& slow) {
    std::string most;
    double difference = 0;
    for (const char* state : all_states) {
        const double more = state_seconds(slow, state) - state_seconds(fast, state);
        if (more > difference) {
            difference = more;
            most = state;
        }
    }
    const double gap = all_seconds(slow) - all_seconds(fast);
    if (most.empty() || gap <= 0 || all_seconds(fast) <= 0) return "";
    return fmt::format("The reason: workers are {} of the time {} with {}, and {} with {}.",
                       percent(state_seconds(fast, most) / all_seconds(fast)), doing(most),
                       escaped(fast.competitor), percent(state_seconds(slow, most) / all_seconds(slow)),
                       escaped(slow.competitor));
}

std::string median_in_words(const Entry& entry) {
    return show_seconds(entry.line.median_seconds);
}

/// Entries of a group with a result, the fastest first.
std::vector<const Entry*> by_median(const Competition& group) {
    std::vector<const Entry*> order;
    for (const Entry& entry : group.entries)
        if (entry.line.runs > 0) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
        return a->line.median_seconds < b->line.median_seconds;
    });
    return order;
}

/// The fastest entries of a group, which cannot be told apart, and the first one that is surely slower.
struct Podium {
    std::vector<const Entry*> fastest;
    const Entry* slower = nullptr;

    double ratio() const {
        const double least = fastest.front()->line.median_seconds;
        return slower && least > 0 ? slower->line.median_seconds / least : 1;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const Entry* entry : fastest) all.push_back(strong(entry->competitor));
        return all;
    }
};

Podium podium_of(const Competition& group) {
    using results::Standing;
    Podium podium;
    for (const Entry* entry : by_median(group)) {
        const bool slower =
            entry->line.standing == Standing::worse || entry->line.standing == Standing::longer;
        if (!slower) podium.fastest.push_back(entry);
        if (slower && !podium.slower) podium.slower = entry;
    }
    return podium;
}

std::string certainty(const Entry& slow) {
    return slow.line.standing == results::Standing::worse
               ? fmt::format("p = {:.2g}", slow.line.p_value.value_or(0))
               : std::string("longer in every run");
}

/// Winner, margin and reason of one group, which is named in `where`.
std::string of_one_group(const Competition& group, const std::string& where) {
    const Podium podium = podium_of(group);
    const Entry& first = *podium.fastest.front();
    if (!podium.slower && podium.fastest.size() == 1)
        return fmt::format("<p>{} took {}{}.</p>", strong(first.competitor), median_in_words(first), where);
    if (!podium.slower) {
        const Entry& last = *podium.fastest.back();
        const bool untested = last.line.standing == results::Standing::untested;
        const std::string why = untested ? "there are too few runs to tell differences from chance"
                                         : "no difference is significant";
        return fmt::format(
            "<p>{} takes {}{}, and the slowest, {}, takes {} as long, but {}.</p><p>{}</p>",
            strong(first.competitor), median_in_words(first), where, escaped(last.competitor),
            strong(times_as_long(last.line.median_seconds / std::max(first.line.median_seconds, 1e-300))),
            why, reason_of(first, last));
    }
    const bool one = podium.fastest.size() == 1;
    return fmt::format("<p>{} {} fastest{}: {}. The next, {}, takes {} as long ({}).</p><p>{}{}</p>",
                       list_in_words(podium.names(), 4), one ? "is" : "are", where, median_in_words(first),
                       escaped(podium.slower->competitor), strong(times_as_long(podium.ratio())),
                       certainty(*podium.slower), one ? "" : "The fastest cannot be told apart. ",
                       reason_of(first, *podium.slower));
}

/// The competitor that is among the fastest of most groups, and the group with its widest margin.
std::string of_several_groups(const Subject& subject) {
    std::vector<std::string> names;
    std::map<std::string, std::size_t> wins;
    std::vector<std::pair<const Competition*, Podium>> contested;
    bool any_decided = false;
    for (const Competition& group : subject.findings.groups) {
        if (!group.runner_up()) continue;
        contested.emplace_back(&group, podium_of(group));
        const bool decided = contested.back().second.slower != nullptr;
        any_decided = any_decided || decided;
        // Where no difference is sure, the least median alone counts.
        std::vector<const Entry*> winners = {group.winner()};
        if (decided) winners = contested.back().second.fastest;
        for (const Entry* entry : winners)
            if (++wins[entry->competitor] == 1) names.push_back(entry->competitor);
    }
    if (contested.empty()) {
        const Competition& last = subject.findings.groups.back();
        return last.winner() ? of_one_group(last, fmt::format(" at {}", escaped(last.name))) : "";
    }
    std::string champion = names.front();
    for (const std::string& name : names)
        if (wins[name] > wins[champion]) champion = name;
    const Competition* widest = nullptr;
    double most = 0;
    for (const auto& [group, podium] : contested) {
        const bool wins_here = std::any_of(podium.fastest.begin(), podium.fastest.end(),
                                           [&](const Entry* entry) { return entry->competitor == champion; });
        if (!wins_here || podium.ratio() <= most) continue;
        most = podium.ratio();
        widest = group;
    }
    std::vector<std::string> equals;
    for (const std::string& name : names)
        if (wins[name] == wins[champion]) equals.push_back(strong(name));
    const bool one = equals.size() == 1;
    const std::string text = fmt::format(
        "<p>{} {} {} in {} of {} groups.</p>", list_in_words(equals, 4), one ? "is" : "are",
        any_decided ? "fastest, or not shown to be slower," : "fastest", wins[champion], contested.size());
    return text + of_one_group(*widest, fmt::format(" at {}", escaped(widest->name)));
}

/// One combination: what it took, and how far from the bound.
std::string of_one_combination(const Subject& subject) {
    const Entry& entry = subject.findings.groups.front().entries.front();
    const Run& run = subject.runs.all[subject.combination_of(entry).runs.front()];
    const std::string what = fmt::format("{} on {} x {} ({})", run.value("workload_name"), run.value("nodes"),
                                         run.value("cores"), run.value("backend"));
    if (entry.line.runs == 0) return fmt::format("<p>{} gave no right answer.</p>", strong(what));
    std::string text = fmt::format("<p>{} took {}", strong(what), strong(median_in_words(entry)));
    if (entry.line.lower_bound_seconds && *entry.line.lower_bound_seconds > 0)
        text += fmt::format(", {} its lower bound of {}",
                            times_as_long(entry.line.median_seconds / *entry.line.lower_bound_seconds),
                            show_seconds(*entry.line.lower_bound_seconds));
    text += fmt::format(
        ".</p><p>{}, so nothing is compared here. Workers were {} of the time at work.</p>",
        entry.line.runs == 1 ? std::string("This is a single run")
                             : "All " + counted_things(entry.line.runs, "run") + " have one configuration",
        percent(all_seconds(entry) > 0 ? state_seconds(entry, "working") / all_seconds(entry) : 0));
    return text;
}

}  // namespace

std::string summary_of(const Subject& subject) {
    const std::vector<Competition>& groups = subject.findings.groups;
    if (groups.empty()) return "<p>There is no finished run in these directories.</p>";
    if (subject.design.combinations.size() == 1) return of_one_combination(subject);
    const bool any = std::any_of(groups.begin(), groups.end(),
                                 [](const Competition& group) { return group.winner() != nullptr; });
    if (!any) return "<p>No run gave a right answer.</p>";
    return groups.size() == 1 ? of_one_group(groups.front(), "") : of_several_groups(subject);
}

}  // namespace heddle::report
