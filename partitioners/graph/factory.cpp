// Lists all graph partitioners by name, and makes the one that a caller names.
#include "partitioners/graph/members.hpp"

namespace heddle::partitioners {

Setting imbalance_setting() {
    return {"imbalance", SettingKind::number, "0.03", "how much more than the mean a part may have", {}, 0,
            1000};
}

Setting seed_setting() {
    return {"seed", SettingKind::integer, "1", "of the random choices", {}, 0, integer_max};
}

const std::vector<GraphPartitionerKind>& graph_partitioners() {
    static const std::vector<GraphPartitionerKind> kinds = {
        {"metis", "METIS, all parts at once: the usual choice", metis_kway_settings, make_metis_kway},
        {"metis_recursive", "METIS, halves of halves: better for few parts", metis_recursive_settings,
         make_metis_recursive},
        {"scotch", "Scotch, all parts equally far from each other", scotch_settings, make_scotch},
        {"scotch_map", "Scotch, onto the tree of nodes and cores, where nodes are far apart", scotch_settings,
         make_scotch_map},
        {"two_level", "another member, nodes first, then cores", two_level_settings, make_two_level},
        {"block", "runs of neighbouring data with equal work", no_settings, make_block_graph},
        {"cyclic", "datum after datum to part after part", no_settings, make_cyclic_graph},
        {"random", "shuffled and dealt: equal counts, no locality", random_settings, make_random_graph},
    };
    return kinds;
}

const GraphPartitionerKind& graph_partitioner_named(const std::string& name) {
    std::vector<std::string> names;
    for (const GraphPartitionerKind& kind : graph_partitioners()) {
        if (kind.name == name) return kind;
        names.push_back(kind.name);
    }
    throw Error("unknown partitioner \"" + name + "\"", nearest_advice(name, names));
}

std::unique_ptr<GraphPartitioner> make_graph_partitioner(const std::string& name, const Settings& settings) {
    return graph_partitioner_named(name).make(settings);
}

std::unique_ptr<GraphPartitioner> make_graph_partitioner(const std::string& name) {
    const GraphPartitionerKind& kind = graph_partitioner_named(name);
    return kind.make(Settings(kind.settings()));
}

}  // namespace heddle::partitioners
