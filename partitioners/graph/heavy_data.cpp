// Gives each datum whose work fills a part a part of its own, and partitions the rest.
#include "partitioners/graph/heavy_data.hpp"

#include <algorithm>
#include <numeric>

namespace heddle::partitioners {

HeavyData::HeavyData(const DataGraph& graph, const std::vector<double>& shares_of_parts)
    : alone(graph.data(), 0) {
    std::vector<std::uint32_t> by_share(shares_of_parts.size());
    std::iota(by_share.begin(), by_share.end(), 0U);
    std::stable_sort(by_share.begin(), by_share.end(), [&](std::uint32_t a, std::uint32_t b) {
        return shares_of_parts[a] > shares_of_parts[b];
    });
    std::vector<DatumIndex> by_work(graph.data());
    std::iota(by_work.begin(), by_work.end(), DatumIndex{0});
    std::stable_sort(by_work.begin(), by_work.end(),
                     [&](DatumIndex a, DatumIndex b) { return graph.work(a) > graph.work(b); });

    double work = graph.total_work(), share = 1;
    std::size_t taken = 0;
    while (taken < by_work.size() && taken < by_share.size()) {
        const std::size_t parts_left = by_share.size() - taken, data_left = by_work.size() - taken;
        const double heaviest = graph.work(by_work[taken]), largest = shares_of_parts[by_share[taken]];
        if (data_left > parts_left && (parts_left == 1 || !(heaviest * share >= work * largest && work > 0)))
            break;
        alone[by_work[taken]] = by_share[taken];
        work = std::max(0.0, work - heaviest);
        share = std::max(0.0, share - largest);
        ++taken;
    }
    rest.assign(by_work.begin() + static_cast<std::ptrdiff_t>(taken), by_work.end());
    std::sort(rest.begin(), rest.end());
    parts.assign(by_share.begin() + static_cast<std::ptrdiff_t>(taken), by_share.end());
    std::sort(parts.begin(), parts.end());
    double sum = 0;
    for (const std::uint32_t part : parts) sum += shares_of_parts[part];
    for (const std::uint32_t part : parts) shares.push_back(shares_of_parts[part] / sum);
}

}  // namespace heddle::partitioners
