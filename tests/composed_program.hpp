// For tests: one program of all execution models. On node 0 a strand forks and joins, and starts EARTH's
// threads on all nodes. It gets values from other strands through a channel, and the results of two placed
// graphs by messages.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "model/earth.hpp"
#include "model/fork_join.hpp"
#include "model/placed_graph.hpp"
#include "partitioners/place_graph.hpp"
#include "runtime/comm/channel.hpp"
#include "runtime/comm/endpoint.hpp"
#include "tests/scheduler_testing.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_composed {

using model::earth::AwaitedSlot;
using model::earth::Em;
using model::earth::Global;
using model::earth::Sptr;
using Number = std::uint64_t;

constexpr Number fibonacci(Number n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

struct Fib {
    static Number run(model::Strand strand, std::uint32_t n) {
        if (n < 2) return n;
        strand.fork<Fib>(n - 1);
        const Number second = strand.call<Fib>(n - 2);
        return strand.join<Fib>() + second;
    }
};

struct ThreadParameters {
    std::uint32_t n;
    Global<Number> result;
    Sptr done;
};

/// The same as threads of EARTH, which any node may take.
struct FibThread : model::earth::Threaded<FibThread, ThreadParameters> {
    Number first, second;

    void init(Em em) {
        if (n < 2) {
            em.put_sync(n, result, done);
            em.terminate();
        } else {
            em.token<FibThread>(n - 1, em.to_global(first), em.to_sptr(ready));
            em.token<FibThread>(n - 2, em.to_global(second), em.to_sptr(ready));
        }
    }
    void add(Em em) {
        em.put_sync(first + second, result, done);
        em.terminate();
    }
    model::earth::Fiber<&FibThread::add> ready{*this, 2};
};

/// A graph whose tasks count the ways that lead to them. Those without successors send what they count.
class WaysPart final : public model::PlacedGraphPart {
public:
    WaysPart(const model::PlacedGraph& plan, NodeId node, std::uint64_t tag)
        : PlacedGraphPart(plan, node), tag_(tag) {}

private:
    model::Datum run(model::Strand strand, TaskIndex task, const model::Inputs& inputs) override {
        Number ways = inputs.empty() ? 1 : 0;
        for (const model::Input& input : inputs)
            ways += runtime::value_of<Number>(runtime::Parcel(input.datum));
        if (plan().graph().successors(task).empty()) {
            runtime::Strand::start(strand.worker(), [ways, tag = tag_](runtime::Strand& self) {
                runtime::Endpoint endpoint(self.worker().node());
                endpoint.send(self, {0, 1}, tag, runtime::body_of(ways));
            });
        }
        return runtime::body_of(ways);
    }

    std::uint64_t tag_;
};

/// A graph with its plan and its answer, for all nodes of a run.
struct Planned {
    Planned(NodeId nodes, CoreId cores, std::uint64_t seed, const char* placement)
        : graph(schedulers::testing::layered_graph(12, 3, 1.5, 1, seed)),
          placed(partitioners::place_graph(placement, {&graph}, {WorkerGrid{nodes, cores}, 1, 1, 1}, seed)),
          plan(graph, placed.placement, placed.sequence, model::PlacedGraph::Order::ready,
               model::PlacedGraph::Data::declared) {
        std::vector<Number> ways(graph.tasks());
        for (const TaskIndex task : placed.sequence) {
            const auto before = graph.predecessors(task);
            ways[task] = before.empty() ? 1 : 0;
            for (const auto& link : before) ways[task] += ways[link.task];
            if (!graph.successors(task).empty()) continue;
            ++results;
            sum += ways[task];
        }
    }

    TaskGraph graph;
    partitioners::PlacedTasks placed;
    model::PlacedGraph plan;
    std::uint32_t results = 0;
    Number sum = 0;
};

struct Plans {
    Plans(NodeId nodes, CoreId cores, std::uint64_t seed)
        : first(nodes, cores, seed, "cyclic"), second(nodes, cores, seed + 1, "heft") {}

    Planned first;
    Planned second;
};

class ComposedProgram final : public runtime::Program {
public:
    /// `right` counts the runs in which all results were right.
    ComposedProgram(const Plans& plans, NodeId node, std::atomic<std::uint32_t>& right)
        : plans_(plans),
          first_(plans.first.plan, node, 1),
          second_(plans.second.plan, node, 2),
          right_(right) {}

    void set_up(runtime::Node& node) override {
        first_.attach(node);
        second_.attach(node);
    }

    void begin(runtime::Worker& worker) override {
        if (worker.id == WorkerId{0, 0}) {
            runtime::Strand::start(worker, [this](runtime::Strand& self) { all(self); }, {"the client"});
        }
        first_.start(worker);
        second_.start(worker);
    }

    runtime::Answer answer() const override { return {}; }

private:
    static constexpr std::uint32_t forked = 8;
    static constexpr std::uint32_t threads = 5;
    static constexpr Number values = 10;

    void expect(Number found, Number expected) {
        EXPECT_EQ(found, expected);
        all_right_ = all_right_ && found == expected;
    }

    void all(runtime::Strand& self) {
        runtime::Endpoint endpoint(self.worker().node(), 1);
        expect(Fib::run(model::Strand(self.worker(), self.head()), forked), fibonacci(forked));
        start_threads(self);
        use_channel(self);
        for (const auto& [planned, tag] : {std::pair(&plans_.first, 1U), std::pair(&plans_.second, 2U)}) {
            Number sum = 0;
            for (std::uint32_t i = 0; i < planned->results; ++i)
                sum += runtime::value_of<Number>(endpoint.receive(self, {.from = {}, .tag = tag}).data);
            expect(sum, planned->sum);
        }
        if (all_right_) ++right_;
    }

    void start_threads(runtime::Strand& self) {
        runtime::Node& node = self.worker().node();
        const NodeId nodes = node.topology().nodes;
        std::vector<Number> results(nodes);
        AwaitedSlot all_done(nodes);
        model::earth::start(node, self.worker(), [&](Em em) {
            for (NodeId to = 0; to < nodes; ++to)
                em.invoke<FibThread>(to, threads, em.to_global(results[to]), em.to_sptr(all_done));
        });
        self.wait(all_done);
        expect(std::accumulate(results.begin(), results.end(), Number{0}), nodes * fibonacci(threads));
    }

    void use_channel(runtime::Strand& self) {
        runtime::Channel<Number> channel(2);
        for (const Number begin : {Number{0}, values}) {
            runtime::Strand::start(self.worker(), [&channel, begin](runtime::Strand& other) {
                for (Number i = begin; i < begin + values; ++i) channel.send(other, i);
            });
        }
        Number sum = 0;
        for (Number i = 0; i < 2 * values; ++i) sum += channel.receive(self);
        expect(sum, 2 * values * (2 * values - 1) / 2);
    }

    const Plans& plans_;
    WaysPart first_;
    WaysPart second_;
    std::atomic<std::uint32_t>& right_;
    bool all_right_ = true;
};

}  // namespace heddle::testing_composed
