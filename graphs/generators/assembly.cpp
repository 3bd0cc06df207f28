// Draws the weights of a generated graph from its seed, and builds it.
#include "graphs/generators/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/memory_need.hpp"

namespace heddle::graphs {

namespace {

constexpr double count_max = 1e9;  // tasks of a graph are numbered in 32 bits
constexpr double edges_max = 4e9;

// While a graph is built, its edges are there as they came and as links of both their tasks.
constexpr double bytes_per_task = 48, bytes_per_edge = 56, bytes_per_cost = 8;

}  // namespace

Setting count_setting(const std::string& name, const std::string& initial, const std::string& help,
                      double least) {
    return {name, SettingKind::integer, initial, help, {}, least, count_max};
}

std::vector<Setting> weight_settings() {
    return {
        {"flops", SettingKind::flops, "1Mf", "mean work of a task", {}, 0, flops_max},
        {"bytes", SettingKind::bytes, "10kB", "mean weight of an edge", {}, 0, 1e15},
        {"spread",
         SettingKind::number,
         "0",
         "how far weights lie from the mean: 0.5 is from half to one and a half",
         {},
         0,
         1},
        {"seed", SettingKind::integer, "1", "of the random choices", {}, 0, integer_max},
    };
}

std::vector<Setting> with_weights(std::vector<Setting> more) {
    for (Setting& setting : weight_settings()) more.push_back(std::move(setting));
    return more;
}

std::uint32_t count(const Settings& settings, const std::string& name) {
    return settings.integer<std::uint32_t>(name);
}

void refuse(const Settings& settings, const std::string& name, const std::string& message) {
    throw Error(message, {}, settings.where(name));
}

void need_room(const Settings& settings, std::initializer_list<const char*> names, const GraphSize& size) {
    const std::string largest =
        *std::ranges::max_element(names, {}, [&settings](const char* name) { return count(settings, name); });
    if (size.tasks > count_max)
        refuse(settings, largest, fmt::format("the graph would have more than {:.0f} tasks", count_max));
    if (size.edges > edges_max)
        refuse(settings, largest, fmt::format("the graph would have more than {:.0f} edges", edges_max));
    const double bytes =
        bytes_per_task * size.tasks + bytes_per_edge * size.edges + bytes_per_cost * size.costs;
    const std::string costs =
        size.costs > 0 ? fmt::format(", with {:.0f} costs on processors,", size.costs) : "";
    need_memory(bytes, fmt::format("{:.0f} tasks and {:.0f} edges{}", size.tasks, size.edges, costs),
                fmt::format("lower {}", largest), settings.where(largest));
}

Assembly::Assembly(const Settings& settings)
    : seed_(settings.integer<std::uint64_t>("seed")),
      flops_(settings.number("flops")),
      bytes_(settings.number("bytes")),
      spread_(settings.number("spread")) {}

double Assembly::drawn(double mean, std::uint64_t stream, std::uint64_t number) const {
    if (spread_ == 0) return mean;
    return mean * (1 + spread_ * (2 * seed_.split(stream).split(number).uniform() - 1));
}

TaskIndex Assembly::task(std::uint16_t kernel, std::string name) {
    builder_.add_task(drawn(flops_, 0, tasks_), std::move(name));
    result_.kernel_of.push_back(kernel);
    return tasks_++;
}

void Assembly::edge(TaskIndex from, TaskIndex to) {
    builder_.add_edge(from, to, drawn(bytes_, 1, edges_++));
}

void Assembly::writes(DatumIndex datum) {
    result_.writes.push_back(datum);
    result_.data = std::max(result_.data, datum + 1);
}

GraphFile Assembly::build(std::vector<std::string> kernels) {
    result_.graph = builder_.build();
    result_.kernels = std::move(kernels);
    if (result_.kernels.empty()) result_.kernel_of.clear();
    return std::move(result_);
}

}  // namespace heddle::graphs
