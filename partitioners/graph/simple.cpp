// Partitioners that ignore edges (block, cyclic, random), as baselines for the others. cyclic and random give
// each part as many data, whatever the speeds.
#include <algorithm>
#include <numeric>
#include <optional>

#include "base/random.hpp"
#include "partitioners/graph/members.hpp"
#include "partitioners/graph/part_targets.hpp"

namespace heddle::partitioners {

namespace {

/// Runs of neighbouring data with equal work, or work in proportion to speeds, as far as whole data allow.
class Block final : public GraphPartitioner {
public:
    Parts make_parts(const DataGraph& graph, const WorkerGrid& grid,
                     std::span<const double> speeds) const override {
        const double total = graph.total_work();
        const std::size_t parts = grid.workers();
        const std::optional<PartEnds> ends = speeds.empty() ? std::nullopt : std::optional(PartEnds(speeds));
        Parts part(graph.data());
        double before = 0;
        for (DatumIndex datum = 0; datum < graph.data(); ++datum) {
            // A datum belongs where its middle lies. Without any work, data count one each.
            const double middle =
                total > 0 ? (before + graph.work(datum) / 2) / total : (datum + 0.5) / graph.data();
            part[datum] =
                ends ? ends->part_at(middle)
                     : static_cast<std::uint32_t>(std::min(
                           parts - 1, static_cast<std::size_t>(middle * static_cast<double>(parts))));
            before += graph.work(datum);
        }
        return part;
    }
};

/// Dealt like cards, in the order of `order`.
Parts dealt(const std::vector<DatumIndex>& order, std::size_t parts) {
    Parts part(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) part[order[i]] = static_cast<std::uint32_t>(i % parts);
    return part;
}

class Cyclic final : public GraphPartitioner {
public:
    Parts make_parts(const DataGraph& graph, const WorkerGrid& grid,
                     std::span<const double> /*speeds*/) const override {
        std::vector<DatumIndex> order(graph.data());
        std::iota(order.begin(), order.end(), 0U);
        return dealt(order, grid.workers());
    }
};

class RandomOrder final : public GraphPartitioner {
public:
    explicit RandomOrder(std::uint64_t seed) : seed_(seed) {}

    Parts make_parts(const DataGraph& graph, const WorkerGrid& grid,
                     std::span<const double> /*speeds*/) const override {
        std::vector<DatumIndex> order(graph.data());
        std::iota(order.begin(), order.end(), 0U);
        Random random(seed_);
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
        return dealt(order, grid.workers());
    }

private:
    std::uint64_t seed_;
};

}  // namespace

std::vector<Setting> no_settings() {
    return {};
}

std::vector<Setting> random_settings() {
    return {seed_setting()};
}

std::unique_ptr<GraphPartitioner> make_block_graph(const Settings&) {
    return std::make_unique<Block>();
}

std::unique_ptr<GraphPartitioner> make_cyclic_graph(const Settings&) {
    return std::make_unique<Cyclic>();
}

std::unique_ptr<GraphPartitioner> make_random_graph(const Settings& settings) {
    return std::make_unique<RandomOrder>(settings.integer<std::uint64_t>("seed"));
}

}  // namespace heddle::partitioners
