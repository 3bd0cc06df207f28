// Looks up links by name, and follows their bandwidth and latency through the platform's events.
#include "sim/simgrid/links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <simgrid/s4u.hpp>

#include "base/error.hpp"

namespace heddle::sim {

namespace s4u = simgrid::s4u;

namespace {

/// The link of that name, or the two directions of one.
std::vector<s4u::Link*> links_named(const s4u::Engine& engine, const LinkEvent& event) {
    if (s4u::Link* link = engine.link_by_name_or_null(event.link)) return {link};
    s4u::Link* up = engine.link_by_name_or_null(event.link + "_UP");
    s4u::Link* down = engine.link_by_name_or_null(event.link + "_DOWN");
    if (up != nullptr && down != nullptr) return {up, down};
    constexpr std::size_t some = 6;
    const std::vector<s4u::Link*> all = links_of(engine);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(some, all.size()); ++i) names.push_back(all[i]->get_name());
    throw Error(
        fmt::format("the platform has no link {}", event.link),
        fmt::format("{} of its {} links are {}; `heddle platform show PLATFORM --links` lists them all",
                    names.size(), all.size(), fmt::join(names, ", ")),
        event.where);
}

}  // namespace

std::vector<s4u::Link*> links_of(const s4u::Engine& engine) {
    std::vector<s4u::Link*> links = engine.get_all_links();
    std::erase_if(links, [](const s4u::Link* link) { return link->get_name() == "__loopback__"; });
    std::sort(links.begin(), links.end(),
              [](const s4u::Link* a, const s4u::Link* b) { return a->get_name() < b->get_name(); });
    return links;
}

SimgridLinks::SimgridLinks(const s4u::Engine& engine, const std::vector<LinkEvent>& events) {
    std::unordered_map<const Link*, Change> now;
    for (const LinkEvent& event : events) {
        if (event.latency) least_latency_factor_ = std::min(least_latency_factor_, *event.latency);
        for (Link* link : links_named(engine, event)) {
            const Change as_built{Time::zero(), link, link->get_bandwidth(), link->get_latency()};
            const Change& first = first_.try_emplace(link, as_built).first->second;
            Change& change = now.try_emplace(link, first).first->second;
            change.at = event.at;
            if (event.bandwidth) change.bandwidth = first.bandwidth * *event.bandwidth;
            if (event.latency) change.latency = first.latency * *event.latency;
            changes_.push_back(change);
        }
    }
}

void SimgridLinks::make(const Change& change, bool latency) {
    if (change.bandwidth != change.link->get_bandwidth()) change.link->set_bandwidth(change.bandwidth);
    if (latency && change.latency != change.link->get_latency()) change.link->set_latency(change.latency);
}

double SimgridLinks::bandwidth(const Link& link) const {
    const auto first = first_.find(&link);
    return first == first_.end() ? link.get_bandwidth() : first->second.bandwidth;
}

std::vector<SimgridLinks::RouteState> SimgridLinks::course(const std::vector<Link*>& links,
                                                           double latency) const {
    std::unordered_map<const Link*, Change> now;  // of the route's links that change
    const auto state_from = [&](Time at) {
        RouteState state{at, latency, std::numeric_limits<double>::infinity()};
        for (const Link* link : links) {
            const auto found = now.find(link);
            const bool changes = found != now.end();
            // SimGrid may have a part of the latency that is of no link.
            if (changes) state.latency += found->second.latency - link->get_latency();
            state.bandwidth =
                std::min(state.bandwidth, changes ? found->second.bandwidth : link->get_bandwidth());
        }
        return state;
    };
    if (!changes_.empty()) {
        for (const Link* link : links) {
            const auto first = first_.find(link);
            if (first != first_.end()) now.insert(*first);
        }
    }
    std::vector<RouteState> states{state_from(Time::zero())};
    if (now.empty()) return states;
    for (const Change& change : changes_) {
        const auto found = now.find(change.link);
        if (found == now.end()) continue;
        found->second = change;
        states.push_back(state_from(change.at));
    }
    return states;
}

}  // namespace heddle::sim
