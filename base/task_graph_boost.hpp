// Lets Boost.Graph's algorithms run on a TaskGraph without a copy. The vertices are tasks, and an edge is
// named by its place among a task's successors. Include it only where an algorithm is called.
#pragma once

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>
#include <cstddef>
#include <utility>

#include "base/task_graph.hpp"

namespace heddle {

/// One edge, as Boost.Graph names it.
struct GraphEdge {
    TaskIndex source = 0;
    TaskIndex target = 0;
    double bytes = 0;
    std::size_t place = 0;  ///< among the source's successors: tells parallel edges apart

    friend bool operator==(const GraphEdge& a, const GraphEdge& b) {
        return a.source == b.source && a.target == b.target && a.place == b.place;
    }
};

/// Which ways Boost.Graph may walk.
struct TaskGraphTraversal : public boost::incidence_graph_tag, public boost::vertex_list_graph_tag {};

class OutEdgeIterator : public boost::iterator_facade<OutEdgeIterator, GraphEdge,
                                                      boost::random_access_traversal_tag, GraphEdge> {
public:
    OutEdgeIterator() = default;
    OutEdgeIterator(const TaskGraph& graph, TaskIndex source, std::size_t place)
        : graph_(&graph), source_(source), place_(place) {}

private:
    friend class boost::iterator_core_access;

    GraphEdge dereference() const {
        const TaskGraph::Link& link = graph_->successors(source_)[place_];
        return {source_, link.task, link.bytes, place_};
    }
    bool equal(const OutEdgeIterator& other) const { return place_ == other.place_; }
    void increment() { ++place_; }
    void decrement() { --place_; }
    void advance(std::ptrdiff_t steps) { place_ += static_cast<std::size_t>(steps); }
    std::ptrdiff_t distance_to(const OutEdgeIterator& other) const {
        return static_cast<std::ptrdiff_t>(other.place_) - static_cast<std::ptrdiff_t>(place_);
    }

    const TaskGraph* graph_ = nullptr;
    TaskIndex source_ = 0;
    std::size_t place_ = 0;
};

// Boost.Graph finds these by argument-dependent look-up.
inline std::pair<OutEdgeIterator, OutEdgeIterator> out_edges(TaskIndex task, const TaskGraph& graph) {
    return {{graph, task, 0}, {graph, task, graph.successors(task).size()}};
}
inline std::size_t out_degree(TaskIndex task, const TaskGraph& graph) {
    return graph.successors(task).size();
}
inline TaskIndex source(const GraphEdge& edge, const TaskGraph&) {
    return edge.source;
}
inline TaskIndex target(const GraphEdge& edge, const TaskGraph&) {
    return edge.target;
}
inline std::pair<boost::counting_iterator<TaskIndex>, boost::counting_iterator<TaskIndex>> vertices(
    const TaskGraph& graph) {
    return {boost::counting_iterator<TaskIndex>(0), boost::counting_iterator<TaskIndex>(graph.tasks())};
}
inline std::size_t num_vertices(const TaskGraph& graph) {
    return graph.tasks();
}
inline boost::typed_identity_property_map<TaskIndex> get(boost::vertex_index_t, const TaskGraph&) {
    return {};
}

}  // namespace heddle

namespace boost {

template <>
struct graph_traits<heddle::TaskGraph> {
    using vertex_descriptor = heddle::TaskIndex;
    using edge_descriptor = heddle::GraphEdge;
    using directed_category = directed_tag;
    using edge_parallel_category = allow_parallel_edge_tag;
    using traversal_category = heddle::TaskGraphTraversal;
    using vertices_size_type = std::size_t;
    using edges_size_type = std::size_t;
    using degree_size_type = std::size_t;
    using vertex_iterator = counting_iterator<heddle::TaskIndex>;
    using out_edge_iterator = heddle::OutEdgeIterator;
    using adjacency_iterator = void;
    using in_edge_iterator = void;
    using edge_iterator = void;

    static vertex_descriptor null_vertex() { return static_cast<vertex_descriptor>(-1); }
};

template <>
struct property_map<heddle::TaskGraph, vertex_index_t> {
    using type = typed_identity_property_map<heddle::TaskIndex>;
    using const_type = type;
};

}  // namespace boost
