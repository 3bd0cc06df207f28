// Writes the first sentences of the report: which combination wins, by how much, and what its workers do
// differently.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

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
    const Competition* group = nullptr;
    const Entry* first = nullptr;
    std::vector<const Entry*> equals;    ///< tested, and not shown to be slower
    const Entry* slower = nullptr;       ///< the first that surely is
    std::vector<const Entry*> untested;  ///< with too few runs

    bool decided() const { return slower != nullptr; }
    /// Those that the sentence about an undecided group compares the first with.
    const std::vector<const Entry*>& others() const { return equals.empty() ? untested : equals; }
    /// Of the first that is slower, else of the slowest; infinite if the fastest takes no time.
    double margin() const {
        const Entry* const other = decided() ? slower : others().empty() ? first : others().back();
        return other->line.ratio.value_or(std::numeric_limits<double>::infinity());
    }
    bool has_least(const Entry* entry) const {
        return entry->line.median_seconds == first->line.median_seconds;
    }
    std::vector<const Entry*> with_least() const {
        std::vector<const Entry*> all = {first};
        for (const auto* list : {&equals, &untested})
            std::copy_if(list->begin(), list->end(), std::back_inserter(all),
                         [this](const Entry* entry) { return has_least(entry); });
        return all;
    }
    /// Those that are not shown to be slower. Too few runs show nothing, unless the median is the least.
    std::vector<const Entry*> fastest() const {
        std::vector<const Entry*> all = with_least();
        std::copy_if(equals.begin(), equals.end(), std::back_inserter(all),
                     [this](const Entry* entry) { return !has_least(entry); });
        return all;
    }
};

Podium podium_of(const Competition& group) {
    using results::Standing;
    Podium podium;
    podium.group = &group;
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
std::string of_one_group(const Podium& podium, const std::string& where) {
    const Entry& first = *podium.first;
    const std::string untested =
        sentence_of(podium.untested, "had too few runs to be compared", "had too few runs to be compared");
    if (podium.decided())
        return fmt::format(
            "<p>{} {}{}: {}.{} The next, {}, takes {} ({}).{}</p>{}", strong(first.competitor),
            podium.fastest().size() == 1 ? "is fastest" : "has the least median", where,
            median_in_words(first),
            sentence_of(podium.equals, "is not shown to be slower", "are not shown to be slower"),
            escaped(podium.slower->competitor), as_long(*podium.slower), certainty(*podium.slower), untested,
            reason_of(first, *podium.slower));
    const bool tested = !podium.equals.empty();
    const std::vector<const Entry*>& others = podium.others();
    if (others.empty())
        return fmt::format("<p>{} took {}{}.</p>", strong(first.competitor), median_in_words(first), where);
    if (podium.has_least(others.back())) {
        std::vector<std::string> names = {strong(first.competitor)};
        for (const Entry* entry : others) names.push_back(strong(entry->competitor));
        return fmt::format("<p>{} take {} each{}.{}</p>", list_in_words(names, 4), median_in_words(first),
                           where, tested ? untested : "");
    }
    return fmt::format(
        "<p>{} takes {}{}, and the slowest{}, {}, takes {}, but {}.{}</p>", strong(first.competitor),
        median_in_words(first), where, tested && !podium.untested.empty() ? " that was compared" : "",
        escaped(others.back()->competitor), as_long(*others.back()),
        tested ? "no difference is significant" : "there are too few runs to tell differences from chance",
        tested ? untested : "");
}

/// In how many groups a competitor is among the fastest.
struct Wins {
    std::string name;
    std::size_t all = 0;
    std::size_t decided = 0;  ///< in which another one surely is slower
};

/// Of all competitors that win, the first to win first. Where no difference is sure in any group, the least
/// median alone counts.
std::vector<Wins> wins_in(const std::vector<Podium>& podiums, bool any_decided) {
    std::vector<Wins> wins;
    for (const Podium& podium : podiums) {
        for (const Entry* entry : any_decided ? podium.fastest() : podium.with_least()) {
            auto place = std::ranges::find(wins, entry->competitor, &Wins::name);
            if (place == wins.end()) place = wins.insert(place, {entry->competitor});
            ++place->all;
            if (podium.decided()) ++place->decided;
        }
    }
    return wins;
}

/// The competitor that is among the fastest of most groups, and a group that says most: a decided one if
/// there is any, one that it wins if there is any, with the widest margin.
std::string of_several_groups(const Subject& subject) {
    std::vector<Podium> contested;
    for (const Competition& group : subject.findings.groups)
        if (group.runner_up()) contested.push_back(podium_of(group));
    if (contested.empty()) {
        const Competition& last = subject.findings.groups.back();
        return last.winner() ? of_one_group(podium_of(last), fmt::format(" at {}", escaped(last.name))) : "";
    }
    const bool any_decided = std::ranges::any_of(contested, &Podium::decided);
    const std::vector<Wins> wins = wins_in(contested, any_decided);
    const Wins champion =
        *std::ranges::max_element(wins, {}, [](const Wins& one) { return std::pair(one.all, one.decided); });
    const auto says = [&](const Podium& podium) {
        const bool wins_here = std::ranges::any_of(
            podium.fastest(), [&](const Entry* entry) { return entry->competitor == champion.name; });
        return std::tuple(podium.decided(), wins_here, podium.margin());
    };
    const Podium& shown = *std::ranges::max_element(contested, {}, says);
    std::vector<std::string> equals;
    for (const Wins& one : wins)
        if (one.all == champion.all) equals.push_back(strong(one.name));
    const bool one = equals.size() == 1;
    const std::string verb = any_decided
                                 ? std::string(one ? "is" : "are") + " fastest, or not shown to be slower,"
                                 : std::string(one ? "has" : "have") + " the least median";
    return fmt::format("<p>{} {} in {} of {} groups.</p>{}", list_in_words(equals, 4), verb, champion.all,
                       contested.size(),
                       of_one_group(shown, fmt::format(" at {}", escaped(shown.group->name))));
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
    return groups.size() == 1 ? of_one_group(podium_of(groups.front()), "") : of_several_groups(subject);
}

}  // namespace heddle::report
