// Partitions for nodes first, then for the cores of each node. The first cut, whose bytes cross the network,
// is then as small as the chosen partitioner can make it. A single partition for all cores does not know
// which parts share a node.
#include <cmath>
#include <numeric>

#include "partitioners/graph/members.hpp"

namespace heddle::partitioners {

namespace {

class TwoLevel final : public GraphPartitioner {
public:
    explicit TwoLevel(const Settings& settings) : member_(settings.text("member")) {
        const GraphPartitionerKind& kind = graph_partitioner_named(member_);
        Settings inner(kind.settings());
        const auto pass = [&inner](const char* name, const std::string& value) {
            for (const Setting& declared : inner.declared()) {
                if (declared.name == name) inner.set(name, value);
            }
        };
        // Two cuts, each out of balance by f, are out of balance by (1 + f)^2 - 1 together.
        const double both = settings.number("imbalance");
        pass("imbalance", std::to_string(std::sqrt(1 + both) - 1));
        pass("seed", settings.text("seed"));
        inner_ = kind.make(inner);
    }

    std::string library() const override { return inner_->library(); }

    Parts make_parts(const DataGraph& graph, const WorkerGrid& grid,
                     std::span<const double> speeds) const override {
        std::vector<double> of_node;
        for (std::size_t first = 0; first < speeds.size(); first += grid.cores) {
            const auto cores = speeds.subspan(first, grid.cores);
            of_node.push_back(std::accumulate(cores.begin(), cores.end(), 0.0));
        }
        const Parts node_of = inner_->partition(graph, {grid.nodes, 1}, of_node);
        std::vector<std::vector<DatumIndex>> members(grid.nodes);
        for (DatumIndex datum = 0; datum < graph.data(); ++datum) members[node_of[datum]].push_back(datum);
        Parts part(graph.data());
        for (NodeId node = 0; node < grid.nodes; ++node) {
            const auto cores =
                speeds.empty() ? speeds : speeds.subspan(std::size_t{node} * grid.cores, grid.cores);
            const Parts core_of =
                inner_->partition(graph.restricted_to(members[node]), {grid.cores, 1}, cores);
            for (std::size_t i = 0; i < members[node].size(); ++i) {
                part[members[node][i]] = node * grid.cores + core_of[i];
            }
        }
        return part;
    }

private:
    std::string member_;
    std::unique_ptr<GraphPartitioner> inner_;
};

}  // namespace

std::vector<Setting> two_level_settings() {
    return {{"member",
             SettingKind::choice,
             "metis",
             "the member that makes both partitions",
             {"metis", "metis_recursive", "scotch", "block", "cyclic", "random"}},
            imbalance_setting(),
            seed_setting()};
}

std::unique_ptr<GraphPartitioner> make_two_level(const Settings& settings) {
    return std::make_unique<TwoLevel>(settings);
}

}  // namespace heddle::partitioners
