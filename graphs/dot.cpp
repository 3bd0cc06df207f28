// Reads task graphs in Graphviz's language: tasks, edges and their weights; other attributes are ignored.
#include <fmt/format.h>

#include <limits>
#include <unordered_map>

#include "graphs/dot_lexer.hpp"
#include "graphs/readers.hpp"

namespace heddle::graphs {

namespace {

using Kind = DotLexer::Kind;

struct Weight {
    enum class From : std::uint8_t { nowhere, weight, size };
    From from = From::nowhere;
    double value = 0;
};

/// What attribute lists say of weights. Attributes of the whole graph have such names, too, such as the size
/// of its page: so the text becomes a number only where it is a weight.
struct StatedWeight {
    Weight::From from = Weight::From::nowhere;
    DotLexer::Token value;
};

class DotReader {
public:
    DotReader(const SourceText& source, const ReadOptions& options)
        : source_(source), options_(options), lexer_(source) {}

    GraphFile read() {
        const bool strict = lexer_.peek().is("strict");
        if (strict) lexer_.take();
        const DotLexer::Token kind = lexer_.take();
        if (kind.is("graph")) {
            source_.refuse(kind.line, "the graph is undirected", "a task graph begins with `digraph`");
        }
        if (!kind.is("digraph")) {
            source_.refuse(kind.line, fmt::format("expected `digraph`, found `{}`", kind.text),
                           "is this a Graphviz file?");
        }
        if (lexer_.peek().is_name()) lexer_.take();
        expect(Kind::open, "{");
        statements();
        const DotLexer::Token after = lexer_.take();
        if (after.kind != Kind::end) {
            source_.refuse(after.line, fmt::format("`{}` after the graph's end", after.text),
                           "one graph a file");
        }
        if (strict) merge_parallel_edges();
        return build();
    }

private:
    struct Task {
        std::string_view name;
        Weight weight;
        int line = 0;           ///< of the first mention
        bool declared = false;  ///< in a statement of its own
    };
    struct Edge {
        TaskIndex from = 0;
        TaskIndex to = 0;
        int line = 0;
        Weight weight;
    };

    void expect(Kind kind, std::string_view text) {
        const DotLexer::Token token = lexer_.take();
        if (token.kind == Kind::end) {
            source_.refuse(token.line, fmt::format("the file ends where `{}` should be", text),
                           "it seems to be cut short");
        }
        if (token.kind != kind) {
            source_.refuse(token.line, fmt::format("expected `{}`, found `{}`", text, token.text));
        }
    }

    TaskIndex task_named(const DotLexer::Token& name) {
        const auto [found, is_new] = index_.try_emplace(name.text, static_cast<TaskIndex>(tasks_.size()));
        if (is_new) tasks_.push_back({name.text, {}, name.line, false});
        return found->second;
    }

    /// Attribute lists, any number of them.
    StatedWeight attributes() {
        StatedWeight stated;
        while (lexer_.peek().kind == Kind::open_list) {
            lexer_.take();
            while (lexer_.peek().kind != Kind::close_list) {
                const DotLexer::Token key = lexer_.take();
                if (key.kind == Kind::comma || key.kind == Kind::semicolon) continue;
                if (key.kind == Kind::end)
                    source_.refuse(key.line, "the file ends within `[`", "it seems to be cut short");
                if (!key.is_name())
                    source_.refuse(key.line, fmt::format("expected an attribute, found `{}`", key.text));
                if (lexer_.peek().kind != Kind::equals) continue;
                lexer_.take();
                const DotLexer::Token value = lexer_.take();
                if (value.kind == Kind::end)
                    source_.refuse(value.line, "the file ends within `[`", "it seems to be cut short");
                if (!value.is_name()) {
                    source_.refuse(value.line,
                                   fmt::format("expected a value of {}, found `{}`", key.text, value.text));
                }
                if (key.text == "Weight" || key.text == "weight") {
                    stated = {Weight::From::weight, value};
                } else if (key.text == "size" && stated.from != Weight::From::weight) {
                    stated = {Weight::From::size, value};
                }
            }
            lexer_.take();
        }
        return stated;
    }

    Weight weight_of(const StatedWeight& stated, const std::string& whose) const {
        const Location where = source_.at(stated.value.line);
        switch (stated.from) {
            case Weight::From::weight:
                return {stated.from, weight_in(trimmed(stated.value.text), "the weight of " + whose, where)};
            case Weight::From::size:
                return {stated.from,
                        number_in(size_without_point(stated.value.text), "the size of " + whose, where)};
            case Weight::From::nowhere:
                break;
        }
        return {};
    }

    /// `-1.` as SimGrid writes it.
    static std::string_view size_without_point(std::string_view text) {
        text = trimmed(text);
        if (text.size() > 1 && text.ends_with('.')) text.remove_suffix(1);
        return text;
    }

    void statements() {
        for (;;) {
            const DotLexer::Token token = lexer_.take();
            if (token.kind == Kind::close) return;
            if (token.kind == Kind::semicolon) continue;
            if (token.kind == Kind::comma)
                source_.refuse(token.line, "lists of tasks are not read", "write a statement for each");
            if (token.kind == Kind::end) {
                source_.refuse(token.line, "the file ends before the graph's `}`",
                               "it seems to be cut short");
            }
            if (token.kind == Kind::open || token.is("subgraph")) {
                source_.refuse(token.line, "subgraphs are not read", "write tasks and edges in one list");
            }
            if (!token.is_name())
                source_.refuse(token.line, fmt::format("expected a task, found `{}`", token.text));
            if (lexer_.peek().kind == Kind::open_list &&
                (token.is("node") || token.is("edge") || token.is("graph"))) {
                if (attributes().from != Weight::From::nowhere && !token.is("graph")) {
                    source_.refuse(token.line,
                                   fmt::format("a default weight for every {} is not read", token.text),
                                   "state each weight");
                }
            } else if (lexer_.peek().kind == Kind::equals) {
                lexer_.take();
                if (!lexer_.take().is_name())
                    source_.refuse(token.line, fmt::format("{} has no value", token.text));
            } else {
                task_or_edges(token);
            }
        }
    }

    /// `:port` or `:port:compass point` after a task's name: where a drawing's edge meets it.
    void skip_port() {
        for (int parts = 0; parts < 2 && lexer_.peek().kind == Kind::colon; ++parts) {
            lexer_.take();
            const DotLexer::Token port = lexer_.take();
            if (!port.is_name())
                source_.refuse(port.line, port.kind == Kind::end
                                              ? "the file ends where a port should be"
                                              : fmt::format("expected a port, found `{}`", port.text));
        }
    }

    void task_or_edges(const DotLexer::Token& first) {
        TaskIndex from = task_named(first);
        skip_port();
        if (lexer_.peek().kind == Kind::line)
            source_.refuse(first.line, "`--` in a directed graph", "edges are written `a -> b`");
        if (lexer_.peek().kind != Kind::arrow) {
            Task& task = tasks_[from];
            if (task.declared) {
                source_.refuse(first.line, fmt::format("task {} is declared twice", first.text));
            }
            task.declared = true;
            task.weight = weight_of(attributes(), fmt::format("task {}", first.text));
            task.line = first.line;
            return;
        }
        const std::size_t before = edges_.size();
        while (lexer_.peek().kind == Kind::arrow) {
            lexer_.take();
            const DotLexer::Token next = lexer_.take();
            if (!next.is_name()) {
                source_.refuse(next.line, next.kind == Kind::end
                                              ? "the file ends within an edge"
                                              : fmt::format("expected a task, found `{}`", next.text));
            }
            const TaskIndex to = task_named(next);
            skip_port();
            edges_.push_back({from, to, next.line, {}});
            from = to;
        }
        const Weight weight = weight_of(attributes(), in_words(edges_.back()));
        for (std::size_t i = before; i < edges_.size(); ++i) edges_[i].weight = weight;
    }

    std::string in_words(const Edge& edge) const {
        return fmt::format("the edge from {} to {}", tasks_[edge.from].name, tasks_[edge.to].name);
    }

    /// A strict graph has one edge from a task to another. As in Graphviz, each statement sets the attributes
    /// that it has. Of two attributes Weight counts, wherever it is.
    void merge_parallel_edges() {
        std::unordered_map<std::uint64_t, std::size_t> place_of;
        std::size_t kept = 0;
        for (const Edge& edge : edges_) {
            const auto [found, is_new] = place_of.try_emplace(std::uint64_t{edge.from} << 32 | edge.to, kept);
            Edge& first = edges_[found->second];
            if (is_new) {
                first = edge;
                ++kept;
            } else if (edge.weight.from == Weight::From::weight ||
                       (edge.weight.from == Weight::From::size &&
                        first.weight.from != Weight::From::weight)) {
                first.weight = edge.weight;
                first.line = edge.line;
            }
        }
        edges_.resize(kept);
    }

    GraphFile build() {
        // SimGrid's dialect knows itself by its attribute.
        bool sizes = false;
        for (const Task& task : tasks_) sizes = sizes || task.weight.from == Weight::From::size;
        TaskGraphBuilder builder;
        Location where{source_.path, 0};
        for (Task& task : tasks_) {
            where.line = task.line;
            const bool implied = sizes && (task.name == "root" || task.name == "end");
            if (!task.declared && !implied) {
                source_.refuse(task.line,
                               fmt::format("an edge names task {}, which is declared nowhere", task.name),
                               fmt::format("declare it: {} [Weight=...];", task.name));
            }
            if (task.weight.from == Weight::From::nowhere && !implied) {
                source_.refuse(task.line, fmt::format("task {} has no weight", task.name),
                               "expected the attribute Weight or size");
            }
            if (task.weight.value < 0) {
                source_.refuse(
                    task.line,
                    fmt::format("the size of task {} is {}, which is negative", task.name, task.weight.value),
                    "weights are 0 or more");
            }
            builder.add_task(task.weight.value * options_.flops_per_time_unit.value_or(1),
                             std::string(task.name), where);
        }
        for (const Edge& edge : edges_) {
            where.line = edge.line;
            double weight = edge.weight.value;
            if (edge.weight.from == Weight::From::nowhere && !sizes) {
                source_.refuse(edge.line, in_words(edge) + " has no weight", "expected the attribute Weight");
            }
            if (edge.weight.from == Weight::From::size && weight == -1) weight = 0;
            if (weight < 0) {
                source_.refuse(edge.line,
                               fmt::format("the size of {} is {}, which is negative", in_words(edge), weight),
                               "sizes are 0 or more; -1 is an edge without data");
            }
            builder.add_edge(edge.from, edge.to, weight * options_.bytes_per_weight_unit, where);
        }
        GraphFile result;
        result.graph = builder.build();
        result.unit = sizes ? WorkUnit::flops : WorkUnit::abstract;
        return result;
    }

    const SourceText& source_;
    const ReadOptions& options_;
    DotLexer lexer_;
    std::unordered_map<std::string_view, TaskIndex> index_;
    std::vector<Task> tasks_;
    std::vector<Edge> edges_;
};

}  // namespace

GraphFile read_dot(const SourceText& source, const ReadOptions& options) {
    return DotReader(source, options).read();
}

}  // namespace heddle::graphs
