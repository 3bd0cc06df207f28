// Shared by the graph generators: settings for weights and shapes, and a builder that draws weights and notes
// kernels and data. Each family of graphs has a file of its own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/settings.hpp"
#include "graphs/graph_file.hpp"

namespace heddle::graphs {

/// A whole number from `least` to 10^9, the most tasks of a graph.
Setting count_setting(const std::string& name, const std::string& initial, const std::string& help,
                      double least = 1);

/// `flops`, `bytes`, `spread` and `seed`: the mean weights of tasks and edges, and how far each may lie from
/// them.
std::vector<Setting> weight_settings();

/// `more`, then the weight settings.
std::vector<Setting> with_weights(std::vector<Setting> more);

/// A count setting's value.
std::uint32_t count(const Settings& settings, const std::string& name);

/// Throws Error at the place of `name`.
[[noreturn]] void refuse(const Settings& settings, const std::string& name, const std::string& message);

/// How many of each a graph has at least.
struct GraphSize {
    double tasks = 0;
    double edges = 0;
    double costs = 0;  ///< of a task on a processor
};

/// Throws Error where a graph would have more tasks or edges than a graph can, or where it would not fit into
/// memory. Its place is the largest of the count settings `names`, which together make the size.
void need_room(const Settings& settings, std::initializer_list<const char*> names, const GraphSize& size);

/// Tasks and edges with weights drawn evenly from mean * (1 - spread) to mean * (1 + spread). Each weight has
/// its own random stream: that of task or edge number n does not depend on the others.
class Assembly {
public:
    explicit Assembly(const Settings& settings);

    TaskIndex task(std::string name = {}) { return task(0, std::move(name)); }
    TaskIndex task(std::uint16_t kernel, std::string name);
    void edge(TaskIndex from, TaskIndex to);

    /// The datum that each task writes, in the order of the tasks.
    void writes(DatumIndex datum);

    Random random() const { return seed_.split(2); }  ///< for shapes
    TaskIndex tasks() const { return tasks_; }

    /// `kernels`: the names of the kernel numbers; empty where there is one kind only.
    GraphFile build(std::vector<std::string> kernels = {});

private:
    double drawn(double mean, std::uint64_t stream, std::uint64_t number) const;

    Random seed_;
    double flops_;
    double bytes_;
    double spread_;
    TaskIndex tasks_ = 0;
    std::uint64_t edges_ = 0;
    TaskGraphBuilder builder_;
    GraphFile result_;
};

}  // namespace heddle::graphs
