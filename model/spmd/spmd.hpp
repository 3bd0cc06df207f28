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
#include "model/spmd/declared.hpp"
#include "model/spmd/rules.hpp"
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
    /// The algorithm of an operation where a call names none, or `auto`. Without an entry: as `rules` say, or
    /// without rules the first one of the list.
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
    /// The algorithm that the call takes, which named none. The same on all ranks.
    const Algorithm& choose(runtime::Worker& worker, const Request& request, RankId ranks) const;

    std::array<const Algorithm*, std::size(operations)> algorithms;  ///< null: chosen for each call
    Levels levels;
    Crew crew;
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

class Spmd {
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

    // --- collective calls (Operation). Arrays are contiguous, of the same plain type, or Declared; input and
    // output must not overlap. `algorithm`: a name, `auto`, or none for that of the options. Operators are
    // associative; one that does not commute is given as InOrder{operator}. Throw Error for sizes that do not
    // fit, an unknown algorithm, and where ranks or threads make different calls.

    void barrier(std::string_view algorithm = {});

    template <Elements Data>
    void broadcast(Data&& data, RankId root, std::string_view algorithm = {}) {
        Request request = make(Operation::broadcast, algorithm, root, data);
        request.count = elements_in(data);
        run(request);
    }

    /// `output` is used at the root only.
    template <class Op, Elements In, Elements Out>
    void reduce(Op op, const In& input, Out&& output, RankId root, std::string_view algorithm = {}) {
        Request request = make(Operation::reduce, algorithm, root, input, output, op);
        request.count = elements_in(input);
        expect(request, rank() != root || elements_in(output) == request.count);
        run(request);
    }
    template <class Op, Elements In, Elements Out>
    void all_reduce(Op op, const In& input, Out&& output, std::string_view algorithm = {}) {
        Request request = make(Operation::all_reduce, algorithm, 0, input, output, op);
        request.count = elements_in(input);
        expect(request, elements_in(output) == request.count);
        run(request);
    }
    template <class Op, Elements In, Elements Out>
    void reduce_scatter(Op op, const In& input, Out&& output, std::string_view algorithm = {}) {
        Request request = make(Operation::reduce_scatter, algorithm, 0, input, output, op);
        request.count = elements_in(output);
        expect(request, elements_in(input) == request.count * ranks());
        run(request);
    }
    template <class Op, Elements In, Elements Out>
    void scan(Op op, const In& input, Out&& output, std::string_view algorithm = {}) {
        Request request = make(Operation::scan, algorithm, 0, input, output, op);
        request.count = elements_in(input);
        expect(request, elements_in(output) == request.count);
        run(request);
    }

    /// `output` is used at the root only.
    template <Elements In, Elements Out>
    void gather(const In& input, Out&& output, RankId root, std::string_view algorithm = {}) {
        Request request = make(Operation::gather, algorithm, root, input, output);
        request.count = elements_in(input);
        expect(request, rank() != root || elements_in(output) == request.count * ranks());
        run(request);
    }
    /// `input` is used at the root only.
    template <Elements In, Elements Out>
    void scatter(const In& input, Out&& output, RankId root, std::string_view algorithm = {}) {
        Request request = make(Operation::scatter, algorithm, root, input, output);
        request.count = elements_in(output);
        expect(request, rank() != root || elements_in(input) == request.count * ranks());
        run(request);
    }
    template <Elements In, Elements Out>
    void all_gather(const In& input, Out&& output, std::string_view algorithm = {}) {
        Request request = make(Operation::all_gather, algorithm, 0, input, output);
        request.count = elements_in(input);
        expect(request, elements_in(output) == request.count * ranks());
        run(request);
    }
    template <Elements In, Elements Out>
    void all_to_all(const In& input, Out&& output, std::string_view algorithm = {}) {
        Request request = make(Operation::all_to_all, algorithm, 0, input, output);
        request.count = elements_in(input) / ranks();
        expect(request,
               elements_in(input) == request.count * ranks() && elements_in(output) == elements_in(input));
        run(request);
    }

    /// The calls of redistribution.hpp. The input and the output are the rank's.
    void exchange(const Exchange& what, std::span<const std::byte> input, std::span<std::byte> output,
                  Index element_bytes);
    /// Both only declared.
    void exchange(const Exchange& what, Index element_bytes);

    // --- one value of each thread, whatever the ranks are
    /// The values of all threads of all nodes, combined in their order: the same on each. `op` captures
    /// nothing.
    template <class Op, class T>
    T all_reduce_value(Op op, const T& mine) {
        return here_.team.all_reduce(strand_, thread_, mine, op);
    }
    /// All elements of the arrays of all nodes, combined to one value (the paper's reduce, section 3.1.1):
    /// each thread combines its part of the node's array, then the threads and the nodes combine theirs. Each
    /// thread's part must have an element.
    template <class Op, std::ranges::contiguous_range In>
    std::ranges::range_value_t<In> all_reduce_array(Op op, const In& input) {
        const std::span all(std::ranges::data(input), std::ranges::size(input));
        const std::uint64_t begin = all.size() * thread_ / here_.threads;
        const std::uint64_t end = all.size() * (thread_ + 1) / here_.threads;
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

    bool flat() const { return here_.options.ranks == SpmdOptions::Ranks::threads; }

    /// Null: it is chosen when the call's size is known.
    const Algorithm* named(Operation operation, std::string_view algorithm) const {
        if (algorithm.empty()) return here_.algorithms[static_cast<std::size_t>(operation)];
        return algorithm == automatic ? nullptr : &find_algorithm(operation, algorithm);
    }
    template <class Out>
    Request make(Operation operation, std::string_view algorithm, RankId root, Out& output) const {
        using T = ElementOf<Out>;
        static_assert(std::is_trivially_copyable_v<T>, "elements travel as plain bytes");
        Request request;
        request.operation = operation;
        request.algorithm = named(operation, algorithm);
        request.root = root;
        request.element_bytes = sizeof(T);
        request.output = reinterpret_cast<std::byte*>(data_of(output));
        request.declared = is_declared<std::remove_cv_t<Out>>;
        return request;
    }
    template <class In, class Out>
    Request make(Operation operation, std::string_view algorithm, RankId root, const In& input,
                 Out& output) const {
        static_assert(fit_each_other<In, Out>,
                      "input and output have elements of one type, and both are declared or neither is");
        Request request = make(operation, algorithm, root, output);
        request.input = reinterpret_cast<const std::byte*>(data_of(input));
        if (!request.declared) expect_apart(request, elements_in(input), elements_in(output));
        return request;
    }
    template <class In, class Out, class Op>
    Request make(Operation operation, std::string_view algorithm, RankId root, const In& input, Out& output,
                 const Op& op) const {
        Request request = make(operation, algorithm, root, input, output);
        request.combine = operator_of<ElementOf<In>>(op);
        return request;
    }
    void expect(const Request& request, bool fits) const {
        if (!fits) refuse_sizes(request);
    }
    [[noreturn]] void refuse_sizes(const Request& request) const;
    void expect_apart(const Request& request, Index input, Index output) const;
    void expect_elements(std::uint64_t elements) const;
    void run(const Request& request);
    void end();

    runtime::Strand& strand_;
    SpmdNode& here_;
    ThreadName& says_;
    std::uint64_t calls_ = 0;
    std::uint32_t thread_;
    NodeId node_;
    NodeId nodes_;
    Crew alone_{1};
    std::optional<Rank> endpoint_;  ///< of a thread that leads a rank
};

}  // namespace heddle::spmd
