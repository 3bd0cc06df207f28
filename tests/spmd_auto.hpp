// For tests of `auto`: simulated cells (operation, size, nodes, network) that compare its choice with each
// algorithm, and operations with each other. They have the overheads of a platform that states none.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/spmd_timed.hpp"

namespace heddle::spmd::testing_spmd {

struct NamedNetwork {
    const char* name;
    double bandwidth;
    Time latency;
    heddle::Network::Topology topology = heddle::Network::Topology::star;
    const char* file = "";  ///< in place of all that, in configs/platforms/
};
inline const NamedNetwork networks_of_cells[] = {
    {"100G", 12.5e9, std::chrono::microseconds(1)},
    {"1G", 125e6, std::chrono::microseconds(20)},
    {"tree", 3e9, std::chrono::nanoseconds(500), heddle::Network::Topology::fat_tree}};

/// Three clusters of eight nodes. Every two are joined by a line of 1 Gb/s and 10 ms.
inline const NamedNetwork wide_area{"wide area", 0, {}, {}, "three_clusters.xml"};

struct Cell {
    NamedNetwork network;
    Operation operation = Operation::barrier;
    NodeId nodes = 1;
    Index count = 0;
    CoreId cores = 1;

    std::string text() const {
        return fmt::format("{} of {} elements on {} nodes of {} cores, {}", name_of(operation), count, nodes,
                           cores, network.name);
    }
    Platform platform() const {
        Platform platform;
        platform.nodes = nodes;
        platform.cores = cores;
        platform.overheads = Overheads::defaults();
        if (*network.file) {
            platform.file = std::string(HEDDLE_SOURCE_DIR "/configs/platforms/") + network.file;
            return platform;
        }
        platform.network.bandwidth = network.bandwidth;
        platform.network.latency = network.latency;
        platform.network.topology = network.topology;
        complete(platform);
        return platform;
    }
    double seconds(const std::string& algorithm) const {
        Algorithm named = find_algorithm(operation, "");
        named.name = algorithm;
        return timed(named, {operation, nodes, 0, count, 1, true}, platform()).seconds;
    }
    /// The time of `auto`, as a multiple of the best algorithm's.
    double loss() const {
        double best = 1e300;
        std::string which;
        for (const Algorithm& algorithm : all_algorithms()) {
            if (algorithm.operation != operation || (algorithm.levels > 1 && !*network.file)) continue;
            const double each = seconds(algorithm.name);
            if (each < best) which = algorithm.name;
            best = std::min(best, each);
        }
        const double loss = seconds("auto") / best;
        if (loss > 1.1) std::printf("%s: %.2f times %s\n", text().c_str(), loss, which.c_str());
        return loss;
    }
};

inline std::vector<Cell> cells(const std::vector<NodeId>& nodes, const std::vector<Index>& counts,
                               CoreId cores = 1) {
    std::vector<Cell> all;
    for (const NamedNetwork& network : networks_of_cells)
        for (const Operation operation :
             {Operation::broadcast, Operation::reduce, Operation::all_reduce, Operation::reduce_scatter,
              Operation::scan, Operation::all_gather, Operation::all_to_all})
            for (const NodeId count_of_nodes : nodes)
                for (const Index count : counts)
                    all.push_back({network, operation, count_of_nodes, count, cores});
    return all;
}

/// The part of the cells in which `auto` takes at most 1.1 times the best algorithm's time.
inline double part_near_best(const std::vector<Cell>& all) {
    const auto near = std::ranges::count_if(all, [](const Cell& cell) { return cell.loss() <= 1.1; });
    return static_cast<double>(near) / static_cast<double>(all.size());
}

/// Traeff, Gropp, Thakur: "Self-consistent MPI performance guidelines", 2010: an operation takes at most the
/// time of those that it can be made of. Where few messages are under way it is a little more, because ranks
/// that are done with the first of the two run ahead: what they send shares a link with what is late. The
/// bounds are what is reached there; elsewhere it is 1.05.
inline void expect_guidelines(NodeId nodes, Index count) {
    const auto seconds = [&](const NamedNetwork& network, Operation operation, Index of) {
        return Cell{network, operation, nodes, of}.seconds("auto");
    };
    for (const NamedNetwork& network : networks_of_cells) {
        const Index all = count * nodes;
        const double broadcast = seconds(network, Operation::broadcast, all);
        const double all_gather = seconds(network, Operation::all_gather, count);
        EXPECT_LE(seconds(network, Operation::all_reduce, all),
                  1.08 * (seconds(network, Operation::reduce, all) + broadcast))
            << network.name << ", " << nodes << " nodes, " << all;
        EXPECT_LE(broadcast, 1.15 * (seconds(network, Operation::scatter, count) + all_gather))
            << network.name << ", " << nodes << " nodes, " << all;
        EXPECT_LE(all_gather, 1.09 * (seconds(network, Operation::gather, count) + broadcast))
            << network.name << ", " << nodes << " nodes, " << all;
    }
}

}  // namespace heddle::spmd::testing_spmd
