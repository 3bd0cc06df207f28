// Writes the first sentences of the report: which combination wins, by how much, and what its workers do
// differently.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
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

/// A paragraph: the state in which the slower one loses most of the difference, in seconds of its workers.
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
    if (most.empty() || all_seconds(slow) <= all_seconds(fast)) return "";
    return fmt::format("<p>The reason: all workers together are {} {} with {}, and {} with {}.</p>",
                       show_seconds(state_seconds(fast, most)), doing(most), escaped(fast.competitor),
                       show_seconds(state_seconds(slow, most)), escaped(slow.competitor));
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

/// How the entries of a group with a result stand to its least median, each list by median.
struct Podium {
    const Entry* first = nullptr;
    std::vector<const Entry*> equals;    ///< tested, and not shown to be slower
    const Entry* slower = nullptr;       ///< the first that surely is
    std::vector<const Entry*> untested;  ///< with too few runs

    /// Of the first that is slower; infinite if the fastest takes no time.
    double margin() const {
        return slower ? slower->line.ratio.value_or(std::numeric_limits<double>::infinity()) : 1;
    }
    std::vector<const Entry*> fastest() const {
        std::vector<const Entry*> all = {first};
        all.insert(all.end(), equals.begin(), equals.end());
        return all;
    }
};

Podium podium_of(const Competition& group) {
    using results::Standing;
    Podium podium;
    for (const Entry* entry : by_median(group)) {
        switch (entry->line.standing) {
            case Standing::best:
                podium.first = entry;
                break;
            case Standing::undecided:
                podium.equals.push_back(entry);
                break;
            case Standing::untested:
                podium.untested.push_back(entry);
                break;
            case Standing::worse:
            case Standing::longer:
                if (!podium.slower) podium.slower = entry;
                break;
            case Standing::no_result:
                break;
        }
    }
    return podium;
}

std::string certainty(const Entry& slow) {
    return slow.line.standing == results::Standing::worse
               ? fmt::format("p = {:.2g}", slow.line.p_value.value_or(0))
               : std::string("longer in every run");
}

/// `1.46 times as long`; its own time, if the fastest takes none.
std::string as_long(const Entry& entry) {
    return entry.line.ratio ? strong(times_as_long(*entry.line.ratio)) + " as long"
                            : strong(median_in_words(entry));
}

/// ` X (1.2 s) and Y (1.3 s) are not shown to be slower.`; empty without entries.
std::string sentence_of(const std::vector<const Entry*>& entries, const std::string& is,
                        const std::string& are) {
    if (entries.empty()) return "";
    std::vector<std::string> names;
    for (const Entry* entry : entries)
        names.push_back(fmt::format("{} ({})", strong(entry->competitor), median_in_words(*entry)));
    return fmt::format(" {} {}.", list_in_words(names, 4), entries.size() == 1 ? is : are);
}

/// Winner, margin and reason of one group, which is named in `where`.
std::string of_one_group(const Competition& group, const std::string& where) {
    const Podium podium = podium_of(group);
    const Entry& first = *podium.first;
    const std::string untested =
        sentence_of(podium.untested, "had too few runs to be compared", "had too few runs to be compared");
    if (podium.slower)
        return fmt::format(
            "<p>{} {}{}: {}.{} The next, {}, takes {} ({}).{}</p>{}", strong(first.competitor),
            podium.equals.empty() ? "is fastest" : "has the least median", where, median_in_words(first),
            sentence_of(podium.equals, "is not shown to be slower", "are not shown to be slower"),
            escaped(podium.slower->competitor), as_long(*podium.slower), certainty(*podium.slower), untested,
            reason_of(first, *podium.slower));
    const bool tested = !podium.equals.empty();
    const std::vector<const Entry*>& others = tested ? podium.equals : podium.untested;
    if (others.empty())
        return fmt::format("<p>{} took {}{}.</p>", strong(first.competitor), median_in_words(first), where);
    return fmt::format(
        "<p>{} takes {}{}, and the slowest{}, {}, takes {}, but {}.{}</p>", strong(first.competitor),
        median_in_words(first), where, tested && !untested.empty() ? " that was compared" : "",
        escaped(others.back()->competitor), as_long(*others.back()),
        tested ? "no difference is significant" : "there are too few runs to tell differences from chance",
        tested ? untested : "");
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
        if (decided) winners = contested.back().second.fastest();
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
        const std::vector<const Entry*> fastest = podium.fastest();
        const bool wins_here = std::any_of(fastest.begin(), fastest.end(),
                                           [&](const Entry* entry) { return entry->competitor == champion; });
        if (!wins_here || podium.margin() <= most) continue;
        most = podium.margin();
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
