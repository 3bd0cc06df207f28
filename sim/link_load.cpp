// Shares links among large messages roughly as SimGrid does, to estimate what is left for a small message.
#include "sim/link_load.hpp"

#include <algorithm>
#include <limits>

namespace heddle::sim {

std::size_t LinkLoad::begin(const Path& path) {
    stale_ = true;
    if (free_.empty()) {
        free_.push_back(flows_.size());
        flows_.emplace_back();
    }
    const std::size_t flow = free_.back();
    free_.pop_back();
    flows_[flow] = {&path, 0};
    for (const LinkFacts& link : path.links) {
        if (link.number >= links_.size()) links_.resize(link.number + 1);
        links_[link.number].bandwidth = bandwidth_now(link);
    }
    return flow;
}

void LinkLoad::end(std::size_t flow) {
    stale_ = true;
    flows_[flow] = {};
    free_.push_back(flow);
}

void LinkLoad::change(std::uint32_t link, double bandwidth) {
    stale_ = true;
    if (link >= changed_.size()) changed_.resize(link + 1);
    changed_[link] = bandwidth;
    if (link < links_.size()) links_[link].bandwidth = bandwidth;
}

// Max-min fairness by a few rounds instead of exactly: a message gets on each link the larger of its fair
// share and of what the others leave, and on its way the smallest of these. The first round knows fair shares
// only; each further one passes on what messages that are held up elsewhere do not need.
void LinkLoad::refresh() {
    stale_ = false;
    for (Link& link : links_) link.weight = link.used = 0;
    for (Flow& flow : flows_) {
        if (!flow.path) continue;
        flow.rate = 0;
        for (const LinkFacts& link : flow.path->links) links_[link.number].weight += flow.path->weight;
    }
    constexpr int rounds = 3;
    for (int round = 0; round < rounds; ++round) {
        for (Flow& flow : flows_) {
            if (!flow.path) continue;
            double rate = std::numeric_limits<double>::infinity();
            for (const LinkFacts& fact : flow.path->links) {
                const Link& link = links_[fact.number];
                const double fair = link.bandwidth * flow.path->weight / link.weight;
                const double left = round == 0 ? 0 : link.bandwidth - (link.used - flow.rate);
                rate = std::min(rate, std::max(fair, left));
            }
            for (const LinkFacts& fact : flow.path->links) links_[fact.number].used += rate - flow.rate;
            flow.rate = rate;
        }
    }
}

double LinkLoad::bandwidth(const Path& path) {
    if (stale_) refresh();
    double bandwidth = std::numeric_limits<double>::infinity();
    for (const LinkFacts& fact : path.links) {
        double share = bandwidth_now(fact);
        if (fact.number < links_.size() && links_[fact.number].weight > 0) {
            const Link& link = links_[fact.number];
            const double fair = link.bandwidth * path.weight / (link.weight + path.weight);
            share = std::max(fair, link.bandwidth - link.used);
        }
        bandwidth = std::min(bandwidth, share);
    }
    return bandwidth;
}

}  // namespace heddle::sim
