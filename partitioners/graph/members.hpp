// Declares every graph partitioner, for the factory, and the settings that several of them share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "partitioners/graph/graph_partitioner.hpp"

namespace heddle::partitioners {

std::vector<Setting> metis_kway_settings();
std::vector<Setting> metis_recursive_settings();
std::vector<Setting> scotch_settings();
std::vector<Setting> no_settings();
std::vector<Setting> random_settings();
std::vector<Setting> two_level_settings();

std::unique_ptr<GraphPartitioner> make_metis_kway(const Settings& settings);
std::unique_ptr<GraphPartitioner> make_metis_recursive(const Settings& settings);
std::unique_ptr<GraphPartitioner> make_scotch(const Settings& settings);
std::unique_ptr<GraphPartitioner> make_scotch_map(const Settings& settings);
std::unique_ptr<GraphPartitioner> make_two_level(const Settings& settings);
std::unique_ptr<GraphPartitioner> make_block_graph(const Settings& settings);
std::unique_ptr<GraphPartitioner> make_cyclic_graph(const Settings& settings);
std::unique_ptr<GraphPartitioner> make_random_graph(const Settings& settings);

/// How much more than the mean the largest part may have: 0.03 is three percent.
Setting imbalance_setting();
Setting seed_setting();

}  // namespace heddle::partitioners
