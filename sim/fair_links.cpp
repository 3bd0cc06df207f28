// Advances simulated messages on shared links from event to event: one begins, or a link has served it.
#include "sim/fair_links.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace heddle::sim {

bool FairLinks::later(const Stream& a, const Stream& b) {
    return a.end != b.end ? a.end > b.end : a.number > b.number;
}

std::uint32_t FairLinks::add_link(double bandwidth) {
    links_.emplace_back().bytes_per_picosecond = bandwidth * 1e-12;
    return static_cast<std::uint32_t>(links_.size() - 1);
}

void FairLinks::set_bandwidth(std::uint32_t link, Time now, double bandwidth) {
    disturb(links_[link]);
    serve(links_[link], now);
    links_[link].bytes_per_picosecond = bandwidth * 1e-12;
    await_next_end(link);
}

bool FairLinks::begins_later(const Passage& a, const Passage& b) {
    return a.start > b.start;
}

void FairLinks::begin(const Passage& passage) {
    if (passage.start < soon_until_) {
        soon_.push_back(passage);
        first_soon_ = std::min(first_soon_, passage.start);
    } else {
        later_.push_back(passage);
        std::push_heap(later_.begin(), later_.end(), begins_later);
    }
}

void FairLinks::drop_stale_ends() {
    while (!ends_.empty() && ends_.top().round != links_[ends_.top().link].round) ends_.pop();
}

Time FairLinks::next() {
    drop_stale_ends();
    const Time first_start = later_.empty() ? first_soon_ : std::min(first_soon_, later_.front().start);
    return ends_.empty() ? first_start : std::min(first_start, ends_.top().time);
}

void FairLinks::run(Time until) {
    find_due(until);
    for (std::size_t i = 0; i < due_.size(); ++i) {
        fetch(i + 6, i + 3);
        run_ends(due_[i].time + Time(1));
        start(soon_[due_[i].place]);
    }
    run_ends(until);
    forget_due(until);
}

void FairLinks::run_ends(Time until) {
    while (!ends_.empty() && ends_.top().time < until) {
        const End next = ends_.top();
        ends_.pop();
        if (next.round == links_[next.link].round) end(next);
    }
}

void FairLinks::find_due(Time until) {
    while (!later_.empty() && later_.front().start < until) {
        std::pop_heap(later_.begin(), later_.end(), begins_later);
        soon_.push_back(later_.back());
        later_.pop_back();
    }
    due_.clear();
    for (std::uint32_t place = 0; place < soon_.size(); ++place) {
        const Passage& passage = soon_[place];
        if (passage.start < until) due_.push_back({passage.start, passage.from, place, passage.sequence});
    }
    std::sort(due_.begin(), due_.end());
}

/// After messages have begun that were due before `until`.
void FairLinks::forget_due(Time until) {
    if (until != never) {
        constexpr int steps = 4;
        const Time passed = until - ran_until_;
        soon_until_ = saturated_sum(until, passed < never / steps ? steps * passed : never);
        ran_until_ = until;
    }
    first_soon_ = never;
    std::size_t kept = 0;
    for (const Passage& passage : soon_) {
        if (passage.start < until) continue;
        if (passage.start < soon_until_) {
            first_soon_ = std::min(first_soon_, passage.start);
            soon_[kept++] = passage;
        } else {
            later_.push_back(passage);
            std::push_heap(later_.begin(), later_.end(), begins_later);
        }
    }
    soon_.resize(kept);
}

/// Into the cache: one of the due messages, and the links of another that is there already.
void FairLinks::fetch(std::size_t message, std::size_t links_of) const {
    if (message < due_.size()) {
        __builtin_prefetch(&soon_[due_[message].place]);
        __builtin_prefetch(&soon_[due_[message].place].ends);
    }
    if (links_of >= due_.size()) return;
    for (const std::uint32_t link : soon_[due_[links_of].place].links)
        if (link != Passage::no_link) __builtin_prefetch(&links_[link], 1);
}

void FairLinks::serve(Link& link, Time until) {
    if (!link.streams.empty()) {
        link.service +=
            static_cast<double>((until - link.last).count()) * link.bytes_per_picosecond / link.weight;
    }
    link.last = until;
}

std::uint32_t FairLinks::slot_for(const Passage& passage) {
    if (spare_.empty()) {
        spare_.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.emplace_back();
    }
    const std::uint32_t slot = spare_.back();
    spare_.pop_back();
    slots_[slot] = {passage};
    if (passage.to >= serving_.size()) serving_.resize(passage.to + 1);
    ++serving_[passage.to];
    if (passage.from >= sending_.size()) sending_.resize(passage.from + 1);
    ++sending_[passage.from];
    return slot;
}

void FairLinks::give_back(std::uint32_t slot) {
    --serving_[slots_[slot].passage.to];
    --sending_[slots_[slot].passage.from];
    spare_.push_back(slot);
}

void FairLinks::start(const Passage& passage) {
    if (start_alone(passage)) return;
    const std::uint32_t slot = slot_for(passage);
    for (std::size_t i = 0; i < passage.links.size(); ++i) {
        const std::uint32_t number = passage.links[i];
        if (number == Passage::no_link) continue;
        disturb(links_[number]);
        join(links_[number], number, slot, i);
    }
    if (slots_[slot].links_left == 0) served(slot, passage.start);
}

void FairLinks::join(Link& link, std::uint32_t number, std::uint32_t slot, std::size_t place) {
    const Passage& passage = slots_[slot].passage;
    serve(link, passage.start);
    if (link.streams.empty()) link.service = link.weight = 0;
    link.weight += passage.weight;
    slots_[slot].end[place] = link.service + passage.bytes / passage.weight;
    link.streams.push_back({slots_[slot].end[place], link.begun++, slot});
    std::push_heap(link.streams.begin(), link.streams.end(), later);
    ++slots_[slot].links_left;
    await_next_end(number);
}

// Most messages meet no other. One that finds its two links idle, and both equally fast, leaves both at one
// time that is known. Until another message disturbs it, that is all there is to note. The times are those
// that it would have anyway, to the picosecond.

bool FairLinks::start_alone(const Passage& passage) {
    if (passage.links[0] == Passage::no_link || passage.links[1] == Passage::no_link) return false;
    Link& first = links_[passage.links[0]];
    Link& second = links_[passage.links[1]];
    constexpr double rounding = 1e-6;  // bytes
    for (const Link* link : {&first, &second})
        if (!link->streams.empty() || link->lone != none || link->missing > rounding) return false;
    if (first.bytes_per_picosecond != second.bytes_per_picosecond) return false;
    first.lone = second.lone = slot_for(passage);
    const double left = passage.bytes / passage.weight * passage.weight / first.bytes_per_picosecond;
    ends_.push({checked_sum(passage.start, from_seconds(left * 1e-12)), passage.links[0], ++first.round});
    return true;
}

void FairLinks::end_alone(std::uint32_t slot, Time now) {
    Passage& passage = slots_[slot].passage;
    for (const std::uint32_t number : passage.links) links_[number].lone = none;
    passage.ends = std::max(now, checked_sum(passage.start, passage.at_least));
    give_back(slot);
    passed_(passage);
}

/// Another message comes: a message that had this link to itself is from its start on what all others are.
void FairLinks::disturb(Link& link) {
    if (link.lone == none) return;
    const std::uint32_t slot = link.lone;
    const Passage& passage = slots_[slot].passage;
    for (std::size_t i = 0; i < passage.links.size(); ++i) {
        Link& own = links_[passage.links[i]];
        own.lone = none;
        join(own, passage.links[i], slot, i);
    }
}

/// This is where times are rounded to whole picoseconds.
void FairLinks::await_next_end(std::uint32_t number) {
    Link& link = links_[number];
    ++link.round;
    if (link.streams.empty()) return;
    const double left = (link.streams.front().end - link.service) * link.weight / link.bytes_per_picosecond;
    ends_.push({checked_sum(link.last, from_seconds(std::max(left, 0.0) * 1e-12)), number, link.round});
}

void FairLinks::end(const End& end) {
    Link& link = links_[end.link];
    if (link.lone != none) return end_alone(link.lone, end.time);
    serve(link, end.time);
    link.service = std::max(link.service, link.streams.front().end);
    ended_.clear();
    while (!link.streams.empty() && link.streams.front().end <= link.service) {
        const std::uint32_t slot = link.streams.front().slot;
        ended_.push_back(slot);
        link.weight -= slots_[slot].passage.weight;
        std::pop_heap(link.streams.begin(), link.streams.end(), later);
        link.streams.pop_back();
    }
    await_next_end(end.link);
    for (const std::uint32_t slot : ended_) {
        leave(slots_[slot], end.link, end.time);
        if (slots_[slot].links_left == 0) served(slot, end.time);
    }
}

/// A link has served a message. Notes what of it another link has still to serve, and at which rate.
void FairLinks::leave(Slot& slot, std::uint32_t number, Time now) {
    Link& link = links_[number];
    double late = std::max(link.missing, 0.0) / link.bytes_per_picosecond * 1e-12;
    // A link that they leave room on is only slowed down.
    const double taken = std::max(link.missing_rate, 0.0) / link.bytes_per_picosecond;
    if (taken < 1) late = std::min(late, to_seconds(now - slot.passage.start) * taken / (1 - taken));
    slot.latest = std::max(slot.latest, saturated_sum(now, from_seconds(late)));
    if (--slot.links_left == 0) {
        if (slot.early_link == none) return;
        links_[slot.early_link].missing -= slot.early;
        links_[slot.early_link].missing_rate -= slot.early_rate;
        return;
    }
    const std::size_t place = slot.passage.links[0] == number ? 1 : 0;
    Link& other = links_[slot.passage.links[place]];
    serve(other, now);
    slot.early_link = number;
    slot.early = std::max(0.0, (slot.end[place] - other.service) * slot.passage.weight);
    slot.early_rate = slot.early > 0 ? other.bytes_per_picosecond * slot.passage.weight / other.weight : 0;
    link.missing += slot.early;
    link.missing_rate += slot.early_rate;
}

/// The message of the same two nodes that was sent last before `passage` and is still being served. If
/// thousands of nodes write to one at once, each has sent one message: then none of their messages is
/// compared.
std::uint32_t FairLinks::youngest_before(const Passage& passage) const {
    if (sending_[passage.from] == 1 || serving_[passage.to] == 1) return none;
    std::uint32_t found = none;
    for (const std::uint32_t number : passage.links) {
        if (number == Passage::no_link) continue;
        for (const Stream& stream : links_[number].streams) {
            const Passage& other = slots_[stream.slot].passage;
            if (other.from != passage.from || other.to != passage.to) continue;
            if (other.sequence >= passage.sequence) continue;
            if (found == none || other.sequence > slots_[found].passage.sequence) found = stream.slot;
        }
    }
    return found;
}

/// All its links have served it: it has passed, unless it would overtake another of the same pair of nodes.
void FairLinks::served(std::uint32_t slot, Time now) {
    if (const std::uint32_t before = youngest_before(slots_[slot].passage); before != none) {
        std::uint32_t last = before;
        while (slots_[last].follower != none) last = slots_[last].follower;
        slots_[last].follower = slot;
        return;
    }
    for (std::uint32_t each = slot; each != none;) {
        const std::uint32_t next = std::exchange(slots_[each].follower, none);
        Passage& passage = slots_[each].passage;
        passage.ends = std::max(now, checked_sum(passage.start, passage.at_least));
        passage.late = std::max(Time::zero(), slots_[each].latest - passage.ends);
        give_back(each);
        passed_(passage);
        each = next;
    }
}

}  // namespace heddle::sim
