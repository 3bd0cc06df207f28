// Drives SimGrid's platform and transfers. Only this folder includes SimGrid, version 3.32 or newer.
#include "sim/simgrid_platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <simgrid/kernel/routing/StarZone.hpp>
#include <simgrid/s4u.hpp>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/assert.hpp"
#include "sim/platform_file.hpp"
#include "sim/simgrid/build.hpp"
#include "sim/simgrid/engine.hpp"
#include "sim/simgrid/links.hpp"
#include "sim/simgrid/structure.hpp"
#include "sim/simgrid_module.hpp"

#include <simgrid/version.h>  // after the others, whose macros it uses

#if SIMGRID_VERSION >= 33300
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the calls that 3.32 has as well
#endif

namespace heddle::sim {

namespace s4u = simgrid::s4u;

namespace {

// The latency of a message is added outside SimGrid (docs/simulator.md), but not all of it may be taken away:
// SimGrid shares a link in proportion to 1 / latency, and does so only for flows whose latency is not zero.
constexpr double latency_kept = 1e-9;

double seconds(Time time) {
    return to_seconds(time);
}

/// A latency, or a moment of SimGrid's. Throws Error for more than virtual time holds.
Time nearest(double time) {
    if (time >= to_seconds(last_moment)) refuse_moment();
    return from_seconds(std::max(time, 0.0));
}

/// SimGrid's engine with what is built in it, and the flows under way.
struct Machinery {
    struct Later {
        bool operator()(const FlowStart& a, const FlowStart& b) const {
            return std::tie(a.start, a.from, a.id) > std::tie(b.start, b.from, b.id);
        }
    };
    static constexpr double together = 2e-12;  // what is nearer is one moment for SimGrid
    struct Begun {
        double at = 0;  ///< after the latency that is kept
        std::vector<s4u::Link*> links;
    };
    struct Running {
        s4u::CommPtr comm;  // SimGrid wants it kept until it has finished
        std::uint64_t id;
    };

    explicit Machinery(const Platform& platform)
        : factor(factors(platform.network.cost_model)), engine(start_engine(platform, latency_kept)) {
        engine->track_vetoed_activities(&vetoed);
    }

    /// A flow has ended: takes it off the list, and makes `run_until` return, which it does after any step
    /// that has vetoed an activity.
    void ended(const s4u::Activity& activity) {
        const auto flow = running.find(&activity);
        if (flow == running.end()) return;
        ended_now.push_back({flow->second.id, nearest(s4u::Engine::get_clock())});
        finished.push_back(flow->second.comm);
        running.erase(flow);
        vetoed.insert(finished.back().get());
    }

    /// Goes on until `target` (in seconds; -1: without end) or until flows end.
    void run(double target) {
        if (target < 0 || s4u::Engine::get_clock() < target) share_again();
        go_on(target);
        vetoed.clear();
        finished.clear();
    }
    void go_on(double target) {
        while (ended_now.empty() && (target < 0 || s4u::Engine::get_clock() < target)) {
            engine->run_until(target);  // stops within 10 us of its target where an event lies there
        }
    }

    // Invariant: SimGrid shares all links of the flows that it has. It follows a flow that begins from its
    // first link to what depends on it, but not if another flow has led it there in the same step, and so
    // forgets the other links (System::update_modified_cnst_set_from_variable, until 4.1). So if several
    // flows begin in one step, all their links are set once more, to what they are, before the next one.
    void share_again() {
        std::vector<Begun> flows = std::exchange(begun, {});
        std::ranges::stable_sort(flows, {}, &Begun::at);
        for (auto first = flows.begin(), last = first; first != flows.end(); first = last) {
            do ++last;
            while (last != flows.end() && last->at - std::prev(last)->at <= together);
            const double now = s4u::Engine::get_clock(), at = std::prev(last)->at;
            const bool alone = std::next(first) == last, goes_on = !alone && ended_now.empty();
            if (goes_on) go_on(std::max(at, std::nextafter(now, now + 1)));
            if (goes_on && s4u::Engine::get_clock() >= at)
                set_again({first, last});
            else if (!alone || at + together > now)  // flows have ended before; or others may join it
                begun.insert(begun.end(), first, last);
        }
    }

    /// Sets each link of these flows once, in their order.
    void set_again(std::span<const Begun> flows) {
        std::unordered_set<const s4u::Link*> seen;
        for (const Begun& flow : flows)
            for (s4u::Link* link : flow.links)
                if (seen.insert(link).second) link->set_bandwidth(link->get_bandwidth());
    }

    void note_begin(const FlowStart& flow) {
        Begun noted;
        double latency = 0;
        hosts[flow.from]->route_to(hosts[flow.to], noted.links, &latency);
        if (noted.links.empty()) return;
        noted.at = s4u::Engine::get_clock() + latency * latency_kept * factor.latency;
        if (factor.window > 0)
            hosts[flow.to]->route_to(hosts[flow.from], noted.links, nullptr);  // LV08's acknowledgements
        begun.push_back(std::move(noted));
    }

    void start(const FlowStart& flow) {
        note_begin(flow);
        auto comm =
            s4u::Comm::sendto_async(hosts[flow.from], hosts[flow.to], std::max<std::uint64_t>(flow.bytes, 1));
        const s4u::Activity* key = comm.get();
        running.emplace(key, Running{std::move(comm), flow.id});
    }

    static bool shared(const s4u::Link& link) {
        return link.get_sharing_policy() != s4u::Link::SharingPolicy::FATPIPE;
    }
    LinkFacts facts(const s4u::Link& link) {
        const auto number = static_cast<std::uint32_t>(link_numbers.size());
        return {link_numbers.try_emplace(&link, number).first->second,
                links->bandwidth(link) * factor.bandwidth};
    }

    /// A route as messages feel it. `latency`: at first, in seconds; it limits a flow's rate.
    RouteChange felt(const SimgridLinks::RouteState& state, double latency) const {
        double bandwidth = state.bandwidth;
        if (factor.window > 0 && latency > 0) bandwidth = std::min(bandwidth, factor.window / (2 * latency));
        return {state.at, nearest(state.latency * factor.latency), bandwidth * factor.bandwidth};
    }
    /// The number of that course, the same for all that are alike.
    std::uint32_t number_of(const std::vector<SimgridLinks::RouteState>& states) {
        RouteCourse course;
        for (const auto& state : states) course.push_back(felt(state, states.front().latency));
        const auto number = static_cast<std::uint32_t>(courses.size());
        const auto [found, is_new] = course_numbers.try_emplace(course, number);
        if (is_new) courses.push_back(std::move(course));
        return found->second;
    }

    /// When the next link changes, in SimGrid's time: all that large messages do is a lookahead early there.
    Time next_change() const {
        if (changes_made == links->changes().size()) return never;
        return std::max(Time::zero(), links->changes()[changes_made].at - early);
    }

    Factors factor;
    s4u::Engine* engine;
    std::vector<s4u::Host*> hosts;
    std::unordered_map<const s4u::Link*, std::uint32_t> link_numbers;  // never iterated over
    std::optional<SimgridLinks> links;
    std::vector<RouteCourse> courses{{}};  // number 0: a route that does not change
    std::map<RouteCourse, std::uint32_t> course_numbers;
    std::size_t changes_made = 0;
    Time early{};
    std::priority_queue<FlowStart, std::vector<FlowStart>, Later> waiting;
    std::unordered_map<const s4u::Activity*, Running> running;  // never iterated over
    std::vector<Begun> begun;                                   // those that others may begin together with
    std::vector<FlowEnd> ended_now;
    std::vector<s4u::CommPtr> finished;
    std::set<s4u::Activity*> vetoed;
};

/// The switch, group or row of a node of a generated platform: nodes of one group have neighbouring numbers.
std::uint32_t nodes_per_group(const heddle::Network& network) {
    switch (network.topology) {
        case heddle::Network::Topology::star:
            break;
        case heddle::Network::Topology::fat_tree:
        case heddle::Network::Topology::torus:
            return network.shape[0];
        case heddle::Network::Topology::dragonfly:
            return network.shape[1] * network.shape[2] * network.shape[3];
    }
    return ~std::uint32_t{0};
}

class BuiltPlatform final : public SimgridPlatform {
public:
    /// Builds the platform. `platform` is complete. `file`: what was read of the platform's file, if it has
    /// one. If that has routes for single pairs, no structure is looked for. Throws Error for a file that
    /// SimGrid refuses politely; there are files that make it abort.
    BuiltPlatform(const Platform& platform, const PlatformFile& file);

    RouteFacts route(NodeId from, NodeId to) override;
    const RouteCourse& course(std::uint32_t number) const override;
    std::vector<NamedLink> named_links() const override;
    std::vector<LinkFacts> links(NodeId from, NodeId to) override;
    void add(const FlowStart& flow) override { machinery_->waiting.push(flow); }
    void advance(Time until, std::vector<FlowEnd>& ends) override;
    Time quiet_until() const override;

private:
    void choose_nodes(const Platform& platform);
    void note_changes();
    void note_tree(const Platform& platform);
    Time neighbour_lookahead();
    Time file_lookahead();

    std::unique_ptr<Machinery> machinery_;
};

BuiltPlatform::BuiltPlatform(const Platform& platform, const PlatformFile& file)
    : machinery_(std::make_unique<Machinery>(platform)) {
    Machinery& machinery = *machinery_;
    const bool from_file = !platform.file.empty();
    machinery.hosts = build(*machinery.engine, platform);
    if (from_file) check_figures(*machinery.engine, machinery.hosts);
    machinery.links.emplace(*machinery.engine, platform.link_events);
    choose_nodes(platform);
    facts_.links = machinery.engine->get_link_count() - 1;  // without SimGrid's own loopback
    facts_.lookahead = from_file ? file_lookahead() : neighbour_lookahead();
    note_changes();
    note_tree(platform);
    if (facts_.hosts.size() > 1 && facts_.tree.empty() && facts_.changes.empty() && !file.bypasses) {
        facts_.structure = find_structure(platform, file.regular, machinery.hosts,
                                          [this](NodeId from, NodeId to) { return route(from, to); });
    }
    if (facts_.lookahead == Time::zero()) {
        facts_.notes.emplace_back(
            "there may be nodes without latency between them, which makes simulations slow");
    }
    // After the platform, so that nothing but the flows is noticed.
#if SIMGRID_VERSION >= 33400
    s4u::Comm::on_completion_cb([&machinery](const s4u::Comm& comm) { machinery.ended(comm); });
#else
    s4u::Activity::on_completion_cb(
        [&machinery](const s4u::Activity& activity) { machinery.ended(activity); });
#endif
}

/// Decides which hosts are nodes, and what they look like.
void BuiltPlatform::choose_nodes(const Platform& platform) {
    auto& hosts = machinery_->hosts;
    const bool from_file = !platform.file.empty();
    const std::size_t built = hosts.size();
    const std::size_t nodes = from_file && !platform.stated_nodes ? built : platform.nodes;
    if (built == 0) throw Error("a platform file without hosts", "it needs at least one <host> or <cluster>");
    if (nodes > built) {
        throw Error(fmt::format("{} nodes are wanted, but the platform file has {} hosts{}", nodes, built,
                                platform.hosts.empty() ? "" : " that platform.hosts names"),
                    "lower platform.nodes, or leave it out to use all of them");
    }
    if (nodes < built) {
        facts_.notes.emplace_back(
            fmt::format("the platform holds {} nodes; the first {} are used", built, nodes));
        hosts.resize(nodes);
    }
    std::map<std::string, std::uint32_t> zones;
    const std::uint32_t group_nodes = from_file ? 1 : nodes_per_group(platform.network);
    for (std::size_t i = 0; i < nodes; ++i) {
        const s4u::Host* host = hosts[i];
        const auto zone = zones.try_emplace(host->get_englobing_zone()->get_name(),
                                            static_cast<std::uint32_t>(zones.size()));
        const auto group = from_file ? zone.first->second : static_cast<std::uint32_t>(i) / group_nodes;
        facts_.hosts.push_back(
            {host->get_speed(), static_cast<std::uint32_t>(host->get_core_count()), group});
        facts_.groups = std::max(facts_.groups, group + 1);
    }
}

/// What it means for the run that links change.
void BuiltPlatform::note_changes() {
    Machinery& machinery = *machinery_;
    for (const SimgridLinks::Change& change : machinery.links->changes()) {
        facts_.changes.push_back(
            {change.at, machinery.facts(*change.link).number, change.bandwidth * machinery.factor.bandwidth});
    }
    if (facts_.lookahead == never) return;
    const double least = machinery.links->least_latency_factor();
    if (least < 1) {
        // Less a picosecond, so that no rounding makes it too long.
        const double shorter = std::floor(static_cast<double>(facts_.lookahead.count()) * least);
        facts_.lookahead = std::max(Time::zero(), Time(static_cast<std::int64_t>(shorter) - 1));
    }
    machinery.early = facts_.lookahead;
}

/// Asks SimGrid for one route from and to every node: routes of all pairs would take a second for a thousand.
void BuiltPlatform::note_tree(const Platform& platform) {
    const heddle::Network& network = platform.network;
    const auto nodes = static_cast<NodeId>(facts_.hosts.size());
    const bool star = network.topology == heddle::Network::Topology::star;
    // Of parallel cables to its switch a node would use several.
    const bool fat_tree = network.topology == heddle::Network::Topology::fat_tree && network.cables[0] == 1;
    if (!platform.file.empty() || !(star || fat_tree) || nodes < 2 || !facts_.changes.empty()) return;
    if (star) {
        facts_.tree = {nodes};
    } else {
        NodeId below = 1;
        for (const std::uint32_t children : network.shape) facts_.tree.push_back(below *= children);
    }
    for (NodeId from = 0; from < nodes; ++from) {
        const NodeId to = (from + 1) % nodes;
        const RouteFacts way = route(from, to);
        facts_.hosts[from].out = way.first;
        facts_.hosts[to].in = way.last;
    }
}

/// In a generated topology nodes 0 and 1 are as near to each other as any two.
Time BuiltPlatform::neighbour_lookahead() {
    return facts_.hosts.size() < 2 ? never : std::min(route(0, 1).latency, route(1, 0).latency);
}

/// All pairs of a small platform. On a large one a lower bound: in a star every route from or to a host
/// includes the host's own link; elsewhere it has at least one link, and none has a smaller latency than the
/// smallest.
Time BuiltPlatform::file_lookahead() {
    constexpr std::size_t few = 200;
    const auto nodes = static_cast<NodeId>(machinery_->hosts.size());
    if (nodes < 2) return never;
    Time least = never;
    if (nodes <= few) {
        for (NodeId from = 0; from < nodes; ++from) {
            for (NodeId to = 0; to < nodes; ++to) {
                if (from == to) continue;
                const RouteFacts way = route(from, to);
                if (!way.exists()) {
                    throw Error(
                        fmt::format("no route from host {} to host {}", machinery_->hosts[from]->get_cname(),
                                    machinery_->hosts[to]->get_cname()),
                        "every host must reach every other");
                }
                least = std::min(least, way.latency);
            }
        }
        return least;
    }
    double smallest_link = HUGE_VAL;
    for (const s4u::Link* link : machinery_->engine->get_all_links()) {
        if (link->get_name() != "__loopback__") smallest_link = std::min(smallest_link, link->get_latency());
    }
    double bound = HUGE_VAL;
    for (NodeId node = 0; node < nodes && bound > smallest_link; ++node) {
        const s4u::Host* host = machinery_->hosts[node];
        const bool star = dynamic_cast<const simgrid::kernel::routing::StarZone*>(
                              host->get_englobing_zone()->get_impl()) != nullptr;
        std::vector<s4u::Link*> out;
        std::vector<s4u::Link*> in;
        const s4u::Host* other = machinery_->hosts[node == 0 ? 1 : 0];
        double ignored = 0;
        host->route_to(other, out, &ignored);
        other->route_to(host, in, &ignored);
        if (!star || out.empty() || in.empty()) {
            bound = smallest_link;
        } else {
            bound = std::min({bound, out.front()->get_latency(), in.back()->get_latency()});
        }
    }
    facts_.notes.push_back(fmt::format("more than {} nodes: the lookahead is a lower bound", few));
    return nearest(bound * machinery_->factor.latency);
}

RouteFacts BuiltPlatform::route(NodeId from, NodeId to) {
    std::vector<s4u::Link*> links;
    double latency = 0;
    machinery_->hosts[from]->route_to(machinery_->hosts[to], links, &latency);
    RouteFacts facts;
    if (links.empty() && latency <= 0) return facts;  // SimGrid's way of saying that there is none
    facts.links = static_cast<std::uint32_t>(links.size());
    const auto states = machinery_->links->course(links, latency);
    const RouteChange first = machinery_->felt(states.front(), states.front().latency);
    facts.bandwidth = first.bandwidth;
    facts.latency = first.latency;
    if (states.size() > 1) facts.course = machinery_->number_of(states);
    for (const s4u::Link* link : links) {
        if (!machinery_->shared(*link)) continue;
        facts.last = machinery_->facts(*link);
        if (facts.shared++ == 0) facts.first = facts.last;
    }
    return facts;
}

const RouteCourse& BuiltPlatform::course(std::uint32_t number) const {
    return machinery_->courses.at(number);
}

std::vector<NamedLink> BuiltPlatform::named_links() const {
    std::vector<NamedLink> named;
    for (const s4u::Link* link : links_of(*machinery_->engine)) {
        const RouteChange felt = machinery_->felt({{}, link->get_latency(), link->get_bandwidth()}, 0);
        named.push_back({link->get_name(), felt.latency, felt.bandwidth});
    }
    return named;
}

std::vector<LinkFacts> BuiltPlatform::links(NodeId from, NodeId to) {
    std::vector<s4u::Link*> links;
    double latency = 0;
    machinery_->hosts[from]->route_to(machinery_->hosts[to], links, &latency);
    std::vector<LinkFacts> facts;
    for (const s4u::Link* link : links) {
        if (machinery_->shared(*link)) facts.push_back(machinery_->facts(*link));
    }
    return facts;
}

void BuiltPlatform::advance(Time until, std::vector<FlowEnd>& ends) {
    Machinery& machinery = *machinery_;
    for (;;) {
        const Time flow = machinery.waiting.empty() ? never : machinery.waiting.top().start;
        const Time change = machinery.next_change();
        const Time target = std::min({until, flow, change});
        machinery.run(target == never ? -1 : seconds(target));
        if (!machinery.ended_now.empty()) break;
        if (change != never && change == target) {
            SimgridLinks::make(machinery.links->changes()[machinery.changes_made++],
                               machinery.factor.changes_latency);
        } else if (flow != never && flow == target) {
            machinery.start(machinery.waiting.top());
            machinery.waiting.pop();
        } else {
            break;
        }
    }
    ends.insert(ends.end(), machinery.ended_now.begin(), machinery.ended_now.end());
    machinery.ended_now.clear();
}

Time BuiltPlatform::quiet_until() const {
    const double now = s4u::Engine::get_clock();
    Time quiet = machinery_->waiting.empty() ? never : machinery_->waiting.top().start;
    if (machinery_->running.empty()) return quiet;
    quiet = std::min(quiet, machinery_->next_change());
    for (auto* model : machinery_->engine->get_all_models()) {
        const double next = model->next_occurring_event(now);
        if (next >= 0) quiet = std::min(quiet, nearest(now + next));
    }
    return quiet;
}

std::vector<FlowEnd> replay_alone(const Platform& platform, std::span<const FlowStart> flows) {
    constexpr double all = 1;
    const s4u::Engine* engine = start_engine(platform, all, Sharing::whole);
    const std::vector<s4u::Host*> hosts = build(*engine, platform);
    const SimgridLinks links(*engine, platform.link_events);
    const bool latency = factors(platform.network.cost_model).changes_latency;
    if (!links.changes().empty()) {
        s4u::Actor::create("links", hosts.front(), [&links, latency] {
            for (const SimgridLinks::Change& change : links.changes()) {
                s4u::this_actor::sleep_until(seconds(change.at));
                SimgridLinks::make(change, latency);
            }
        });
    }
    std::vector<FlowEnd> ends;
    for (const FlowStart& flow : flows) {
        s4u::Actor::create("sender", hosts[flow.from], [&hosts, &ends, flow] {
            s4u::this_actor::sleep_until(seconds(flow.start));
            s4u::Comm::sendto(hosts[flow.from], hosts[flow.to], flow.bytes);
            ends.push_back({flow.id, nearest(s4u::Engine::get_clock())});
        });
    }
    engine->run();
    return ends;
}

}  // namespace

}  // namespace heddle::sim

extern "C" const heddle::sim::SimgridModule heddle_simgrid_module{
    [](const heddle::Platform& platform,
       const heddle::sim::PlatformFile& file) -> std::unique_ptr<heddle::sim::SimgridPlatform> {
        return std::make_unique<heddle::sim::BuiltPlatform>(platform, file);
    },
    heddle::sim::replay_alone};
