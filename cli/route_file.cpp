// Converts a table of routes to JSON and back, and checks every number that it reads.
#include "cli/route_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace heddle::cli {

namespace {

using Json = nlohmann::ordered_json;

/// A whole number that a double holds exactly.
std::uint64_t whole(const graphs::JsonValue& value, const char* what, double most) {
    const double number = value.number(what);
    if (!(number >= 0 && number <= most && number == std::floor(number))) {
        throw Error(fmt::format("{} is {}", what, number),
                    fmt::format("expected a whole number from 0 to {}", most), value.where());
    }
    return static_cast<std::uint64_t>(number);
}

}  // namespace

Json routes_json(const RouteTable& routes) {
    const RouteTable::Plain plain = routes.plain();
    Json kinds = Json::array();
    for (const RouteTable::Route& kind : plain.kinds) {
        const double bandwidth = std::isfinite(kind.bandwidth) ? kind.bandwidth : 0;
        kinds.push_back({kind.latency.count(), bandwidth});
    }
    Json json = {{"nodes", plain.nodes}, {"kinds", kinds}};
    if (plain.rows.empty()) {
        json["below"] = plain.below;
    } else {
        json["rows"] = plain.rows;
    }
    return json;
}

std::shared_ptr<const RouteTable> routes_in(const graphs::JsonValue& value) {
    constexpr double nodes_max = std::numeric_limits<NodeId>::max();
    constexpr double exact_max = 9007199254740992.0;
    RouteTable::Plain plain;
    plain.nodes = static_cast<NodeId>(whole(value.at("nodes", "the routes"), "\"nodes\"", nodes_max));
    for (const graphs::JsonValue kind : value.at("kinds", "the routes")) {
        std::vector<graphs::JsonValue> parts;
        for (const graphs::JsonValue part : kind) parts.push_back(part);
        if (parts.size() != 2)
            throw Error("a kind of route is no pair", "expected [latency, bandwidth]", kind.where());
        const double bandwidth = parts[1].weight("a bandwidth");
        RouteTable::Route route{Time(static_cast<std::int64_t>(whole(parts[0], "a latency", exact_max)))};
        if (bandwidth > 0) route.bandwidth = bandwidth;
        plain.kinds.push_back(route);
    }
    if (const auto below = value.find("below")) {
        for (const graphs::JsonValue level : *below)
            plain.below.push_back(static_cast<NodeId>(whole(level, "a size", nodes_max)));
    }
    if (const auto rows = value.find("rows")) {
        for (const graphs::JsonValue row : *rows) {
            std::vector<std::uint32_t>& kinds = plain.rows.emplace_back();
            for (const graphs::JsonValue kind : row)
                kinds.push_back(static_cast<std::uint32_t>(whole(kind, "a kind", nodes_max)));
        }
    }
    try {
        return std::make_shared<RouteTable>(RouteTable::of(std::move(plain)));
    } catch (const Error& error) {
        throw error.at(value.where());
    }
}

}  // namespace heddle::cli
