// Computes when each simulated message arrives: finds its route, remembers similar routes, applies the cost
// model.
#include "sim/network.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::sim {

namespace {

std::uint64_t pair_of(CardId from, CardId to) {
    return std::uint64_t{from} << 32 | to;
}
/// Of nodes.
std::uint64_t pair_of(const Message& message) {
    return pair_of(message.from, message.to);
}

/// The lookahead if there is only one host.
constexpr Time alone = std::chrono::milliseconds(1);

/// SimGrid shares links in proportion to this.
double weight(Time latency) {
    return latency > Time::zero() ? 1 / to_seconds(latency) : 1;
}

}  // namespace

Network::Network(SimgridProcess& simgrid, const heddle::Network& settings, Time sending, const Cards& cards)
    : simgrid_(simgrid),
      hosts_(static_cast<CardId>(simgrid.facts().hosts.size())),
      cards_(cards),
      lookahead_(simgrid.facts().lookahead == never ? alone : simgrid.facts().lookahead),
      sending_(sending),
      contention_(settings.contention),
      gap_(settings.gap),
      small_bytes_(settings.small_message_bytes),
      blocks_(hosts_),
      kinds_(1),
      path_links_(simgrid),
      card_free_(hosts_),
      out_(hosts_),
      in_(hosts_),
      fair_([this](const Passage& passage) { arrive(passage); }),
      late_until_(cards.nodes()),
      doubts_(hosts_) {
    const PlatformFacts& facts = simgrid.facts();
    if (facts.tree.empty()) return;
    kinds_.resize(1 + facts.tree.size());
    // What ends at one instant ends in the order of the links: first where messages leave their hosts.
    for (CardId host = 0; host < hosts_; ++host) place_of(facts.hosts[host].out, out_, host);
    for (CardId host = 0; host < hosts_; ++host) place_of(facts.hosts[host].in, in_, host);
    // With fewer groups, threads that simulate one each would lack work.
    constexpr CardId groups_min = 8;
    if (hosts_ / facts.tree.front() < groups_min) return;
    group_machines_ = facts.tree.front();
    between_groups_ = route(0, group_machines_).latency;
}

std::uint32_t Network::place_of(const LinkFacts& link, Ends& ends, CardId host) {
    auto& links = ends.all[host];
    for (std::uint32_t i = 0; i < links.size(); ++i) {
        if (links[i].first == link.number) return i;
    }
    const auto [ours, is_new] = fair_number_.try_emplace(link.number);
    if (is_new) {
        const auto changed = changed_.find(link.number);
        ours->second = fair_.add_link(changed == changed_.end() ? link.bandwidth : changed->second);
    }
    if (links.empty()) ends.first[host] = ours->second;
    links.emplace_back(link.number, ours->second);
    return static_cast<std::uint32_t>(links.size() - 1);
}

/// SimGrid's route, as it is remembered.
Network::Route Network::noted(const RouteFacts& facts, CardId from, CardId to) {
    Route way{facts.latency, facts.bandwidth, facts.shared};
    way.weight = weight(facts.latency);
    way.course = facts.course;
    if (way.shared > 0) {
        way.first = place_of(facts.first, out_, from);
        way.last = place_of(facts.last, in_, to);
    }
    return way;
}

void Network::fetch(CardId from, CardId first, Block& block) {
    const CardId count = std::min(block_hosts, hosts_ - first);
    const std::vector<RouteFacts> facts = simgrid_.routes(from, first, count);
    for (CardId i = 0; i < count; ++i) {
        const Route way = noted(facts[i], from, first + i);
        block[i] = kind_of(way);
    }
}

std::uint32_t Network::kind_of(const Route& way) {
    const auto [kind, is_new] = kind_of_.try_emplace(way, static_cast<std::uint32_t>(kinds_.size()));
    if (is_new) kinds_.push_back(way);
    return kind->second;
}

/// Keeps what a route shows of all routes that are alike: its kind, its first link and its last.
void Network::keep_parts(const RouteFacts& facts, CardId from, CardId to) {
    if (from == to || !(facts.bandwidth > 0)) return;
    const RouteKeys keys = simgrid_.facts().structure.keys(from, to);
    const Route way = noted(facts, from, to);
    out_.by_key.try_emplace(std::uint64_t{from} << 32 | keys.first, way.first);
    in_.by_key.try_emplace(std::uint64_t{to} << 32 | keys.last, way.last);
    if (kind_of_key_.try_emplace(keys.kind, static_cast<std::uint32_t>(kinds_.size())).second)
        kinds_.push_back(way);
}

/// The route, if routes that are alike have shown its kind and both of its ends.
const Network::Route* Network::composed_route(CardId from, CardId to) {
    const RouteKeys keys = simgrid_.facts().structure.keys(from, to);
    const auto kind = kind_of_key_.find(keys.kind);
    const auto first = out_.by_key.find(std::uint64_t{from} << 32 | keys.first);
    const auto last = in_.by_key.find(std::uint64_t{to} << 32 | keys.last);
    if (kind == kind_of_key_.end() || first == out_.by_key.end() || last == in_.by_key.end()) return nullptr;
    composed_ = kinds_[kind->second];
    composed_.first = first->second;
    composed_.last = last->second;
    return &composed_;
}

/// Asks SimGrid only for what no route that is alike has shown. A question costs more than a route, so it
/// also asks for the routes from the neighbours of `from`, and for those to the neighbours of `to`.
const Network::Route& Network::structured_route(CardId from, CardId to) {
    if (const Route* known = composed_route(from, to)) return *known;
    constexpr CardId together = 64;
    const CardId senders = from / together * together, receivers = to / together * together;
    std::vector<RouteFacts> facts = simgrid_.routes_to(to, senders, std::min(together, hosts_ - senders));
    for (std::size_t i = 0; i < facts.size(); ++i) keep_parts(facts[i], senders + static_cast<CardId>(i), to);
    facts = simgrid_.routes(from, receivers, std::min(together, hosts_ - receivers));
    for (std::size_t i = 0; i < facts.size(); ++i)
        keep_parts(facts[i], from, receivers + static_cast<CardId>(i));
    if (const Route* known = composed_route(from, to)) return *known;
    composed_ = {};  // without bandwidth: there is no route
    return composed_;
}

const Network::Route& Network::route_of_block(CardId from, CardId to) {
    auto& row = blocks_[from];
    if (row.empty()) row.resize((hosts_ + block_hosts - 1) / block_hosts);
    auto& block = row[to / block_hosts];
    if (!block) {
        block = std::make_unique<Block>();
        fetch(from, to / block_hosts * block_hosts, *block);
    }
    return kinds_[(*block)[to % block_hosts]];
}

const Network::Route& Network::route_of_pair(CardId from, CardId to) {
    const auto [kind, is_new] = kind_of_pair_.try_emplace(pair_of(from, to));
    if (is_new) kind->second = kind_of(noted(simgrid_.routes(from, to, 1).front(), from, to));
    return kinds_[kind->second];
}

const Network::Route& Network::route(CardId from, CardId to) {
    if (const PlatformFacts& facts = simgrid_.facts(); !facts.tree.empty()) {
        Route& way = kinds_[1 + facts.meeting_level(from, to)];
        if (!(way.bandwidth > 0)) way = noted(simgrid_.routes(from, to, 1).front(), from, to);
        return way;
    }
    // Up to here all routes are asked for sooner or later, and many at once are cheaper.
    constexpr CardId few = 512;
    const Route& found = hosts_ <= few                        ? route_of_block(from, to)
                         : simgrid_.facts().structure.known() ? structured_route(from, to)
                                                              : route_of_pair(from, to);
    if (!(found.bandwidth > 0)) {
        throw Error(fmt::format("the platform has no route from node {} to node {}", from, to),
                    "every host must reach every other");
    }
    HEDDLE_ASSERT(found.latency >= lookahead_);
    if (found.course >= courses_.size()) courses_.resize(found.course + 1);
    if (found.course > 0 && courses_[found.course].empty())
        courses_[found.course] = simgrid_.course(found.course);
    return found;
}

// The latency is that of the departure; the bytes flow, a latency later, with the bandwidth of each moment.
Network::Way Network::way_at(const Route& route, Time departure, const Message& message) const {
    if (route.course == 0)
        return {route.latency, route.bandwidth, transfer(route, departure, message.size())};
    const RouteCourse& course = courses_[route.course];
    const Time latency = state_at(course, departure).latency;
    HEDDLE_ASSERT(latency >= lookahead_);
    const Time begin = checked_sum(departure, latency);
    return {latency, state_at(course, begin).bandwidth, transfer(route, begin, message.size())};
}

/// How long bytes flow from `begin` on that have their way to themselves.
Time Network::transfer(const Route& route, Time begin, std::uint64_t bytes) const {
    const auto all = static_cast<double>(bytes);
    return route.course == 0 ? from_seconds(all / route.bandwidth)
                             : transfer_time(courses_[route.course], begin, all);
}

Path& Network::path(CardId from, CardId to) {
    const auto [found, is_new] = paths_.try_emplace(pair_of(from, to));
    Path& path = found->second;
    if (is_new) {
        path.links = path_links_.between(from, to);
        path.weight = weight(route(from, to).latency);
    }
    return path;
}

void Network::send(Time departure, Message& message) {
    const CardId from = cards_.card(message.from), to = cards_.card(message.to);
    const Route& found = route(from, to);
    if (instant()) [[unlikely]]
        refuse_no_time(found, departure, message);
    if (contention_ == Contention::none) {
        if (message.in_turn) departure = std::max(departure, turns_[from].free);
        const Way way = way_at(found, departure, message);
        const Time left = checked_sum(departure, way.transfer);
        const Time arrival = checked_sum(left, way.latency);
        if (message.in_turn) turns_[from].free = left;
        known_.push_back({arrival, &message, message.to});
        return;
    }
    Time& card_free = card_free_[from];
    const Time start = std::max(departure, card_free);
    card_free = saturated_sum(start, gap_);
    const bool calculated = contention_ == Contention::full && is_small(message);
    calculated ? send_small(found, {from, to}, start, message) : send_large(found, start, message);
}

/// Without latency and without a time to cross the network, time might not go on while messages do.
void Network::refuse_no_time(const Route& route, Time departure, const Message& message) const {
    const Way way = way_at(route, departure, message);
    if (way.latency > Time::zero() || way.transfer > Time::zero()) return;
    throw Error(fmt::format("a message of {} bytes from node {} to node {} would take no time: the network "
                            "has no latency, and {} bytes per second move it in less than half a picosecond",
                            message.size(), message.from, message.to, way.bandwidth),
                "state a latency, such as 1ns, or less bandwidth");
}

void Network::send_small(const Route& route, Pair ends, Time start, Message& message) {
    Time* const free = message.in_turn ? &turns_[ends.from].free : nullptr;
    if (free) start = std::max(start, *free);
    const Way way = way_at(route, start, message);
    if (free) *free = saturated_sum(start, way.transfer);
    Passage passage{checked_sum(start, way.latency),    &message, message.from, message.to, message.sequence,
                    static_cast<double>(message.size())};
    passage.weight = route.course == 0 ? route.weight : weight(way.latency);
    passage.at_least = way.transfer;
    if (route.course > 0) {
        // The latency may have fallen since the last message, which is not overtaken for that.
        Path& on_way = path(message);
        passage.start = on_way.last_start = std::max(passage.start, on_way.last_start);
        passage.at_least = transfer_time(courses_[route.course], passage.start, passage.bytes);
    }
    if (route.shared > 0) passage.links[0] = out_.link(ends.from, route.first);
    if (route.shared > 1) passage.links[1] = in_.link(ends.to, route.last);
    // What is short beside its latency meets others inside the network too seldom to be late for it.
    constexpr std::int64_t short_part = 100;
    passage.inside = route.shared > 2 && passage.at_least > way.latency / short_part;
    if (!load_.empty()) {
        const double bandwidth = std::min(way.bandwidth, load_.bandwidth(path(message)));
        passage.extra = std::max(Time::zero(), from_seconds(passage.bytes / bandwidth) - passage.at_least);
    }
    fair_.begin(passage);
}

void Network::arrive(const Passage& passage) {
    Time arrival = checked_sum(passage.ends, passage.extra);
    Time& late_until = late_until_[passage.from];
    if (passage.extra > Time::zero() || arrival < late_until) {
        Path& on_way = path(*passage.message);
        arrival = std::max(arrival, on_way.last_arrival);  // none overtakes another of the same pair
        on_way.last_arrival = arrival;
        late_until = std::max(late_until, arrival);
    }
    // `fair_` compares messages on links only.
    if (passage.links.front() == Passage::no_link)
        arrival = last_arrivals_.in_order(pair_of(*passage.message), arrival);
    known_.push_back({arrival, passage.message, passage.to});

    last_arrival_ = std::max(last_arrival_, arrival);
    const Time late = std::max(passage.late, passage.inside ? late_inside(passage) : Time::zero());
    if (late == Time::zero()) return;
    Doubt& doubt = doubts_[cards_.card(passage.to)];
    const Time until = saturated_sum(arrival, late);
    // What lies between two such times counts once, however many messages lie there.
    doubt.sum += std::max(Time::zero(), until - std::max(arrival, doubt.until));
    doubt.until = std::max(doubt.until, until);
}

/// How much later a message would arrive if the links between its first and its last served one message after
/// the other: an estimate, and more than sharing them would take.
Time Network::late_inside(const Passage& passage) {
    constexpr std::size_t pairs_max = 50000;  // asking for the links of a pair takes time
    const CardId from = cards_.card(passage.from), to = cards_.card(passage.to);
    if (paths_.size() >= pairs_max && !paths_.contains(pair_of(from, to))) return Time::zero();
    const Path& on_way = path(from, to);
    Time late{};
    for (std::size_t i = 1; i + 1 < on_way.links.size(); ++i) {
        const LinkFacts& link = on_way.links[i];
        if (link.number >= inside_free_.size()) inside_free_.resize(link.number + 1);
        Time& free = inside_free_[link.number];
        free = saturated_sum(std::max(free, passage.start),
                             from_seconds(passage.bytes / load_.bandwidth_now(link)));
        late = std::max(late, free - passage.ends);
    }
    return late;
}

double Network::doubtful() const {
    Time most{};
    for (const Doubt& doubt : doubts_) most = std::max(most, doubt.sum);
    return most == Time::zero() ? 0 : to_seconds(most) / to_seconds(last_arrival_);
}

void Network::send_large(const Route& route, Time start, Message& message) {
    const Way way = way_at(route, start, message);
    // Unique, and the same whatever the other nodes do.
    const std::uint64_t id = std::uint64_t{message.from} << 40 | message.sequence;
    const FlowStart flow{id, checked_sum(start, way.latency - lookahead_), cards_.card(message.from),
                         cards_.card(message.to), message.size()};
    if (is_small(message)) in_order_[pair_of(message)].push(id);
    flows_.emplace(id, Flow{&message}).first->second.latency = way.latency;
    if (message.in_turn) {
        Turn& turn = turns_[flow.from];
        if (turn.taken) return turn.waiting.push(flow);
        turn.taken = true;
    }
    begin_flow(route, flow);
}

// Invariant: no flow ends before its time in `earliest_ends_`. That follows from when it begins, not from
// when its message was sent: links may have become faster while it waited for its turn.
void Network::begin_flow(const Route& route, const FlowStart& flow) {
    first_unsent_ = std::min(first_unsent_, flow.start);
    flows_.find(flow.id)->second.start = flow.start;
    const Time least = transfer(route, checked_sum(flow.start, lookahead_), flow.bytes);
    // A little less than the formula says, so that no rounding makes it too late.
    earliest_ends_.emplace(checked_sum(flow.start, least) - least / 1000000 - Time(1), flow.id);
    if (contention_ == Contention::full) beginning_.emplace(flow.start, flow.id);
    unsent_.push_back(flow);
}

/// The next message begins when the card has sent the one before it, a latency of its own later.
void Network::next_in_turn(CardId card, const FlowEnd& before, Time latency) {
    Turn& turn = turns_[card];
    turn.taken = !turn.waiting.empty();
    if (!turn.taken) return;
    FlowStart flow = turn.waiting.front();
    turn.waiting.pop();
    const Time own = flows_.find(flow.id)->second.latency;
    flow.start = std::max({flow.start, before.end, before.end - latency + own});
    begin_flow(route(flow.from, flow.to), flow);
}

/// The estimate for small messages beside large ones gets to know what has changed.
void Network::load_changes(Time now) {
    const std::vector<LinkChange>& changes = simgrid_.facts().changes;
    for (; load_changes_ < changes.size() && changes[load_changes_].at <= now; ++load_changes_)
        load_.change(changes[load_changes_].number, changes[load_changes_].bandwidth);
}

Time Network::begin_window(Time now) {
    load_changes(now);
    last_arrivals_.forget(now);
    while (!beginning_.empty() && beginning_.top().first < now) {
        const auto found = flows_.find(beginning_.top().second);
        beginning_.pop();
        if (found == flows_.end()) continue;  // has ended already
        Flow& flow = found->second;
        flow.loads = true;
        flow.handle = load_.begin(path(*flow.message));
    }
    const Time flows = flows_quiet_until();
    const Time end = saturated_sum(now, ahead());
    if (flows != never) {
        group_end_ = std::clamp(saturated_sum(flows, lookahead_), saturated_sum(now, Time(1)), end);
        promise(instant() ? now : group_end_);
        return group_end_;
    }
    // What the group sends after the window takes a lookahead more, as ever.
    const Time from_outside = saturated_sum(saturated_sum(now, sending_), between_groups_);
    group_end_ = std::max(end, std::min(from_outside, saturated_sum(end, ahead())));
    return end;
}

Time Network::flows_quiet_until() {
    if (flows_.empty()) return never;
    while (!flows_.contains(earliest_ends_.top().second)) earliest_ends_.pop();
    // A new flow may speed up another one: it takes bandwidth from a third, which gives way elsewhere.
    return std::max(earliest_ends_.top().first, std::min(simgrid_quiet_, first_unsent_));
}

/// Nothing happens to small messages before this. Where a link changes, what is on it may end earlier than it
/// seems.
Time Network::next_small() {
    const Time next = fair_.next();
    const std::vector<LinkChange>& changes = simgrid_.facts().changes;
    if (next == never || small_changes_ == changes.size()) return next;
    return std::min(next, changes[small_changes_].at);
}

void Network::run_small(Time until) {
    const std::vector<LinkChange>& changes = simgrid_.facts().changes;
    for (; small_changes_ < changes.size() && changes[small_changes_].at < until; ++small_changes_) {
        const LinkChange& change = changes[small_changes_];
        fair_.run(change.at);
        changed_[change.number] = change.bandwidth;
        const auto ours = fair_number_.find(change.number);
        if (ours != fair_number_.end()) fair_.set_bandwidth(ours->second, change.at, change.bandwidth);
    }
    fair_.run(until);
}

Time Network::quiet_until() {
    const Time flows = flows_quiet_until();
    return std::min(next_small(), flows == never ? never : saturated_sum(flows, lookahead_));
}

bool Network::behind(Time now) {
    if (flows_quiet_until() < now) return true;
    const Time small = next_small();
    return small != never && (now == never || small < saturated_sum(now, ahead()));
}

// Invariant: small messages go on to a time before which no other can begin on its links. A message departs
// after the time that sending takes, and begins a lookahead later. No node begins to send before the earliest
// of three times: `until`, the arrival of the next small message, and a lookahead after the next large one
// leaves SimGrid.
void Network::advance(Time until) {
    const Time small = next_small();
    const Time quiet = std::min(until, quiet_until());
    promise(quiet);
    const Time settled = saturated_sum(quiet, ahead());
    if (small >= settled) return advance_flows(std::min(until, small));
    run_small(settled);
}

void Network::advance_flows(Time until) {
    const SimgridProcess::Advance advance = simgrid_.advance(unsent_, until);
    unsent_.clear();
    first_unsent_ = never;
    // Where no flow has ended, SimGrid is at `until`, whatever its numbers were rounded to.
    simgrid_quiet_ = advance.ends.empty() ? std::max(advance.quiet_until, until) : advance.quiet_until;
    for (const FlowEnd& end : advance.ends) arrive(end);
}

// SimGrid's clock is a double: after two hours one unit in its last place is more than a picosecond. So what
// it says may lie a few of them before the flow's start, or before what was promised.
void Network::arrive(FlowEnd end) {
    const auto found = flows_.find(end.id);
    HEDDLE_ASSERT(found != flows_.end());
    Flow& flow = found->second;
    const Time rounded = end.end;
    end.end = std::max({end.end, flow.start, promised_ - lookahead_});
    constexpr int precision = 48;  // bits: sixteen units in the last place
    HEDDLE_ASSERT(end.end - rounded <= Time(2) + Time(end.end.count() >> precision));
    const Time arrival = checked_sum(end.end, lookahead_);
    if (flow.loads) load_.end(flow.handle);
    if (flow.message->in_turn) next_in_turn(cards_.card(flow.message->from), end, flow.latency);
    if (!is_small(*flow.message)) {
        known_.push_back({arrival, flow.message, flow.message->to});
        flows_.erase(found);
        return;
    }
    // None overtakes another of the same pair, as where they are calculated.
    flow.ended = true;
    const auto queue = in_order_.find(pair_of(*flow.message));
    while (!queue->second.empty()) {
        const auto first = flows_.find(queue->second.front());
        if (!first->second.ended) return;
        known_.push_back({arrival, first->second.message, first->second.message->to});
        flows_.erase(first);
        queue->second.pop();
    }
    in_order_.erase(queue);
}

}  // namespace heddle::sim
