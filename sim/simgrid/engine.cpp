// States every setting of SimGrid's on its command line, also where it is SimGrid's own choice, so that a
// platform file cannot change it.
#include "sim/simgrid/engine.hpp"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include <simgrid/version.h>  // after the others, whose macros it uses

namespace heddle::sim {

namespace {

constexpr double lv08_latency = 13.01;
constexpr double lv08_bandwidth = 0.97;
constexpr double lv08_weight = 20537;
constexpr double lv08_window = 4194304;  // bytes

// Where links change, how wide they are is no part of how they are shared (weight-S): SimGrid takes links of
// the acknowledgements for links of the flow then, and aborts where that gets negative.
std::vector<std::string> command_line(const Platform& platform, double latency, Sharing sharing) {
    const Factors factor = factors(platform.network.cost_model);
    const bool lv08 = platform.network.cost_model == heddle::Network::CostModel::LV08;
    const double weight = lv08 && platform.link_events.empty() ? lv08_weight : 0;
#if SIMGRID_VERSION >= 33300
    const char* precision = "precision/timing";
    const char* work_precision = "precision/work-amount";
#else
    const char* precision = "surf/precision";
    const char* work_precision = "maxmin/precision";
#endif
    return {
        "heddle",
        "--cfg=network/model:CM02",
        fmt::format("--cfg=network/latency-factor:{}", latency * factor.latency),
        fmt::format("--cfg=network/bandwidth-factor:{}", factor.bandwidth),
        fmt::format("--cfg=network/weight-S:{}", weight),
        fmt::format("--cfg=network/TCP-gamma:{}", factor.window),
        fmt::format("--cfg=network/crosstraffic:{}", lv08 ? "yes" : "no"),
        sharing == Sharing::changed ? "--cfg=network/optim:Lazy" : "--cfg=network/optim:Full",
        fmt::format("--cfg={}:1e-12", precision),
        fmt::format("--cfg={}:1e-5", work_precision),
        "--log=root.thresh:warning",
    };
}

}  // namespace

Factors factors(heddle::Network::CostModel cost_model) {
    if (cost_model == heddle::Network::CostModel::LV08)
        return {lv08_latency, lv08_bandwidth, lv08_window, false};
    return {};
}

simgrid::s4u::Engine* start_engine(const Platform& platform, double latency, Sharing sharing) {
    std::vector<std::string> words = command_line(platform, latency, sharing);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    auto count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    return simgrid::s4u::Engine::get_instance(&count, arguments.data());
}

}  // namespace heddle::sim
