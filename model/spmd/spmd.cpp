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

const Algorithm* SpmdNode::algorithm_of(Operation operation, std::string_view name) const {
    if (name.empty()) return algorithms[static_cast<std::size_t>(operation)];
    return name == automatic ? nullptr : &find_algorithm(operation, name);
}

const Algorithm& SpmdNode::choose(runtime::Worker& worker, const Request& request, RankId ranks) const {
    const runtime::Topology& topology = worker.node().topology();
    const bool commutes = !request.combine.apply || request.combine.commutes;
    const auto named = options.algorithms.find(request.operation);
    if (options.rules && !request.by_price && named == options.algorithms.end()) {
        const Algorithm* const found = options.rules->find(
            {request.operation, request.count * request.element_bytes, topology.nodes, threads, commutes});
        if (found) return *found;
    }
    Prices prices = Prices::of(topology, *worker.costs);
    prices.ranks_per_node = ranks_per_node();
    const bool has_crew = prices.ranks_per_node == 1 && !request.split_phase;
    prices.threads = has_crew ? std::clamp<std::uint32_t>(options.crew.copiers, 1, threads) : 1;
    prices.in_place = options.crew.in_place;
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

void Spmd::choose_algorithm(Request& request) {
    if (request.algorithm || request.exchange) return;
    request.algorithm = &here_.choose(worker(), request, ranks());
    if (thread_ == 0) worker().node().state<ChosenAlgorithms>().add(*request.algorithm);
}

void Spmd::run(const Request& made) {
    says_.in_call(made.name(), ++calls_);
    Request request = made;
    choose_algorithm(request);
    if (flat()) return endpoint_->run(strand_, request, alone_, here_.options.crew);
    if (thread_ != 0) return here_.crew.help(strand_, thread_, request);
    here_.crew.lead(strand_, request);
    endpoint_->run(strand_, request, here_.crew, here_.options.crew);
    here_.crew.dismiss(strand_);
}

void Spmd::end() {
    says_.at_end();
    if (flat()) return endpoint_->end(strand_, split_calls_);
    const Request request;
    if (thread_ != 0) return here_.crew.help(strand_, thread_, request);
    here_.crew.lead(strand_, request);
    endpoint_->end(strand_, split_calls_);
    here_.crew.dismiss(strand_);
}

void Spmd::expect_elements(std::uint64_t elements) const {
    if (elements > 0) return;
    throw Error(
        fmt::format("all_reduce_array with no element for thread {} of node {}", thread_, node_),
        "give each node at least as many elements as it has threads, or each thread one if it is a rank");
}

}  // namespace heddle::spmd
