// Reads mean costs of kernels from a table or from StarPU's files, and draws a cost for each task.
#include "graphs/kernel_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

#include "base/settings.hpp"
#include "graphs/source_text.hpp"

namespace heddle::graphs {

namespace {

/// Box and Muller 1958.
double normal(Random random) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

}  // namespace

KernelTable read_kernel_costs(const std::string& path) {
    const SourceText source = SourceText::read(path);
    Lines lines(source);
    KernelTable table;
    if (!lines.next_filled('#'))
        source.refuse(0, "the file is empty", "it begins with: kernel, mean, deviation");
    Words header = lines.words(",");
    for (const char* column : {"kernel", "mean", "deviation"}) {
        if (header.word(column) != column)
            source.refuse(lines.line(), fmt::format("expected the column {}", column),
                          "the file begins with: kernel, mean, deviation");
    }
    header.expect_end("deviation");
    while (lines.next_filled('#')) {
        Words words = lines.words(",");
        const std::string kernel(words.word("a kernel"));
        const double mean = words.weight(fmt::format("the mean of {}", kernel));
        const double deviation = words.weight(fmt::format("the deviation of {}", kernel));
        words.expect_end(fmt::format("the deviation of {}", kernel));
        if (!table.emplace(kernel, KernelCost{mean, deviation}).second) {
            source.refuse(lines.line(), fmt::format("kernel {} appears twice", kernel));
        }
    }
    return table;
}

KernelCost read_starpu_cost(const std::string& path, std::size_t architecture, std::uint64_t bytes) {
    const SourceText source = SourceText::read(path);
    Lines lines(source);
    std::size_t tables = 0;
    std::set<std::uint64_t> sizes;
    bool inside = false;
    while (lines.next()) {
        const std::string_view text = trimmed(lines.text());
        if (text.starts_with('#')) {
            inside = text.starts_with("# hash");
            tables += inside;
            continue;
        }
        if (!inside || text.empty() || tables != architecture + 1) continue;
        Words words = lines.words();
        words.word("a hash");
        const std::uint64_t size = words.count("a size", std::uint64_t{1} << 62);
        words.weight("flops");
        const double mean = words.weight("a mean"), deviation = words.weight("a deviation");
        if (size == bytes) return {mean * 1e-6, deviation * 1e-6};
        sizes.insert(size);
    }
    if (tables <= architecture) {
        source.refuse(0, fmt::format("architecture {} was not measured", architecture),
                      fmt::format("the file has {}, counted from 0", tables));
    }
    source.refuse(0, fmt::format("data of {} bytes were not measured", bytes),
                  fmt::format("measured: {}", fmt::join(sizes, ", ")));
}

GraphFile with_kernel_costs(GraphFile file, const KernelTable& table, double flops_per_second,
                            const Random& random) {
    if (file.kernel_of.empty())
        throw Error("the graph does not say which kernel a task runs", "costs by kernel need their names");
    std::vector<KernelCost> costs;
    for (const std::string& kernel : file.kernels) {
        const auto found = table.find(kernel);
        if (found == table.end()) {
            std::vector<std::string> known;
            for (const auto& [name, cost] : table) known.push_back(name);
            throw Error(fmt::format("the table of costs lacks the kernel \"{}\"", kernel),
                        nearest_advice(kernel, known));
        }
        costs.push_back(found->second);
    }
    const TaskGraph& graph = file.graph;
    TaskGraphBuilder builder;
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        const KernelCost& cost = costs[file.kernel_of[task]];
        const double deviate =
            cost.deviation_seconds == 0 ? 0 : std::clamp(normal(random.split(task)), -3.0, 3.0);
        const double seconds =
            std::max(cost.mean_seconds / 20, cost.mean_seconds + deviate * cost.deviation_seconds);
        const std::string name = graph.name(task);
        builder.add_task(seconds * flops_per_second,
                         name == fmt::format("task {}", task) ? std::string() : name);
    }
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        for (const TaskGraph::Link& link : graph.successors(task))
            builder.add_edge(task, link.task, link.bytes);
    }
    file.graph = builder.build();
    file.costs.clear();  // one cost for every processor
    file.unit = WorkUnit::flops;
    return file;
}

}  // namespace heddle::graphs
