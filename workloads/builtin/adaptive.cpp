// adaptive: a loop, a sum, a search or a prefix sum that splits when an idle worker asks (Danjean et al.,
// "Adaptive loops with Kaapi on multicore and grid", PASCO 2007; Gautier, Besseron, Pigeon: "KAAPI", PASCO
// 2007, section 3.2). Each node has such a loop over its block of the indices, because parts stay on their
// node.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "base/memory_need.hpp"
#include "base/time.hpp"
#include "model/dataflow/adaptive.hpp"
#include "model/dataflow/adaptive_find.hpp"
#include "model/dataflow/adaptive_prefix_sum.hpp"
#include "runtime/strands/strands.hpp"
#include "workloads/overlap.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;
using runtime::Strand;
using runtime::Worker;

using Index = std::int64_t;
using Number = std::uint64_t;

enum class Loop : std::uint8_t { accumulate, each, find, prefix_sum };

struct AdaptiveSettings {
    Loop loop;
    Index size;
    Index grain;
    Number steps;
    Number more_steps;  ///< of the last index than of the first
    double position;    ///< of the index to be found in its block, 0 to 1
    double unit_cost;

    /// Of an index: steps of a generator of random numbers (workloads/overlap.hpp).
    Number steps_of(Index i) const {
        return steps + more_steps * static_cast<Number>(i) / static_cast<Number>(size);
    }
    runtime::Work work_of(Index begin, Index end) const {
        const auto first = static_cast<double>(begin), count = static_cast<double>(end - begin);
        const double more = static_cast<double>(more_steps) / static_cast<double>(size);
        return {unit_cost * count * (static_cast<double>(steps) + more * (first + (count - 1) / 2)), 0};
    }

    /// 20 bits, so that sums are exact as doubles.
    static Number bits(Number value) { return value >> 44; }
    Number computed(Index i) const { return bits(overlap::computed(static_cast<Number>(i), steps_of(i))); }
    /// The same without the steps.
    Number expected(Index i) const { return bits(overlap::after_steps(static_cast<Number>(i), steps_of(i))); }

    /// The indices of a node.
    Index block_begin(NodeId node, NodeId nodes) const {
        return static_cast<Index>(static_cast<Number>(size) * node / nodes);
    }
    Index to_be_found(Index begin, Index end) const {
        return begin + static_cast<Index>(position * static_cast<double>(end - begin - 1));
    }
};

/// Of a part.
struct Sum {
    Index count = 0;
    Number sum = 0;
};

/// Elements of a prefix sum, and their sum.
Number element(Index i) {
    return static_cast<Number>(i % 1000);
}
Number sum_below(Index i) {
    const auto rest = static_cast<Number>(i % 1000);
    return static_cast<Number>(i / 1000) * 499'500 + rest * (rest - 1) / 2;
}

class AdaptiveProgram final : public runtime::Program {
public:
    explicit AdaptiveProgram(const AdaptiveSettings& settings) : settings_(settings) {}

    void begin(Worker& worker) override {
        if (worker.id.core != 0) return worker.begins_nothing();
        Strand::start(worker, [this](Strand& self) { run(self); });
    }

    runtime::Answer answer() const override { return answer_; }

private:
    void run(Strand& self) {
        self.worker().node().expect_same_nodes("adaptive divides its indices among the nodes, and needs");
        const NodeId node = self.worker().id.node, nodes = self.worker().node().topology().nodes;
        begin_ = settings_.block_begin(node, nodes);
        end_ = settings_.block_begin(node + 1, nodes);
        switch (settings_.loop) {
            case Loop::accumulate:
                return accumulate(self);
            case Loop::each:
                return for_each(self);
            case Loop::find:
                return find(self);
            case Loop::prefix_sum:
                return prefix_sum(self);
        }
    }

    /// Runs `loop` and notes how long it took.
    template <class Code>
    void timed(Strand& self, const Code& loop) {
        const auto now = [&] { return self.worker().backend->now(self.worker()); };
        const Time begin = now();
        loop();
        answer_ = {{"seconds", to_seconds(now() - begin), runtime::AnswerValue::Combine::max}};
    }
    void answers(const char* name, double value) { answer_.push_back({name, value}); }

    void accumulate(Strand& self) {
        const auto part = [this](Worker& worker, Index begin, Index end) {
            Sum sum{end - begin, 0};
            worker.compute(settings_.work_of(begin, end), [&] {
                for (Index i = begin; i < end; ++i) sum.sum += settings_.computed(i);
            });
            return sum;
        };
        Sum sum;
        timed(self, [&] {
            sum = adaptive_accumulate(self, begin_, end_, settings_.grain, Sum{}, part,
                                      [](const Sum& a, const Sum& b) {
                                          return Sum{a.count + b.count, a.sum + b.sum};
                                      });
        });
        answers("iterations", static_cast<double>(sum.count));
        answers("sum", static_cast<double>(sum.sum));
    }

    /// An element is wrong too if its index came twice.
    void for_each(Strand& self) {
        std::vector<std::uint32_t> values(static_cast<std::size_t>(end_ - begin_));
        const auto at = [&](Index i) -> std::uint32_t& {
            return values[static_cast<std::size_t>(i - begin_)];
        };
        const auto body = [&](Worker& worker, Index begin, Index end) {
            worker.compute(settings_.work_of(begin, end), [&] {
                for (Index i = begin; i < end; ++i)
                    at(i) += 1 + static_cast<std::uint32_t>(settings_.computed(i));
            });
        };
        timed(self, [&] { adaptive_for(self, begin_, end_, settings_.grain, body); });
        Index wrong = 0;
        for (Index i = begin_; i < end_; ++i)
            if (at(i) != 1 + settings_.expected(i)) ++wrong;
        answers("iterations", static_cast<double>(end_ - begin_));
        answers("wrong", static_cast<double>(wrong));
    }

    void find(Strand& self) {
        if (begin_ == end_) return;
        const Index there = settings_.to_be_found(begin_, end_);
        const Number wanted = overlap::after_steps(static_cast<Number>(there), settings_.steps_of(there));
        const auto holds = [&](Worker& worker, Index i) {
            bool found = false;
            worker.compute(settings_.work_of(i, i + 1), [&] {
                found = overlap::computed(static_cast<Number>(i), settings_.steps_of(i)) == wanted;
            });
            return found;
        };
        Index found = -1;
        timed(self, [&] { found = adaptive_find(self, begin_, end_, settings_.grain, holds); });
        answers("found", static_cast<double>(found));
    }

    void prefix_sum(Strand& self) {
        std::vector<Number> sums(static_cast<std::size_t>(end_ - begin_));
        for (Index i = begin_; i < end_; ++i) sums[static_cast<std::size_t>(i - begin_)] = element(i);
        const Number known = overlap::after_steps(1, settings_.steps);
        const auto combine = [&](Worker& worker, Number a, Number b) {
            Number difference = 0;
            worker.compute(settings_.work_of(0, 1),
                           [&] { difference = overlap::computed(1, settings_.steps) - known; });
            return a + b + difference;
        };
        timed(self, [&] {
            adaptive_prefix_sum(self, sums.begin(), sums.end(), sums.begin(), settings_.grain, combine);
        });
        Index wrong = 0;
        for (Index i = begin_; i < end_; ++i)
            if (sums[static_cast<std::size_t>(i - begin_)] != sum_below(i + 1) - sum_below(begin_)) ++wrong;
        answers("iterations", static_cast<double>(sums.size()));
        answers("wrong", static_cast<double>(wrong));
    }

    const AdaptiveSettings& settings_;
    Index begin_ = 0;
    Index end_ = 0;
    runtime::Answer answer_;
};

Loop loop_named(const std::string& name) {
    if (name == "accumulate") return Loop::accumulate;
    if (name == "for") return Loop::each;
    return name == "find" ? Loop::find : Loop::prefix_sum;
}

class Adaptive final : public Workload {
public:
    explicit Adaptive(const Settings& settings)
        : settings_{loop_named(settings.text("loop")),
                    settings.integer<Index>("n"),
                    settings.integer<Index>("grain"),
                    settings.integer<Number>("steps"),
                    static_cast<Number>(settings.number("skew") *
                                        static_cast<double>(settings.integer<Number>("steps"))),
                    settings.number("position"),
                    settings.number("unit_cost")} {
        if (settings_.loop == Loop::prefix_sum && settings_.more_steps > 0)
            throw Error("a prefix sum with skew",
                        "its operations all cost the same: leave skew out, or choose another loop")
                .at(settings.where("skew"));
    }

    void prepare(const ClusterView& cluster, const runtime::Schedule& /*schedule*/) override {
        nodes_ = cluster.grid.nodes;
        const double bytes = settings_.loop == Loop::each ? 4 : settings_.loop == Loop::prefix_sum ? 8 : 0;
        need_memory(bytes * static_cast<double>(settings_.size) * cluster.share_here(),
                    "the elements of an adaptive loop", "lower workload.n");
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<AdaptiveProgram>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const auto size = static_cast<double>(settings_.size);
        switch (settings_.loop) {
            case Loop::accumulate: {
                Number sum = 0;
                for (Index i = 0; i < settings_.size; ++i) sum += settings_.expected(i);
                return judge(result.answer, {{"iterations", size}, {"sum", static_cast<double>(sum)}},
                             "the generator by squaring, in a loop");
            }
            case Loop::find: {
                Index sum = 0;
                for (NodeId node = 0; node < nodes_; ++node) {
                    const Index begin = settings_.block_begin(node, nodes_),
                                end = settings_.block_begin(node + 1, nodes_);
                    if (begin < end) sum += settings_.to_be_found(begin, end);
                }
                return judge(result.answer, {{"found", static_cast<double>(sum)}},
                             "the index that was chosen in each block");
            }
            case Loop::each:
                return judge(result.answer, {{"iterations", size}, {"wrong", 0}},
                             "the generator by squaring, for each element");
            case Loop::prefix_sum:
                break;
        }
        return judge(result.answer, {{"iterations", size}, {"wrong", 0}}, "the closed form of each sum");
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

private:
    AdaptiveSettings settings_;
    NodeId nodes_ = 1;
};

const Registration registration{
    {"adaptive",
     "a loop, a sum, a search or a prefix sum that splits when an idle worker asks",
     {{"loop",
       SettingKind::choice,
       "accumulate",
       "accumulate: a sum over the indices; for: a value for each; find: the least index with a property; "
       "prefix_sum",
       {"accumulate", "for", "find", "prefix_sum"}},
      {"n", SettingKind::integer, "100000", "indices, in a block for each node", {}, 1, 1e9},
      {"grain", SettingKind::integer, "64", "indices that a worker takes at a time", {}, 1, 1e9},
      {"steps", SettingKind::integer, "100", "of a random number generator, for each index", {}, 0, 1e6},
      {"skew",
       SettingKind::number,
       "0",
       "so many times as many steps has the last index more than the first",
       {},
       0,
       1000},
      {"position",
       SettingKind::number,
       "0.5",
       "where in its node's block the index is that find looks for: 0 the first, 1 the last",
       {},
       0,
       1},
      {"unit_cost", SettingKind::flops, "10f", "cost of a step where work is charged", {}, 0, flops_max}},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<Adaptive>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
