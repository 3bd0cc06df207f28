// Lists all algorithms of collective operations by name.
#include "model/spmd/algorithm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd {

namespace {

using namespace algorithms;

const std::vector<Algorithm> table = {
    {Operation::barrier, "dissemination", "in round k each rank signals the one 2^k after it", false,
     barrier_dissemination<2>},
    {Operation::barrier, "dissemination_4", "in round k each rank signals the three j 4^k after it", false,
     barrier_dissemination<4>},
    {Operation::barrier, "dissemination_8", "in round k each rank signals the seven j 8^k after it", false,
     barrier_dissemination<8>},
    {Operation::barrier, "two_level", "groups of near ranks signal to leaders, which meet and release them",
     false, barrier_levels<2>, false, 2},
    {Operation::barrier, "three_level", "the same with groups of groups", false, barrier_levels<3>, false, 3},
    {Operation::broadcast, "binomial", "a rank sends to ranks at halving distances: small arrays", false,
     broadcast_knomial<2>},
    {Operation::broadcast, "knomial_4", "a tree of radix 4: three children at each distance", false,
     broadcast_knomial<4>},
    {Operation::broadcast, "knomial_8", "a tree of radix 8", false, broadcast_knomial<8>},
    {Operation::broadcast, "flat", "the root sends to each rank", false, broadcast_flat, true},
    {Operation::broadcast, "chain", "each rank sends to the next one, the whole array", false,
     broadcast_chain},
    {Operation::broadcast, "pipeline", "a chain in segments", false, broadcast_pipeline},
    {Operation::broadcast, "scatter_allgather", "a binomial scatter, then a ring: large arrays", false,
     broadcast_scatter_allgather},
    {Operation::broadcast, "scatter_doubling", "a binomial scatter, then parts at doubling distances", false,
     broadcast_scatter_doubling<2>},
    {Operation::broadcast, "scatter_doubling_4", "the same with a scatter of radix 4", false,
     broadcast_scatter_doubling<4>},
    {Operation::broadcast, "scatter_doubling_8", "the same with a scatter of radix 8", false,
     broadcast_scatter_doubling<8>},
    {Operation::broadcast, "two_level",
     "a tree of one leader of each group of near ranks, then trees in the groups", false,
     broadcast_levels<2, broadcast_knomial<2>>, false, 2},
    {Operation::broadcast, "two_level_scatter", "leaders by scatter_doubling, then trees in the groups",
     false, broadcast_levels<2, broadcast_scatter_doubling<2>>, false, 2},
    {Operation::broadcast, "two_level_leaders_2", "two leaders of each group, each for a part of the array",
     false, broadcast_leaders<2>, false, 2},
    {Operation::broadcast, "two_level_leaders_4", "four leaders of each group", false, broadcast_leaders<4>,
     false, 2},
    {Operation::broadcast, "two_level_leaders_8", "eight leaders of each group", false, broadcast_leaders<8>,
     false, 2},
    {Operation::broadcast, "three_level", "trees among groups of groups, groups and ranks", false,
     broadcast_levels<3, broadcast_knomial<2>>, false, 3},
    {Operation::reduce, "binomial", "a binomial tree that ends at the root", true, reduce_knomial<2>},
    {Operation::reduce, "knomial_4", "a tree of radix 4 that ends at the root", true, reduce_knomial<4>},
    {Operation::reduce, "knomial_8", "a tree of radix 8 that ends at the root", true, reduce_knomial<8>},
    {Operation::reduce, "binomial_in_order", "a binomial tree that ends at rank 0, which sends to the root",
     false, reduce_binomial_in_order},
    {Operation::reduce, "rabenseifner",
     "halving exchanges combine parts, the root gathers them: large arrays", false, reduce_rabenseifner},
    {Operation::reduce, "two_level", "trees in groups of near ranks, then a tree of their leaders", true,
     reduce_levels<2>, false, 2},
    {Operation::reduce, "three_level", "the same with groups of groups", true, reduce_levels<3>, false, 3},
    {Operation::all_reduce, "recursive_doubling", "pairs at doubling distances exchange all: small arrays",
     false, all_reduce_recursive_doubling},
    {Operation::all_reduce, "rabenseifner", "halving exchanges combine parts, doubling ones gather them",
     false, all_reduce_rabenseifner},
    {Operation::all_reduce, "ring", "a ring combines parts, and another round gathers them: large arrays",
     true, all_reduce_ring},
    {Operation::all_reduce, "reduce_broadcast", "a binomial tree to rank 0, and back", false,
     all_reduce_reduce_broadcast<2>},
    {Operation::all_reduce, "reduce_broadcast_4", "a tree of radix 4 to rank 0, and back", false,
     all_reduce_reduce_broadcast<4>},
    {Operation::all_reduce, "reduce_broadcast_8", "a tree of radix 8 to rank 0, and back", false,
     all_reduce_reduce_broadcast<8>},
    {Operation::all_reduce, "two_level",
     "trees to a leader of each group of near ranks, doubling among leaders, and back", false,
     all_reduce_levels<2, all_reduce_recursive_doubling>, false, 2},
    {Operation::all_reduce, "two_level_rabenseifner",
     "the same with halving and doubling among leaders: large arrays", false,
     all_reduce_levels<2, all_reduce_rabenseifner>, false, 2},
    {Operation::all_reduce, "two_level_leaders_2", "two leaders of each group, each for a part of the array",
     false, all_reduce_leaders<2>, false, 2},
    {Operation::all_reduce, "two_level_leaders_4", "four leaders of each group", false, all_reduce_leaders<4>,
     false, 2},
    {Operation::all_reduce, "two_level_leaders_8", "eight leaders of each group", false,
     all_reduce_leaders<8>, false, 2},
    {Operation::all_reduce, "three_level", "two_level with groups of groups", false,
     all_reduce_levels<3, all_reduce_recursive_doubling>, false, 3},
    {Operation::all_reduce, "three_level_rabenseifner", "two_level_rabenseifner with groups of groups", false,
     all_reduce_levels<3, all_reduce_rabenseifner>, false, 3},
    {Operation::reduce_scatter, "recursive_halving", "pairs at halving distances exchange halves", true,
     reduce_scatter_recursive_halving},
    {Operation::reduce_scatter, "ring", "blocks go around the ring and are combined on their way", true,
     reduce_scatter_ring},
    {Operation::reduce_scatter, "two_level",
     "trees combine in groups of near ranks, a ring of their leaders, and leaders scatter", true,
     reduce_scatter_levels<2>, false, 2},
    {Operation::reduce_scatter, "three_level", "the same with groups of groups", true,
     reduce_scatter_levels<3>, false, 3},
    {Operation::scan, "recursive_doubling", "in round k each rank sends to the one 2^k after it", false,
     scan_recursive_doubling},
    {Operation::scan, "chain", "each rank sends to the next one", false, scan_chain},
    {Operation::scan, "two_level",
     "in groups of near ranks, then the sums of groups, spread in the next ones", false, scan_levels<2>,
     false, 2},
    {Operation::scan, "three_level", "the same with groups of groups", false, scan_levels<3>, false, 3},
    {Operation::gather, "binomial", "subtrees gather their blocks", false, gather_knomial<2>},
    {Operation::gather, "knomial_4", "the same in a tree of radix 4", false, gather_knomial<4>},
    {Operation::gather, "knomial_8", "the same in a tree of radix 8", false, gather_knomial<8>},
    {Operation::gather, "two_level", "trees in groups of near ranks, then a tree of their leaders", false,
     gather_levels<2>, false, 2},
    {Operation::gather, "three_level", "the same with groups of groups", false, gather_levels<3>, false, 3},
    {Operation::scatter, "binomial", "a rank sends the blocks of subtrees", false, scatter_knomial<2>},
    {Operation::scatter, "knomial_4", "the same in a tree of radix 4", false, scatter_knomial<4>},
    {Operation::scatter, "knomial_8", "the same in a tree of radix 8", false, scatter_knomial<8>},
    {Operation::scatter, "two_level", "a tree of the leaders of groups of near ranks, then trees in groups",
     false, scatter_levels<2>, false, 2},
    {Operation::scatter, "three_level", "the same with groups of groups", false, scatter_levels<3>, false, 3},
    {Operation::all_gather, "bruck", "in round k a rank sends all it has 2^k ranks back: small blocks", false,
     all_gather_bruck},
    {Operation::all_gather, "recursive_doubling", "pairs at doubling distances exchange what they have",
     false, all_gather_recursive_doubling},
    {Operation::all_gather, "ring", "blocks go around the ring: large blocks", false, all_gather_ring},
    {Operation::all_gather, "gather_broadcast", "a binomial tree to rank 0, and back", false,
     all_gather_gather_broadcast<2>},
    {Operation::all_gather, "gather_broadcast_4", "a tree of radix 4 to rank 0, and back", false,
     all_gather_gather_broadcast<4>},
    {Operation::all_gather, "gather_broadcast_8", "a tree of radix 8 to rank 0, and back", false,
     all_gather_gather_broadcast<8>},
    {Operation::all_gather, "two_level",
     "leaders gather the blocks of groups of near ranks, exchange them, and spread all", false,
     all_gather_levels<2>, false, 2},
    {Operation::all_gather, "three_level", "the same with groups of groups", false, all_gather_levels<3>,
     false, 3},
    {Operation::all_to_all, "pairwise", "in each round every rank exchanges with one other", false,
     all_to_all_pairwise, true},
    {Operation::all_to_all, "ring", "in round k a rank sends to the one k after it", false, all_to_all_ring,
     true},
    {Operation::all_to_all, "bruck", "blocks hop by powers of two, many in a message: small blocks", false,
     all_to_all_bruck<2>},
    {Operation::all_to_all, "bruck_4", "blocks hop by powers of four", false, all_to_all_bruck<4>},
    {Operation::all_to_all, "bruck_8", "blocks hop by powers of eight", false, all_to_all_bruck<8>},
    {Operation::all_to_all, "two_level",
     "leaders collect the blocks of groups of near ranks, exchange them, and deal them out", false,
     all_to_all_levels<2>, false, 2},
    {Operation::all_to_all, "three_level", "the same with groups of groups", false, all_to_all_levels<3>,
     false, 3},
};

}  // namespace

const char* name_of(Operation operation) {
    switch (operation) {
        case Operation::barrier:
            return "barrier";
        case Operation::broadcast:
            return "broadcast";
        case Operation::reduce:
            return "reduce";
        case Operation::all_reduce:
            return "all_reduce";
        case Operation::reduce_scatter:
            return "reduce_scatter";
        case Operation::scan:
            return "scan";
        case Operation::gather:
            return "gather";
        case Operation::scatter:
            return "scatter";
        case Operation::all_gather:
            return "all_gather";
        case Operation::all_to_all:
            return "all_to_all";
    }
    return "no operation";
}

bool has_root(Operation operation) {
    return operation == Operation::broadcast || operation == Operation::reduce ||
           operation == Operation::gather || operation == Operation::scatter;
}

bool combines(Operation operation) {
    return operation == Operation::reduce || operation == Operation::all_reduce ||
           operation == Operation::reduce_scatter || operation == Operation::scan;
}

const std::vector<Algorithm>& all_algorithms() {
    return table;
}

const Algorithm& find_algorithm(Operation operation, std::string_view name) {
    std::string known;
    for (const Algorithm& algorithm : table) {
        if (algorithm.operation != operation) continue;
        if (name.empty() || algorithm.name == name) return algorithm;
        known += (known.empty() ? "" : ", ") + algorithm.name;
    }
    throw Error(fmt::format("{} has no algorithm \"{}\"", name_of(operation), name),
                "choose one of: " + known + "; or auto");
}

}  // namespace heddle::spmd
