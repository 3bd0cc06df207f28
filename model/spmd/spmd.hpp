// A thread of a data-parallel program: its number, and the collective calls that it makes. The other threads
// of its node and the other nodes make them, too (Chiang, Wu, Lin, section 3).
//
//     void main(Spmd& self) override {
//         self.all_reduce(std::plus<double>(), part, sum);          // arrays of the node
//         const double all = self.all_reduce_value(std::plus<double>(), mine);
//     }
//
// All threads of a node make the same calls, with the node's arrays. The caller must see to it that no thread
// writes them from its call on until the call returns; it returns when the node's part is complete. With
// Ranks::threads each thread is a rank of its own, with arrays of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "model/spmd/collective.hpp"
#include "model/spmd/operations.hpp"
#include "model/spmd/rules.hpp"
#include "model/spmd/split_call.hpp"
#include "runtime/comm/team.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::spmd {

struct SpmdOptions {
    enum class Ranks : std::uint8_t {
        nodes,   ///< a rank is a node, whose threads share arrays (the paper's hybrid)
        threads  ///< a rank is a thread (message passing only)
    };
    Ranks ranks = Ranks::nodes;
    CrewSettings crew = {};
    /// The algorithm of an operation where a call names none: a name, or `auto`. Without an entry: as `rules`
    /// say, or without rules the first one of the list.
    std::map<Operation, std::string> algorithms = {};
    std::shared_ptr<const Rules> rules = {};
    /// So many ranks in a row are near each other, for algorithms with levels; 0: as the topology says.
    RankId group = 0;
};

/// The threads of a node.
struct SpmdNode {
    SpmdNode(runtime::Node& node, SpmdOptions options);

    /// Of a node.
    RankId ranks_per_node() const { return options.ranks == SpmdOptions::Ranks::threads ? threads : 1; }

    SpmdOptions options;
    std::uint32_t threads;
    /// The algorithm of a call that names this one, or none (""). Null: it is chosen when the call's size is
    /// known.
    const Algorithm* algorithm_of(Operation operation, std::string_view name) const;
    /// It is chosen so, the same on all ranks.
    const Algorithm& choose(runtime::Worker& worker, const Request& request, RankId ranks) const;

    std::array<const Algorithm*, std::size(operations)> algorithms;  ///< null: chosen for each call
    Levels levels;
    Crew crew;
    SplitCalls split_calls;
    runtime::Team team;
};

/// What a deadlock's message says of a thread. Written by the thread, read while it waits.
class ThreadName {
public:
    ThreadName(NodeId node, std::uint32_t thread);

    const char* text() const { return text_.data(); }
    void in_call(const char* call, std::uint64_t number);
    void at_end();

private:
    std::array<char, 96> text_{};
    char* own_end_;
};

class Spmd : public Operations<Spmd> {
public:
    /// On the strand that runs the thread. `says`: where the strand's name is, to which calls are added.
    Spmd(runtime::Strand& strand, SpmdNode& node, std::uint32_t thread, ThreadName& says);

    // --- which thread it is (section 3.2)
    std::uint32_t thread_rank() const { return thread_; }
    std::uint32_t num_of_thread() const { return here_.threads; }
    NodeId node() const { return node_; }
    NodeId nodes() const { return nodes_; }
    /// Of collective calls: the node, or the thread among those of all nodes.
    RankId rank() const { return flat() ? node_ * here_.threads + thread_ : node_; }
    RankId ranks() const { return flat() ? nodes_ * here_.threads : nodes_; }

    /// Its strand, and its worker: that of its number.
    runtime::Strand& strand() const { return strand_; }
    runtime::Worker& worker() const { return strand_.worker(); }
    /// The node's program.
    template <class P>
    P& program() const {
        return static_cast<P&>(worker().program());
    }
    /// Declares `units` units of the program's work (Program::unit).
    void work(std::uint64_t units = 1) const { worker().work(units); }

    // --- collective calls: those of Operations, which return when this rank's part is complete
    /// The same calls split-phase: `self.start().all_reduce(...)` (split_call.hpp).
    SplitPhase start() { return SplitPhase(*this); }

    /// Calls return when they are complete, so what they are given lives long enough.
    template <class T>
    const T& keep(const T& value) const {
        return value;
    }

    // --- one value of each thread, whatever the ranks are
    /// The values of all threads of all nodes, combined: the same on each. The nodes combine along a tree
    /// (runtime::Team), so `op` must commute. It captures nothing.
    template <class Op, class T>
    requires(!is_in_order<Op>) T all_reduce_value(Op op, const T& mine) {
        return here_.team.all_reduce(strand_, thread_, mine, op);
    }
    /// All elements of the arrays of all ranks, combined to one value (the paper's reduce, section 3.1.1):
    /// each thread combines its part of the node's array, or if it is a rank its own array. Then the threads
    /// and the nodes combine theirs, as in all_reduce_value. What a thread combines must have an element.
    template <class Op, std::ranges::contiguous_range In>
    requires(!is_in_order<Op>) std::ranges::range_value_t<In> all_reduce_array(Op op, const In& input) {
        const std::span all(std::ranges::data(input), std::ranges::size(input));
        const std::uint64_t begin = flat() ? 0 : all.size() * thread_ / here_.threads;
        const std::uint64_t end = flat() ? all.size() : all.size() * (thread_ + 1) / here_.threads;
        expect_elements(end - begin);
        std::ranges::range_value_t<In> mine = all[begin];
        using T = std::ranges::range_value_t<In>;
        const runtime::Work cost{static_cast<double>(end - begin),
                                 static_cast<double>((end - begin) * sizeof(T))};
        worker().compute(cost, [&] {
            for (std::uint64_t i = begin + 1; i < end; ++i) mine = op(mine, all[i]);
        });
        return all_reduce_value(op, mine);
    }

private:
    friend class SpmdProgram;
    friend class Operations<Spmd>;
    friend class SplitPhase;
    friend class SplitCall;

    bool flat() const { return here_.options.ranks == SpmdOptions::Ranks::threads; }

    const Algorithm* algorithm_of(Operation operation, std::string_view name) const {
        return here_.algorithm_of(operation, name);
    }
    void expect_elements(std::uint64_t elements) const;
    /// Names its algorithm, if that is chosen now.
    void choose_algorithm(Request& request);
    void run(const Request& request);
    SplitCall start(const Request& request, Kept kept);
    void begin(const std::shared_ptr<StartedCall>& call);
    void end();

    runtime::Strand& strand_;
    SpmdNode& here_;
    ThreadName& says_;
    std::uint64_t calls_ = 0;
    std::uint64_t split_calls_ = 0;
    std::uint32_t thread_;
    NodeId node_;
    NodeId nodes_;
    Crew alone_{1};
    std::optional<Rank> endpoint_;  ///< of a thread that leads a rank
};

}  // namespace heddle::spmd
