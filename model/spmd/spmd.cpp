// A thread's part in collective calls: it leads its rank, or helps the leader.
#include "model/spmd/spmd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "model/spmd/pricing.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/run/report.hpp"

namespace heddle::spmd {

namespace {

/// What a node reports of the algorithms that were chosen for its calls.
class ChosenAlgorithms final : public runtime::State<runtime::Node> {
public:
    explicit ChosenAlgorithms(runtime::Node& /*node*/) : calls_(all_algorithms().size()) {}

    void add(const Algorithm& algorithm) {
        calls_[static_cast<std::size_t>(&algorithm - all_algorithms().data())].fetch_add(
            1, std::memory_order_relaxed);
    }
    void report(runtime::NodeReport& report) const override {
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            const std::uint64_t calls = calls_[i].load(std::memory_order_relaxed);
            if (calls == 0) continue;
            const Algorithm& algorithm = all_algorithms()[i];
            report.answer.push_back({fmt::format("{}_by_{}", name_of(algorithm.operation), algorithm.name),
                                     static_cast<double>(calls), runtime::AnswerValue::Combine::max});
        }
    }

private:
    std::vector<std::atomic<std::uint64_t>> calls_;
};

}  // namespace

SpmdNode::SpmdNode(runtime::Node& node, SpmdOptions given)
    : options(std::move(given)),
      threads(node.topology().cores),
      levels(Levels::of(node.topology(), ranks_per_node(), options.group)),
      crew(threads),
      team(node, RankPlaces::first_number, threads) {
    for (const Operation operation : operations) {
        const auto named = options.algorithms.find(operation);
        const bool states = named != options.algorithms.end();
        const bool chosen = states ? named->second == automatic : options.rules != nullptr;
        algorithms[static_cast<std::size_t>(operation)] =
            chosen ? nullptr : &find_algorithm(operation, states ? named->second : "");
    }
}

const Algorithm& SpmdNode::choose(runtime::Worker& worker, const Request& request, RankId ranks) const {
    const runtime::Topology& topology = worker.node().topology();
    const bool commutes = !request.combine.apply || request.combine.commutes;
    const auto named = options.algorithms.find(request.operation);
    if (options.rules && named == options.algorithms.end()) {
        const Algorithm* const found = options.rules->find(
            {request.operation, request.count * request.element_bytes, topology.nodes, threads, commutes});
        if (found) return *found;
    }
    Prices prices = Prices::of(topology, *worker.costs);
    prices.ranks_per_node = ranks_per_node();
    prices.threads =
        prices.ranks_per_node > 1 ? 1 : std::clamp<std::uint32_t>(options.crew.copiers, 1, threads);
    const Call call{0, ranks, request.root, request.count, segment_elements(request.element_bytes), &levels};
    return cheapest(request.operation, call, request.element_bytes, commutes, prices);
}

ThreadName::ThreadName(NodeId node, std::uint32_t thread)
    : own_end_(fmt::format_to_n(text_.data(), text_.size() - 1, "thread {} of node {}", thread, node).out) {}

void ThreadName::in_call(const char* call, std::uint64_t number) {
    const auto room = static_cast<std::size_t>(text_.data() + text_.size() - 1 - own_end_);
    *fmt::format_to_n(own_end_, room, " in {}, call {},", call, number).out = '\0';
}

void ThreadName::at_end() {
    const auto room = static_cast<std::size_t>(text_.data() + text_.size() - 1 - own_end_);
    *fmt::format_to_n(own_end_, room, ", which has ended its main program,").out = '\0';
}

Spmd::Spmd(runtime::Strand& strand, SpmdNode& node, std::uint32_t thread, ThreadName& says)
    : strand_(strand),
      here_(node),
      says_(says),
      thread_(thread),
      node_(strand.worker().id.node),
      nodes_(strand.worker().node().topology().nodes) {
    if (flat() || thread == 0)
        endpoint_.emplace(strand.worker().node(), rank(), ranks(), RankPlaces{here_.ranks_per_node()},
                          here_.levels);
}

void Spmd::barrier(std::string_view algorithm) {
    Request request;
    request.algorithm = named(Operation::barrier, algorithm);
    run(request);
}

void Spmd::exchange(const Exchange& what, std::span<const std::byte> input, std::span<std::byte> output,
                    Index element_bytes) {
    Request request;
    request.exchange = &what;
    request.element_bytes = element_bytes;
    request.input = input.data();
    request.output = output.data();
    expect_apart(request, input.size() / element_bytes, output.size() / element_bytes);
    run(request);
}

void Spmd::exchange(const Exchange& what, Index element_bytes) {
    Request request;
    request.exchange = &what;
    request.element_bytes = element_bytes;
    request.declared = true;
    run(request);
}

void Spmd::run(const Request& made) {
    says_.in_call(made.name(), ++calls_);
    Request request = made;
    if (!request.algorithm && !request.exchange) {
        request.algorithm = &here_.choose(worker(), request, ranks());
        if (thread_ == 0) worker().node().state<ChosenAlgorithms>().add(*request.algorithm);
    }
    if (flat()) return endpoint_->run(strand_, request, alone_, here_.options.crew);
    if (thread_ != 0) return here_.crew.help(strand_, thread_, request);
    here_.crew.lead(strand_, request);
    endpoint_->run(strand_, request, here_.crew, here_.options.crew);
    here_.crew.dismiss(strand_);
}

void Spmd::end() {
    says_.at_end();
    if (flat()) return endpoint_->end(strand_);
    const Request request;
    if (thread_ != 0) return here_.crew.help(strand_, thread_, request);
    here_.crew.lead(strand_, request);
    endpoint_->end(strand_);
    here_.crew.dismiss(strand_);
}

void Spmd::refuse_sizes(const Request& request) const {
    throw Error(fmt::format("{} on {} ranks with an input and an output that do not fit",
                            name_of(request.operation), ranks()),
                "blocks are alike on all ranks: gather, all_gather: output = ranks x input; scatter, "
                "reduce_scatter: input = ranks x output; all_to_all: both are ranks x block");
}

void Spmd::expect_apart(const Request& request, Index input, Index output) const {
    const std::byte* const out = request.output;
    if (input == 0 || output == 0 || request.input + input * request.element_bytes <= out ||
        out + output * request.element_bytes <= request.input)
        return;
    throw Error(fmt::format("{} with an input and an output that overlap", request.name()),
                "give them memory of their own");
}

void Spmd::expect_elements(std::uint64_t elements) const {
    if (elements > 0) return;
    throw Error(fmt::format("all_reduce_array with no element for thread {} of node {}", thread_, node_),
                "give each node at least as many elements as it has threads");
}

}  // namespace heddle::spmd
