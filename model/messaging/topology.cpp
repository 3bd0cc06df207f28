// Computes the shapes of topologies (such as grids and tori): which places are neighbours.
#include <fmt/format.h>

#include "base/error.hpp"
#include "model/messaging/resources.hpp"

namespace heddle::messaging {

namespace {

using Place = Topology::Place;
using Shape = Topology::Shape;

Shape box(const std::vector<Place>& extents, bool closed) {
    Place places = 1;
    for (const Place extent : extents) places *= extent;
    Shape shape;
    shape.neighbours.resize(places);
    for (Place place = 0; place < places; ++place) {
        Place stride = places;
        for (const Place extent : extents) {
            stride /= extent;
            const Place at = place / stride % extent;
            const bool ring = closed && extent > 2;
            if (at != 0 || ring)
                shape.neighbours[place].push_back(at != 0 ? place - stride : place + (extent - 1) * stride);
            if (at != extent - 1 || ring)
                shape.neighbours[place].push_back(at != extent - 1 ? place + stride : place - at * stride);
        }
    }
    return shape;
}

}  // namespace

Shape Shape::ring(Place places) {
    return torus({places});
}

Shape Shape::grid(const std::vector<Place>& extents) {
    return box(extents, false);
}

Shape Shape::torus(const std::vector<Place>& extents) {
    return box(extents, true);
}

Shape Shape::tree(Place places, Place arity) {
    if (arity == 0) throw Error("a tree whose places have no children", "give it an arity of at least 1");
    Shape shape;
    shape.neighbours.resize(places);
    for (Place place = 1; place < places; ++place) shape.neighbours[place].push_back((place - 1) / arity);
    for (Place place = 1; place < places; ++place) shape.neighbours[(place - 1) / arity].push_back(place);
    return shape;
}

Shape Shape::graph(Place places, const std::vector<std::pair<Place, Place>>& edges) {
    Shape shape;
    shape.neighbours.resize(places);
    for (const auto& [a, b] : edges) {
        if (a >= places || b >= places)
            throw Error(fmt::format("an edge from {} to {} in a graph of {} places", a, b, places),
                        "places are numbered from 0");
        shape.neighbours[a].push_back(b);
        shape.neighbours[b].push_back(a);
    }
    return shape;
}

}  // namespace heddle::messaging
