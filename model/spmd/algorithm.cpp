// The table of all algorithms.
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
     barrier_dissemination},
    {Operation::broadcast, "binomial", "a rank sends to ranks at halving distances: small arrays", false,
     broadcast_binomial},
    {Operation::broadcast, "flat", "the root sends to each rank", false, broadcast_flat, true},
    {Operation::broadcast, "chain", "each rank sends to the next one, the whole array", false,
     broadcast_chain},
    {Operation::broadcast, "pipeline", "a chain in segments", false, broadcast_pipeline},
    {Operation::broadcast, "scatter_allgather", "a binomial scatter, then a ring: large arrays", false,
     broadcast_scatter_allgather},
    {Operation::reduce, "binomial", "a binomial tree that ends at the root", true, reduce_binomial},
    {Operation::reduce, "binomial_in_order", "a binomial tree that ends at rank 0, which sends to the root",
     false, reduce_binomial_in_order},
    {Operation::all_reduce, "recursive_doubling", "pairs at doubling distances exchange all: small arrays",
     false, all_reduce_recursive_doubling},
    {Operation::all_reduce, "rabenseifner", "halving exchanges combine parts, doubling ones gather them",
     false, all_reduce_rabenseifner},
    {Operation::all_reduce, "ring", "a ring combines parts, and another round gathers them: large arrays",
     true, all_reduce_ring},
    {Operation::reduce_scatter, "recursive_halving", "pairs at halving distances exchange halves", true,
     reduce_scatter_recursive_halving},
    {Operation::reduce_scatter, "ring", "blocks go around the ring and are combined on their way", true,
     reduce_scatter_ring},
    {Operation::scan, "recursive_doubling", "in round k each rank sends to the one 2^k after it", false,
     scan_recursive_doubling},
    {Operation::scan, "chain", "each rank sends to the next one", false, scan_chain},
    {Operation::gather, "binomial", "subtrees gather their blocks", false, gather_binomial},
    {Operation::scatter, "binomial", "a rank sends the blocks of subtrees", false, scatter_binomial},
    {Operation::all_gather, "bruck", "in round k a rank sends all it has 2^k ranks back: small blocks", false,
     all_gather_bruck},
    {Operation::all_gather, "recursive_doubling", "pairs at doubling distances exchange what they have",
     false, all_gather_recursive_doubling},
    {Operation::all_gather, "ring", "blocks go around the ring: large blocks", false, all_gather_ring},
    {Operation::all_to_all, "pairwise", "in each round every rank exchanges with one other", false,
     all_to_all_pairwise, true},
    {Operation::all_to_all, "ring", "in round k a rank sends to the one k after it", false, all_to_all_ring,
     true},
    {Operation::all_to_all, "bruck", "blocks hop by powers of two, many in a message: small blocks", false,
     all_to_all_bruck},
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
