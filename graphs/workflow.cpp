// Turns a workflow into a task graph: an edge leads from the task that writes a file to each task that reads
// it, and where a dependency or a transfer is stated.
#include "graphs/workflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace heddle::graphs {

std::uint32_t Workflow::intern(std::unordered_map<std::string, std::uint32_t>& index,
                               std::vector<std::string>& texts, std::string_view text) {
    const auto [found, is_new] =
        index.try_emplace(std::string(text), static_cast<std::uint32_t>(texts.size()));
    if (is_new) texts.emplace_back(text);
    return found->second;
}

TaskIndex Workflow::add_task(std::string_view id, std::string_view name, double runtime,
                             std::string_view kernel, int line) {
    const TaskIndex task = builder_.add_task(runtime * options_.flops_per_time_unit.value_or(1),
                                             std::string(id), source_.at(line));
    name_node(id, name, {task, false}, line);
    names_.emplace_back(id);
    const std::uint32_t kernel_number = intern(kernel_index_, result_.kernels, kernel);
    if (kernel_number > std::numeric_limits<std::uint16_t>::max()) {
        source_.refuse(line, "more than 65536 kinds of tasks");
    }
    result_.kernel_of.push_back(static_cast<std::uint16_t>(kernel_number));
    return task;
}

void Workflow::add_transfer(std::string_view id, std::string_view name, double bytes, int line) {
    name_node(id, name, {static_cast<std::uint32_t>(transfers_.size()), true}, line);
    transfers_.push_back({bytes, line});
}

void Workflow::name_node(std::string_view id, std::string_view name, Node node, int line) {
    if (!by_id_.emplace(id, node).second) {
        source_.refuse(line, fmt::format("two tasks are called {}", id),
                       "the identifier of a task is its own");
    }
    if (name.empty()) return;
    const auto [found, is_new] = by_name_.emplace(name, node);
    if (!is_new) found->second = several;
}

void Workflow::reads(TaskIndex task, std::string_view file, double size, int line) {
    reads_.push_back({task, intern(file_index_, files_, file), size, line});
}

void Workflow::writes(TaskIndex task, std::string_view file, double size, int line) {
    writes_.push_back({task, intern(file_index_, files_, file), size, line});
}

void Workflow::depends(std::string_view child, std::string_view parent, int line) {
    dependencies_.push_back({intern(text_index_, texts_, child), intern(text_index_, texts_, parent), line});
}

Workflow::Node Workflow::resolve(std::uint32_t text, int line, std::string_view role) const {
    const std::string& name = texts_[text];
    if (const auto found = by_id_.find(name); found != by_id_.end()) return found->second;
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
        source_.refuse(line, fmt::format("the {} {} is no task of the workflow", role, name),
                       "a dependency names two tasks that exist");
    }
    if (found->second == several) {
        source_.refuse(line, fmt::format("the {} {} is the name of several tasks", role, name),
                       "use its identifier");
    }
    return found->second;
}

/// Between tasks, of dependencies and transfers.
std::vector<Workflow::Edge> Workflow::stated_edges() const {
    std::vector<Edge> edges;
    // A file may state a dependency at both of its ends: sets, so that a transfer's bytes count once.
    std::vector<std::set<TaskIndex>> parents(transfers_.size()), children(transfers_.size());
    for (const Dependency& dependency : dependencies_) {
        const Node parent = resolve(dependency.parent, dependency.line, "parent");
        const Node child = resolve(dependency.child, dependency.line, "child");
        if (parent.is_transfer && child.is_transfer) {
            source_.refuse(dependency.line,
                           fmt::format("the transfer {} follows the transfer {}", texts_[dependency.child],
                                       texts_[dependency.parent]),
                           "a transfer leads from a task to a task");
        }
        if (parent.is_transfer) {
            children[parent.index].insert(child.index);
        } else if (child.is_transfer) {
            parents[child.index].insert(parent.index);
        } else {
            edges.push_back({parent.index, child.index, 0, dependency.line});
        }
    }
    for (std::size_t transfer = 0; transfer < transfers_.size(); ++transfer) {
        for (const TaskIndex from : parents[transfer]) {
            for (const TaskIndex to : children[transfer]) {
                edges.push_back({from, to, transfers_[transfer].bytes, transfers_[transfer].line});
            }
        }
    }
    return edges;
}

std::vector<Workflow::Edge> Workflow::edges() const {
    std::vector<Edge> edges = stated_edges();
    // The writers of each file side by side.
    std::vector<Use> writes = writes_;
    const auto same = [](const Use& a, const Use& b) { return a.file == b.file && a.task == b.task; };
    const auto before = [](const Use& a, const Use& b) {
        return std::tie(a.file, a.task, a.line) < std::tie(b.file, b.task, b.line);
    };
    std::sort(writes.begin(), writes.end(), before);
    writes.erase(std::unique(writes.begin(), writes.end(), same), writes.end());
    std::vector<Use> reads = reads_;
    std::sort(reads.begin(), reads.end(), before);
    reads.erase(std::unique(reads.begin(), reads.end(), same), reads.end());
    auto writer = writes.begin();
    for (const Use& use : reads) {
        while (writer != writes.end() && writer->file < use.file) ++writer;
        for (auto one = writer; one != writes.end() && one->file == use.file; ++one) {
            if (one->task == use.task) continue;
            const double size = one->size == unknown_size ? use.size : one->size;
            if (size == unknown_size) {
                source_.refuse(use.line, fmt::format("the file {} from {} to {} has no size",
                                                     files_[use.file], names_[one->task], names_[use.task]));
            }
            edges.push_back({one->task, use.task, size, use.line});
        }
    }
    // One edge for each pair, with the line of the earliest statement.
    std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
        return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        if (kept > 0 && edges[kept - 1].from == edges[i].from && edges[kept - 1].to == edges[i].to) {
            edges[kept - 1].bytes += edges[i].bytes;
        } else {
            edges[kept++] = edges[i];
        }
    }
    edges.resize(kept);
    return edges;
}

GraphFile Workflow::build(WorkUnit unit) {
    for (const Edge& edge : edges()) {
        builder_.add_edge(edge.from, edge.to, edge.bytes * options_.bytes_per_weight_unit,
                          source_.at(edge.line));
    }
    result_.graph = builder_.build();
    if (result_.kernels.size() == 1 && result_.kernels.front().empty()) {
        result_.kernels.clear();
        result_.kernel_of.clear();
    }
    result_.unit = unit;
    return std::move(result_);
}

}  // namespace heddle::graphs
