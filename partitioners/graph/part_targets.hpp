// The share of the work that each part should get: in proportion to the speed of its worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::partitioners {

/// The share of each of `parts`, with a sum of 1. `speeds`: one above 0 for each part; empty: equal shares.
std::vector<double> shares_of(std::span<const double> speeds, std::size_t parts);

/// Where the parts end if the work is laid out from 0 to 1, part after part.
class PartEnds {
public:
    explicit PartEnds(std::span<const double> speeds);

    /// The part that a point from 0 to 1 lies in.
    std::uint32_t part_at(double point) const;

private:
    std::vector<double> ends_;
};

}  // namespace heddle::partitioners
