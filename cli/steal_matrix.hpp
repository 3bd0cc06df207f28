// Prints a table of how many tasks each node stole from each other node.
#pragma once

#include <string>

#include "results/record.hpp"

namespace heddle::cli {

/// Tasks stolen between nodes, a row for each thief and a column for each victim. If there are more nodes
/// than fit a screen, the nodes of a group of the network (a switch, a row) share a row and a column; if
/// there are more groups than fit, so do equally many consecutive nodes. Empty for one node.
std::string steal_matrix(const results::Record& record);

}  // namespace heddle::cli
