// Computes each part's share of the work from the speeds of the workers.
#include "partitioners/graph/part_targets.hpp"

#include <algorithm>

namespace heddle::partitioners {

std::vector<double> shares_of(std::span<const double> speeds, std::size_t parts) {
    if (speeds.empty()) return std::vector<double>(parts, 1 / static_cast<double>(parts));
    // The fastest counts 1, so that the sum stays in the range of numbers.
    const double fastest = *std::max_element(speeds.begin(), speeds.end());
    double sum = 0;
    for (const double speed : speeds) sum += speed / fastest;
    std::vector<double> shares;
    shares.reserve(parts);
    for (const double speed : speeds) shares.push_back(speed / fastest / sum);
    return shares;
}

PartEnds::PartEnds(std::span<const double> speeds) {
    double end = 0;
    for (const double share : shares_of(speeds, speeds.size())) ends_.push_back(end += share);
}

std::uint32_t PartEnds::part_at(double point) const {
    const auto found = std::upper_bound(ends_.begin(), ends_.end() - 1, point);
    return static_cast<std::uint32_t>(found - ends_.begin());
}

}  // namespace heddle::partitioners
