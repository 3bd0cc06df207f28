// A workflow whose tasks read and write files, and its conversion to a task graph. An edge carries the files
// that one task writes and the other reads, and what a transfer takes from one to the other. Other files read
// the formats.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graphs/graph_file.hpp"
#include "graphs/source_text.hpp"

namespace heddle::graphs {

class Workflow {
public:
    static constexpr double unknown_size = -1;

    Workflow(const SourceText& source, const ReadOptions& options) : source_(source), options_(options) {}

    /// Throws Error for an identifier that is taken. An empty kernel is no kernel.
    TaskIndex add_task(std::string_view id, std::string_view name, double runtime, std::string_view kernel,
                       int line);

    /// A transfer becomes edges with its bytes, from each of its parents to each of its children. Identifiers
    /// and names are those of tasks and transfers together.
    void add_transfer(std::string_view id, std::string_view name, double bytes, int line);

    /// The task reads the file, or writes it. `size` may be unknown where the other side of the file knows
    /// it.
    void reads(TaskIndex task, std::string_view file, double size, int line);
    void writes(TaskIndex task, std::string_view file, double size, int line);

    /// `child` waits for `parent`, both named by identifier, or by name where no other task has that name.
    /// They may be added later. One of them may be a transfer.
    void depends(std::string_view child, std::string_view parent, int line);

    /// `unit`: what runtimes count. Throws Error for names that no task has, a file without a size between
    /// two tasks, a transfer that follows another, and a cycle.
    GraphFile build(WorkUnit unit = WorkUnit::seconds);

private:
    struct Node {
        std::uint32_t index;
        bool is_transfer;
        bool operator==(const Node&) const = default;
    };
    struct Transfer {
        double bytes = 0;
        int line = 0;
    };
    struct Use {
        TaskIndex task = 0;
        std::uint32_t file = 0;
        double size = 0;
        int line = 0;
    };
    struct Dependency {
        std::uint32_t child = 0;  ///< in texts_
        std::uint32_t parent = 0;
        int line = 0;
    };
    struct Edge {
        TaskIndex from = 0;
        TaskIndex to = 0;
        double bytes = 0;
        int line = 0;
    };

    static std::uint32_t intern(std::unordered_map<std::string, std::uint32_t>& index,
                                std::vector<std::string>& texts, std::string_view text);
    void name_node(std::string_view id, std::string_view name, Node node, int line);
    Node resolve(std::uint32_t text, int line, std::string_view role) const;
    std::vector<Edge> stated_edges() const;
    std::vector<Edge> edges() const;

    const SourceText& source_;
    const ReadOptions& options_;
    GraphFile result_;
    TaskGraphBuilder builder_;
    std::unordered_map<std::string, Node> by_id_;
    std::unordered_map<std::string, Node> by_name_;  ///< `several` where more than one has it
    std::vector<Transfer> transfers_;
    std::unordered_map<std::string, std::uint32_t> kernel_index_, file_index_, text_index_;
    std::vector<std::string> files_, texts_, names_;
    std::vector<Use> reads_, writes_;
    std::vector<Dependency> dependencies_;
    static constexpr Node several{std::numeric_limits<std::uint32_t>::max(), false};
};

}  // namespace heddle::graphs
