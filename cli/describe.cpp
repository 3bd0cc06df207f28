// Prints a platform as text and as JSON, for `heddle platform show`.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "cli/text_table.hpp"
#include "cli/worlds.hpp"
#include "configs/experiment.hpp"
#ifdef HEDDLE_SIM
#include "sim/platform_summary.hpp"
#endif

namespace heddle::cli {

#ifdef HEDDLE_SIM

namespace {

using Json = nlohmann::ordered_json;

/// One value, or from one to another where they differ.
template <class T, class Print>
std::string range(T least, T most, Print print) {
    return least == most ? print(least) : fmt::format("{} to {}", print(least), print(most));
}

std::string shape_in_words(const std::vector<std::uint32_t>& shape) {
    std::string words;
    for (const std::uint32_t extent : shape) words += fmt::format("{}{}", words.empty() ? "" : " x ", extent);
    return words;
}

/// A number, or a list over the number of cores that stream.
Json memory_json(const MemoryBandwidth& bandwidth) {
    const auto& by_streams = bandwidth.by_streams();
    return by_streams.size() == 1 ? Json(by_streams.front()) : Json(by_streams);
}

std::string memory_in_words(const sim::PlatformSummary& summary) {
    const auto& by_streams = summary.memory_bandwidth.by_streams();
    const char* const owner = summary.processes == 1 ? "node" : "machine";
    std::string words;
    std::string counts;
    for (std::size_t i = 0; i < by_streams.size(); ++i) {
        const char* const between = i == 0 ? "" : ", ";
        words += fmt::format("{}{}", between, print_bandwidth(by_streams[i]));
        counts += fmt::format("{}{}", between, i + 1);
    }
    words += fmt::format(" a {}", owner);
    if (by_streams.size() > 1) words += fmt::format(" while {} or more of its cores stream", counts);
    if (summary.core_memory_bandwidth != 0)
        words += fmt::format(", at most {} a core", print_bandwidth(summary.core_memory_bandwidth));
    return words;
}

Json json_of(const sim::PlatformSummary& summary) {
    return {
        {"topology", summary.topology},
        {"shape", summary.shape},
        {"nodes", summary.nodes},
        {"machines", summary.nodes / summary.processes},
        {"processes", summary.processes},
        {"shared_memory",
         {{"bandwidth", summary.shared_memory.bandwidth},
          {"latency_seconds", to_seconds(summary.shared_memory.latency)}}},
        {"cores", {{"min", summary.cores_min}, {"max", summary.cores_max}, {"total", summary.cores_total}}},
        {"core_speed", {{"min", summary.core_speed_min}, {"max", summary.core_speed_max}}},
        {"memory_bandwidth", memory_json(summary.memory_bandwidth)},
        {"core_memory_bandwidth", summary.core_memory_bandwidth},
        {"cache", {{"line", summary.cache.line}, {"bytes", summary.cache.bytes}}},
        {"disk",
         {{"bandwidth", summary.disk.bandwidth}, {"latency_seconds", to_seconds(summary.disk.latency)}}},
        {"groups", summary.groups},
        {"links", summary.links},
        {"pairs", summary.pairs},
        {"latency_seconds",
         {{"min", to_seconds(summary.latency_min)},
          {"mean", to_seconds(summary.latency_mean)},
          {"max", to_seconds(summary.latency_max)}}},
        {"bandwidth", {{"min", summary.bandwidth_min}, {"max", summary.bandwidth_max}}},
        {"hops_max", summary.hops_max},
        {"lookahead_seconds", to_seconds(summary.lookahead)},
        {"cost_model", summary.cost_model},
        {"notes", summary.notes}};
}

Json links_json(const sim::PlatformSummary& summary) {
    Json links = Json::array();
    for (const sim::NamedLink& link : summary.named_links) {
        links.push_back({{"name", link.name},
                         {"latency_seconds", to_seconds(link.latency)},
                         {"bandwidth", link.bandwidth}});
    }
    return links;
}

std::string links_text(const sim::PlatformSummary& summary) {
    std::vector<std::vector<std::string>> rows;
    for (const sim::NamedLink& link : summary.named_links)
        rows.push_back({"  " + link.name, print_time(link.latency), print_bandwidth(link.bandwidth)});
    return "its links are\n" + columns(rows, 3);
}

/// As a platform states it.
Json message_bytes_json(const std::vector<MessageBytes>& sizes) {
    Json list = Json::array();
    for (const MessageBytes& one : sizes)
        list.push_back({{"size", print_bytes(static_cast<double>(one.size))},
                        {"send", print_time(one.send)},
                        {"receive", print_time(one.receive)}});
    return list;
}

std::string message_bytes_text(const std::vector<MessageBytes>& sizes) {
    std::vector<std::vector<std::string>> rows = {{"  size", "send", "receive"}};
    for (const MessageBytes& one : sizes)
        rows.push_back({"  " + print_bytes(static_cast<double>(one.size)), print_time(one.send),
                        print_time(one.receive)});
    return "the bytes of messages cost, in place of message_send_kib and message_receive_kib\n" +
           columns(rows, 1);
}

std::string text_of(const sim::PlatformSummary& summary) {
    const std::string shape = shape_in_words(summary.shape);
    const auto count = [](std::uint64_t number) { return grouped(number); };
    const char* const owner = summary.processes == 1 ? "node" : "machine";
    std::vector<std::vector<std::string>> rows = {
        {"topology", shape.empty() ? summary.topology : fmt::format("{} ({})", summary.topology, shape)},
        {"nodes", grouped(summary.nodes)},
    };
    if (summary.processes > 1) {
        rows.push_back(
            {"machines", fmt::format("{} of {} nodes each", grouped(summary.nodes / summary.processes),
                                     summary.processes)});
        rows.push_back({"shared memory", fmt::format("{}, {} between two nodes of a machine",
                                                     print_time(summary.shared_memory.latency),
                                                     print_bandwidth(summary.shared_memory.bandwidth))});
    }
    rows.insert(rows.end(),
                {{"cores", fmt::format("{} each, {} in all",
                                       range<std::uint64_t>(summary.cores_min, summary.cores_max, count),
                                       grouped(summary.cores_total))},
                 {"core speed", range(summary.core_speed_min, summary.core_speed_max, print_flops)},
                 {"memory bandwidth", memory_in_words(summary)},
                 {"cache",
                  fmt::format("{} a core, lines of {}", print_bytes(static_cast<double>(summary.cache.bytes)),
                              print_bytes(static_cast<double>(summary.cache.line)))},
                 {"disk", fmt::format("{} a {}, {} a call", print_bandwidth(summary.disk.bandwidth), owner,
                                      print_time(summary.disk.latency))},
                 {"groups", grouped(summary.groups)},
                 {"links", grouped(summary.links)}});
    if (summary.pairs > 0) {
        rows.push_back(
            {"latency", range(summary.latency_min, summary.latency_max, print_time) +
                            fmt::format(", {} on average", show_seconds(to_seconds(summary.latency_mean)))});
        rows.push_back({"bandwidth", range(summary.bandwidth_min, summary.bandwidth_max, print_bandwidth)});
        rows.push_back({"longest route", fmt::format("{} links", summary.hops_max)});
        rows.push_back({"lookahead", print_time(summary.lookahead)});
    }
    rows.push_back({"cost model", summary.cost_model});
    for (const std::string& note : summary.notes) rows.push_back({"note", note});
    return columns(rows, 2);
}

}  // namespace

std::string describe_platform(const Platform& platform, bool json, bool links) {
    const sim::PlatformSummary summary = sim::describe(platform, links);
    const auto overheads = configs::overheads_by_name(platform.overheads);
    const std::vector<MessageBytes>& message_bytes = platform.overheads.message_bytes;
    if (json) {
        Json object = json_of(summary);
        for (const auto& [name, time] : overheads) object["overheads"][name] = print_time(time);
        if (!message_bytes.empty()) object["overheads"]["message_bytes"] = message_bytes_json(message_bytes);
        if (links) object["named_links"] = links_json(summary);
        return object.dump(2) + "\n";
    }
    std::vector<std::vector<std::string>> costs;
    costs.reserve(overheads.size());
    for (const auto& [name, time] : overheads) costs.push_back({"  " + name, print_time(time)});
    return text_of(summary) + "each operation of the scheduler costs\n" + columns(costs, 1) +
           (message_bytes.empty() ? "" : message_bytes_text(message_bytes)) +
           (links ? links_text(summary) : "");
}

#else

std::string describe_platform(const Platform& platform, bool /*json*/, bool /*links*/) {
    throw Error("this heddle was built without simulation, which builds platforms",
                "build it with -DHEDDLE_SIM=ON, which needs SimGrid", platform.where);
}

#endif

}  // namespace heddle::cli
