// An execution model of one's own, in one file: futures. A future is a value that other code waits for. A
// strand computes it, or any worker that looks for work. The program sums the squares of the binomial
// coefficients of n. Node 0 asks the nodes for them in turn, and each computes its coefficients with futures.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/comm/endpoint.hpp"
#include "runtime/core/caller.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/states.hpp"
#include "runtime/sources/work_source.hpp"
#include "runtime/strands/strands.hpp"
#include "workloads/workload.hpp"

namespace {

using heddle::NodeId;
using heddle::Settings;
using heddle::runtime::body_of;
using heddle::runtime::Caller;
using heddle::runtime::Endpoint;
using heddle::runtime::Event;
using heddle::runtime::Node;
using heddle::runtime::Slot;
using heddle::runtime::SpinLock;
using heddle::runtime::State;
using heddle::runtime::Strand;
using heddle::runtime::value_of;
using heddle::runtime::Worker;
using heddle::runtime::WorkSource;

// --- the model

/// What it keeps for each node: how many futures were made there.
struct Futures : State<Node> {
    explicit Futures(Node& /*node*/) {}
    std::atomic<std::uint64_t> made{0};
};

/// Futures that no strand computes: a work source. Workers of the node take them, the latest first.
class LaterFutures final : public State<Node>, public WorkSource {
public:
    using Compute = std::function<void(Worker&)>;

    explicit LaterFutures(Node& node) : node_(node) { node.sources().add(*this); }

    void put(Worker& worker, Compute compute) {
        waiting_.add();
        {
            const SpinLock::Guard guard(lock_);
            waiting_futures_.push_back(std::move(compute));
        }
        node_.wake_one(worker);
    }

    bool run(Worker& worker, Slot* /*head*/) override {
        return worker.take_and_run([&] { return take(); },
                                   [&](const Compute& compute) {
                                       worker.count_task();
                                       compute(worker);
                                   });
    }

private:
    std::optional<Compute> take() {
        const SpinLock::Guard guard(lock_);
        if (waiting_futures_.empty()) return std::nullopt;
        std::optional<Compute> latest(std::move(waiting_futures_.back()));
        waiting_futures_.pop_back();
        waiting_.subtract();
        return latest;
    }

    Node& node_;
    SpinLock lock_;
    std::vector<Compute> waiting_futures_;
};

/// What a strand or task waits for: a waitable.
template <class T>
struct FutureValue final : Event {
    std::string what() const override { return "a future"; }
    T value{};
};

template <class T>
class Future {
public:
    /// A strand of this node computes the value as `compute(self)`.
    template <class Compute>
    static Future start(Worker& worker, Compute compute) {
        Future future;
        ++worker.node().state<Futures>().made;
        Strand::start(worker,
                      [shared = future.shared_, compute](Strand& self) {
                          shared->value = compute(self);
                          shared->complete(self.worker().node(), self.worker());
                      },
                      {"a future's strand"});
        return future;
    }

    /// A worker that looks for work computes the value as `compute(worker)`.
    template <class Compute>
    static Future later(Worker& worker, Compute compute) {
        Future future;
        ++worker.node().state<Futures>().made;
        worker.node().state<LaterFutures>().put(worker, [shared = future.shared_, compute](Worker& other) {
            shared->value = compute(other);
            shared->complete(other.node(), other);
        });
        return future;
    }

    T get(Caller caller) {
        caller.wait(*shared_);
        return shared_->value;
    }

private:
    std::shared_ptr<FutureValue<T>> shared_ = std::make_shared<FutureValue<T>>();
};

// --- the program

using Number = std::uint64_t;

Number plain_binomial(Worker& worker, Number n, Number k) {
    worker.work(1);  // what it costs in simulation
    if (k == 0 || k == n) return 1;
    return plain_binomial(worker, n - 1, k - 1) + plain_binomial(worker, n - 1, k);
}

Number binomial(Strand& self, Number n, Number k) {
    constexpr Number few = 4;
    if (n <= few || k == 0 || k == n)
        return Future<Number>::later(self.worker(),
                                     [=](Worker& worker) { return plain_binomial(worker, n, k); })
            .get(self);
    auto left =
        Future<Number>::start(self.worker(), [=](Strand& other) { return binomial(other, n - 1, k - 1); });
    const Number right = binomial(self, n - 1, k);
    return left.get(self) + right;
}

class BinomialProgram final : public heddle::runtime::Program {
public:
    explicit BinomialProgram(Number n) : n_(n) {}

    heddle::runtime::Work unit() const override { return {1e4, 0}; }

    void begin(Worker& worker) override {
        if (worker.id.core != 0) return worker.begins_nothing();
        Strand::start(worker, [](Strand& self) { serve(self); }, {"a server"});
        if (worker.id.node == 0) Strand::start(worker, [this](Strand& self) { ask(self); }, {"the client"});
    }

    heddle::runtime::Answer answer() const override {
        if (!asked_) return {};
        return {{"sum", static_cast<double>(sum_)}};
    }

private:
    static constexpr std::uint32_t server = 1;
    static constexpr Number over = ~Number{0};

    /// Computes what it is asked for, until it is told that all is over.
    static void serve(Strand& self) {
        Endpoint endpoint(self.worker().node(), server);
        for (;;) {
            const auto question = endpoint.receive(self);
            const auto [n, k] = value_of<std::pair<Number, Number>>(question.data);
            if (k == over) return;
            endpoint.send(self, question.from, k, body_of(binomial(self, n, k)));
        }
    }

    void ask(Strand& self) {
        Endpoint endpoint(self.worker().node());
        const NodeId nodes = self.worker().node().topology().nodes;
        for (Number k = 0; k <= n_; ++k) {
            const auto node = static_cast<NodeId>(k % nodes);
            endpoint.send(self, {node, server}, 0, body_of(std::pair(n_, k)));
        }
        for (Number k = 0; k <= n_; ++k) {
            const auto value = value_of<Number>(endpoint.receive(self, {.tag = k}).data);
            sum_ += value * value;
        }
        for (NodeId node = 0; node < nodes; ++node)
            endpoint.send(self, {node, server}, 0, body_of(std::pair(n_, over)));
        asked_ = true;
    }

    Number n_;
    Number sum_ = 0;
    bool asked_ = false;
};

class Binomial final : public heddle::workloads::Workload {
public:
    explicit Binomial(const Settings& settings) : n_(static_cast<Number>(settings.integer("n"))) {}

    std::unique_ptr<heddle::runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<BinomialProgram>(n_);
    }

    heddle::workloads::Verdict check(const heddle::runtime::RunResult& result) const override {
        Number expected = 1;
        for (Number i = 1; i <= n_; ++i) expected = expected * (n_ + i) / i;
        return heddle::workloads::judge(result.answer, {{"sum", static_cast<double>(expected)}},
                                        "the central binomial coefficient, OEIS A000984");
    }

    /// Strands are no tasks, so there is none to steal.
    std::vector<const heddle::runtime::TaskType*> tasks() const override { return {}; }

private:
    Number n_;
};

const heddle::workloads::Registration registration{
    {"futures",
     "the sum of the squares of binomial coefficients, by futures on the nodes that are asked",
     {{"n", heddle::SettingKind::integer, "10", "the row of Pascal's triangle", {}, 1, 20}},
     [](const Settings& settings) -> std::unique_ptr<heddle::workloads::Workload> {
         return std::make_unique<Binomial>(settings);
     }}};

}  // namespace
