// Parses JSON with a limit of how deep its values are nested.
#include "results/result_json.hpp"

#include <nlohmann/json.hpp>

namespace heddle::results {

nlohmann::ordered_json parse_result(const std::string& text) {
    using Json = nlohmann::ordered_json;
    constexpr int depth_max = 100;
    bool deep = false;
    const auto take = [&deep](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
        deep = deep || depth > depth_max;
        return !deep;
    };
    Json json = Json::parse(text, take, false);
    return deep ? Json(Json::value_t::discarded) : json;
}

}  // namespace heddle::results
