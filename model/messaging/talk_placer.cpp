// Chooses the processes of threads that talk: puts the places one by one where they add least, from several
// beginnings, and then exchanges places, and whole processes, while that makes the sum smaller.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "model/messaging/talk.hpp"

namespace heddle::messaging {

namespace {

using Place = Talk::Place;
using Slot = std::size_t;  ///< a process, by its number among those that there are

constexpr Slot no_slot = std::numeric_limits<Slot>::max();
constexpr Place no_place = std::numeric_limits<Place>::max();

/// Beginnings, and exchanges of each place with each: for as much work as takes a moment.
constexpr double work_max = 2e6;
constexpr std::size_t starts_max = 8;
constexpr int rounds_max = 100;
constexpr std::size_t links_kept_max = 512;  ///< processes whose links are asked for once

struct Neighbour {
    Place place = 0;
    double messages = 0;
    double bytes = 0;
};

/// The neighbours of each place in ascending order, each once.
std::vector<std::vector<Neighbour>> neighbours_of(const Talk& talk) {
    std::map<std::pair<Place, Place>, std::pair<double, double>> amounts;
    for (const Talk::Pair& pair : talk.pairs) {
        if (pair.a >= talk.places || pair.b >= talk.places)
            throw Error(fmt::format("threads {} and {} talk, and there are {}", pair.a, pair.b, talk.places),
                        "threads that are created together are numbered from 0");
        if (!is_amount(pair.messages) || !is_amount(pair.bytes))
            throw Error(fmt::format("threads {} and {} exchange {} messages of {} bytes", pair.a, pair.b,
                                    pair.messages, pair.bytes),
                        fmt::format("state amounts from 0 to {:g}", amount_max));
        if (pair.a == pair.b) continue;
        auto& [messages, bytes] = amounts[std::minmax(pair.a, pair.b)];
        messages += pair.messages;
        bytes += pair.bytes;
    }
    std::vector<std::vector<Neighbour>> all(talk.places);
    for (const auto& [pair, amount] : amounts) {
        all[pair.first].push_back({pair.second, amount.first, amount.second});
        all[pair.second].push_back({pair.first, amount.first, amount.second});
    }
    return all;
}

class Placer {
public:
    Placer(const Talk& talk, std::span<const ProcessId> processes, const LinkBetween& link)
        : processes_(processes),
          link_(link),
          threads_(talk.places),
          neighbours_(neighbours_of(talk)),
          most_((threads_ + processes.size() - 1) / processes.size()) {
        neighbours_.resize(most_ * processes.size());
        for (const auto& list : neighbours_) degrees_ += static_cast<double>(list.size());
        measure();
        for (const auto& list : neighbours_) {
            double sum = 0;
            for (const Neighbour& neighbour : list) sum += weight(neighbour);
            weights_.push_back(sum);
        }
    }

    std::vector<ProcessId> best() {
        const auto places = static_cast<double>(neighbours_.size());
        const double one = places * (places + degrees_) + degrees_ * static_cast<double>(processes_.size());
        const auto starts = std::clamp<std::size_t>(static_cast<std::size_t>(work_max / one), 1, starts_max);
        double least = std::numeric_limits<double>::infinity();
        std::vector<Slot> best;
        std::vector<Slot> order(processes_.size());
        std::iota(order.begin(), order.end(), Slot{0});
        std::ranges::stable_sort(order, {}, [&](Slot slot) { return distance_[slot]; });
        const auto attempt = [&] {
            improve();
            search();
            const double sum = total();
            if (!best.empty() && sum >= least * (1 - precision)) return;
            least = sum;
            best = slot_;
        };
        // So the result is no worse than if a program dealt them out.
        for (const bool in_turn : {false, true}) {
            deal(in_turn);
            attempt();
        }
        for (std::size_t start = 0; start < starts && least > 0; ++start) {
            const Place begin = start == 0   ? extreme(true)
                                : start == 1 ? extreme(false)
                                             : start * threads_ / starts;
            put_all(order[start * order.size() / starts], begin);
            attempt();
        }
        std::vector<ProcessId> result;
        for (Place place = 0; place < threads_; ++place) result.push_back(processes_[best[place]]);
        return result;
    }

private:
    static constexpr double precision = 1e-9;  ///< smaller gains are errors of rounding

    /// What a message and a byte take, in seconds.
    struct Link {
        double message = 0;
        double byte = 0;

        double of(const Neighbour& talk) const { return talk.messages * message + talk.bytes * byte; }
    };

    Link link(Slot a, Slot b) const {
        if (!links_.empty()) return links_[a * processes_.size() + b];
        const auto route = link_(processes_[std::min(a, b)], processes_[std::max(a, b)]);
        return {seconds_over(route, 1, 0), seconds_over(route, 0, 1)};
    }

    double seconds(const Neighbour& talk, Slot a, Slot b) const { return a == b ? 0 : link(a, b).of(talk); }

    /// What the place's talk takes if it is there.
    double seconds_at(Place place, Slot slot) const {
        double sum = 0;
        for (const Neighbour& neighbour : neighbours_[place])
            if (slot_[neighbour.place] != no_slot) sum += seconds(neighbour, slot, slot_[neighbour.place]);
        return sum;
    }

    double total() const {
        double sum = 0;
        for (Place place = 0; place < slot_.size(); ++place) sum += seconds_at(place, slot_[place]);
        return sum / 2;
    }

    /// How far each process is from the others, and the mean link: of few pairs on large clusters.
    void measure() {
        const std::size_t count = processes_.size();
        const std::size_t step = std::max<std::size_t>(1, count / 64);
        if (count <= links_kept_max) {
            std::vector<Link> links;
            for (Slot a = 0; a < count; ++a)
                for (Slot b = 0; b < count; ++b) links.push_back(a == b ? Link{} : link(a, b));
            links_ = std::move(links);
        }
        distance_.assign(count, 0);
        double pairs = 0;
        for (Slot a = 0; a < count; ++a) {
            for (Slot b = 0; b < count; b += step) {
                if (a == b) continue;
                const Link one = link(a, b);
                distance_[a] += one.of({0, 1, 4096});
                mean_.message += one.message;
                mean_.byte += one.byte;
                ++pairs;
            }
        }
        if (pairs == 0) return;
        mean_.message /= pairs;
        mean_.byte /= pairs;
    }

    bool is_empty(Place place) const { return place >= threads_; }

    double weight(const Neighbour& talk) const { return mean_.of(talk); }

    /// Neighbouring places to a process, or each to the next process.
    void deal(bool in_turn) {
        slot_.assign(neighbours_.size(), no_slot);
        load_.assign(processes_.size(), 0);
        for (Place place = 0; place < threads_; ++place) {
            slot_[place] = in_turn ? place % processes_.size() : place * processes_.size() / threads_;
            ++load_[slot_[place]];
        }
        put_empty();
    }

    /// Fills one process after the other, so that each gets places which talk to each other. The first ones
    /// get no empty place. `first` and `begin`: the process and the place that it begins with.
    void put_all(Slot first, Place begin) {
        slot_.assign(neighbours_.size(), no_slot);
        load_.assign(processes_.size(), 0);
        attached_.assign(threads_, 0);
        here_.assign(threads_, 0);
        waiting_.clear();
        for (Place place = 0; place < threads_; ++place) waiting_.insert(rank(place));
        const std::size_t all_full = processes_.size() - (neighbours_.size() - threads_);
        std::size_t begun = 0;
        std::size_t room = 0;
        Slot slot = first;
        std::vector<Place> near;  // to the places of the process
        for (Place done = 0; done < threads_; ++done, --room) {
            const bool full = room == 0;
            if (full)
                for (const Place place : std::exchange(near, {})) change_talk(place, -here_[place], 0);
            const Place place = done == 0 ? begin : std::get<Place>(*waiting_.begin());
            if (full) {
                if (done > 0) slot = attached_[place] > 0 ? nearest(place) : central();
                room = begun++ < all_full ? most_ : most_ - 1;
            }
            waiting_.erase(rank(place));
            slot_[place] = slot;
            ++load_[slot];
            for (const Neighbour& neighbour : neighbours_[place]) {
                change_talk(neighbour.place, weight(neighbour), weight(neighbour));
                near.push_back(neighbour.place);
            }
        }
        put_empty();
    }

    /// First is the place that talks most to those of the process that is being filled; of equals to those of
    /// all processes, and of these the one that talks least to places without a process.
    using Rank = std::tuple<double, double, double, Place>;
    Rank rank(Place place) const {
        return {-here_[place], -attached_[place], weights_[place] - attached_[place], place};
    }
    void change_talk(Place place, double here, double attached) {
        if (slot_[place] != no_slot) return;
        auto node = waiting_.extract(rank(place));
        here_[place] += here;
        attached_[place] += attached;
        node.value() = rank(place);
        waiting_.insert(std::move(node));
    }

    void put_empty() {
        Place empty = threads_;
        for (Slot at = 0; at < load_.size(); ++at)
            if (load_[at] < most_) slot_[empty++] = at;
    }

    /// The place that talks most, or least.
    Place extreme(bool most) const {
        const auto weights = std::span(weights_).first(threads_);
        const auto found = most ? std::ranges::max_element(weights) : std::ranges::min_element(weights);
        return static_cast<Place>(found - weights.begin());
    }

    /// For a place that begins a new set of places that talk to each other.
    Slot central() const {
        Slot best = no_slot;
        for (Slot slot = 0; slot < load_.size(); ++slot)
            if (load_[slot] == 0 && (best == no_slot || distance_[slot] < distance_[best])) best = slot;
        return best;
    }

    Slot nearest(Place place) const {
        Slot best = no_slot;
        double least = 0;
        for (Slot slot = 0; slot < load_.size(); ++slot) {
            if (load_[slot] > 0) continue;
            const double sum = seconds_at(place, slot);
            if (best != no_slot && sum >= least) continue;
            best = slot;
            least = sum;
        }
        return best;
    }

    // --- exchanges

    void note_empty() {
        empty_of_.assign(processes_.size(), no_place);
        for (Place place = threads_; place < slot_.size(); ++place) empty_of_[slot_[place]] = place;
    }

    void improve() {
        note_empty();
        const double places = static_cast<double>(slot_.size());
        const bool all_pairs = degrees_ * places + places * places <= 4 * work_max;
        bool improved = true;
        for (int round = 0; improved && round < rounds_max; ++round) {
            improved = false;
            for (Place place = 0; place < slot_.size(); ++place) {
                improved |= all_pairs ? improve_with_all(place) : improve_with_near(place);
            }
            improved |= exchange_processes();
        }
    }

    bool gains(double before, double after) const { return after < before - precision * (before + after); }

    /// Whether the two may change their processes: no process has two empty places.
    bool may_exchange(Place a, Place b) const {
        const Slot of_a = slot_[a];
        const Slot of_b = slot_[b];
        if (of_a == of_b) return false;
        if (is_empty(a)) return !is_empty(b) && empty_of_[of_b] == no_place;
        return !is_empty(b) || empty_of_[of_a] == no_place;
    }
    void exchange(Place a, Place b) {
        std::swap(slot_[a], slot_[b]);
        for (const Place place : {a, b}) {
            if (!is_empty(place)) continue;
            empty_of_[slot_[place == a ? b : a]] = no_place;
            empty_of_[slot_[place]] = place;
        }
    }
    /// Their own link, if there is one, takes the same before and after, and is counted twice each time.
    double gain_of(Place a, Place b) {
        const double before = seconds_at(a, slot_[a]) + seconds_at(b, slot_[b]);
        std::swap(slot_[a], slot_[b]);
        const double after = seconds_at(a, slot_[a]) + seconds_at(b, slot_[b]);
        std::swap(slot_[a], slot_[b]);
        return gains(before, after) || gains(after, before) ? before - after : 0;
    }

    bool improve(Place a, Place b) {
        if (!may_exchange(a, b) || gain_of(a, b) <= 0) return false;
        exchange(a, b);
        return true;
    }
    bool improve_with_all(Place place) {
        bool improved = false;
        for (Place other = place + 1; other < slot_.size(); ++other) improved |= improve(place, other);
        return improved;
    }
    /// On large graphs: with places that what it talks to talks to, and where that is a place is empty.
    bool improve_with_near(Place place) {
        bool improved = false;
        for (const Neighbour& near : neighbours_[place]) {
            for (const Neighbour& other : neighbours_[near.place])
                if (other.place != place) improved |= improve(place, other.place);
            if (const Place empty = empty_of_[slot_[near.place]]; empty != no_place)
                improved |= improve(place, empty);
        }
        return improved;
    }

    /// Tabu search: the best exchange of two places is made even if the sum grows, and neither returns for a
    /// while. Ends with the best that was found. Each step looks at all pairs, so there are none on large
    /// graphs.
    void search() {
        const Place places = slot_.size();
        const double step = static_cast<double>(places) * (static_cast<double>(places) + degrees_);
        const auto steps =
            static_cast<std::size_t>(std::min<double>(10.0 * static_cast<double>(places), work_max / step));
        if (steps == 0) return;
        const std::size_t tenure = places / 4 + 2;
        std::vector<std::size_t> until(places * processes_.size(), 0);  ///< by place and slot
        double sum = total();
        double least = sum;
        std::vector<Slot> best = slot_;
        for (std::size_t now = 1; now <= steps && least > 0; ++now) {
            double gain = -std::numeric_limits<double>::infinity();
            std::pair<Place, Place> chosen{0, 0};
            for (Place a = 0; a < places; ++a) {
                for (Place b = a + 1; b < places; ++b) {
                    if (!may_exchange(a, b)) continue;
                    const double possible = gain_of(a, b);
                    const bool barred = until[a * processes_.size() + slot_[b]] > now ||
                                        until[b * processes_.size() + slot_[a]] > now;
                    if (possible <= gain || (barred && sum - possible >= least * (1 - precision))) continue;
                    gain = possible;
                    chosen = {a, b};
                }
            }
            const auto [a, b] = chosen;
            if (a == b) break;
            until[a * processes_.size() + slot_[a]] = now + tenure;
            until[b * processes_.size() + slot_[b]] = now + tenure;
            exchange(a, b);
            sum -= gain;
            if (sum >= least * (1 - precision)) continue;
            least = sum;
            best = slot_;
        }
        slot_ = best;
        note_empty();
    }

    /// All places of two processes: single places do not leave a process where they have what they talk to.
    bool exchange_processes() {
        const std::size_t count = processes_.size();
        const auto number = static_cast<double>(count);
        if ((degrees_ + number) * number > work_max) return false;
        std::vector<std::vector<Place>> members(count);
        for (Place place = 0; place < slot_.size(); ++place) members[slot_[place]].push_back(place);
        bool improved = false;
        for (Slot a = 0; a < count; ++a) {
            for (Slot b = a + 1; b < count; ++b) {
                const double before = seconds_of(members[a]) + seconds_of(members[b]);
                change(members[a], b);
                change(members[b], a);
                if (gains(before, seconds_of(members[a]) + seconds_of(members[b]))) {
                    std::swap(members[a], members[b]);
                    improved = true;
                } else {
                    change(members[a], a);
                    change(members[b], b);
                }
            }
        }
        note_empty();
        return improved;
    }
    double seconds_of(const std::vector<Place>& places) const {
        double sum = 0;
        for (const Place place : places) sum += seconds_at(place, slot_[place]);
        return sum;
    }
    void change(const std::vector<Place>& places, Slot to) {
        for (const Place place : places) slot_[place] = to;
    }

    std::span<const ProcessId> processes_;
    const LinkBetween& link_;
    Place threads_;
    /// Of each place. Those from `threads_` on are empty: with them each process has as many places.
    std::vector<std::vector<Neighbour>> neighbours_;
    std::size_t most_;  ///< places of a process
    double degrees_ = 0;
    std::vector<Link> links_;       ///< of each two; empty: too many
    std::vector<double> distance_;  ///< of each process from the others, in no unit
    Link mean_;
    std::vector<double> weights_;  ///< all that a place says and hears, over the mean link
    // Of the placement that is being made.
    std::vector<Slot> slot_;
    std::vector<std::size_t> load_;
    std::vector<Place> empty_of_;   ///< by process: its empty place, of which it has one at most
    std::vector<double> attached_;  ///< of what a place says and hears: to and from those with a process
    std::vector<double> here_;      ///< of that: those in the process that is being filled
    std::set<Rank> waiting_;        ///< places without a process
};

}  // namespace

std::vector<ProcessId> place_together(const Talk& talk, std::span<const ProcessId> processes,
                                      const LinkBetween& link) {
    if (talk.places == 0) {
        (void)neighbours_of(talk);
        return {};
    }
    return Placer(talk, processes, link).best();
}

}  // namespace heddle::messaging
