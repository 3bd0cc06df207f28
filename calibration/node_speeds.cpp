// Compares the nodes of a calibration with the median of all.
#include "calibration/node_speeds.hpp"

#include <algorithm>
#include <map>

namespace heddle::calibration {

namespace {

/// By node, 1 over the median time, as a share of the median node.
std::map<double, double> shares_of(const Samples& samples, const std::string& quantity) {
    std::map<double, double> speeds;
    std::vector<double> all;
    for (const auto& [of, seconds] : samples) {
        if (of.first != quantity || seconds.empty()) continue;
        const double middle = median(seconds);
        if (middle <= 0) continue;
        all.push_back(speeds[of.second] = 1 / middle);
    }
    if (all.empty()) return speeds;
    const double typical = median(all);
    for (auto& [node, speed] : speeds) speed /= typical;
    return speeds;
}

}  // namespace

std::vector<NodeSpeed> node_speeds_of(const Readings& readings) {
    const Samples samples = samples_of(readings);
    const auto memory = shares_of(samples, node_byte);
    std::vector<NodeSpeed> nodes;
    for (const auto& [node, core] : shares_of(samples, node_flop)) {
        const auto found = memory.find(node);
        nodes.push_back({static_cast<NodeId>(node), core, found == memory.end() ? 1 : found->second});
    }
    return nodes;
}

}  // namespace heddle::calibration
