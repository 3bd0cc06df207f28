// overlap: how much of a message a computation hides (Gautier, Besseron, Pigeon: "KAAPI", PASCO 2007, section
// 4.3). Node 0 sends data, computes and waits for an acknowledgement. These are four tasks of a dataflow
// graph, which a group runs round by round. They write the data, read them on node 1, compute, and read the
// acknowledgement.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "model/dataflow.hpp"
#include "workloads/overlap.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;

using Data = std::vector<std::uint8_t>;

/// Times are those of node 0.
struct Posted {
    std::uint64_t round;
    Time at;
};
struct Computed {
    std::uint64_t value;
    Time took;
};
struct Round {
    Time computing;
    Time whole;
    bool right;
};
using Rounds = std::vector<Round>;

Time now(const Thread& self) {
    const runtime::Worker& worker = self.worker();
    return worker.backend->now(worker);
}

// --- tasks

void write_data(Thread& self, std::uint64_t bytes, shared_rw<std::uint64_t> round, shared_w<Data> data,
                shared_w<Posted> posted) {
    Data& made = data.make(bytes);
    self.worker().compute({}, [&] { overlap::fill(round.read(), made); });
    posted = Posted{round.value()++, now(self)};
}

void acknowledge(Thread& self, shared_r<Data> data, shared_w<std::uint64_t> acknowledgement) {
    std::uint64_t sum = 0;
    self.worker().compute({}, [&] { sum = overlap::sum_of(data.read()); });
    acknowledgement = sum;
}

void compute(Thread& self, std::uint64_t steps, double flops, shared_r<Posted> posted,
             shared_w<Computed> computed) {
    const Time begin = now(self);
    std::uint64_t value = posted.read().round;
    self.worker().compute({flops, 0}, [&] { value = overlap::computed(value, steps); });
    computed = Computed{value, now(self) - begin};
}

void await_answer(Thread& self, std::uint64_t steps, std::uint64_t bytes,
                  shared_r<std::uint64_t> acknowledgement, shared_r<Posted> posted,
                  shared_r<Computed> computed, shared_rw<Rounds> rounds) {
    const Time total = now(self) - posted.read().at;
    const std::uint64_t round = posted.read().round;
    bool right = false;
    self.worker().compute({}, [&] {
        Data data(bytes);
        overlap::fill(round, data);
        right = acknowledgement == overlap::sum_of(data) &&
                computed.read().value == overlap::after_steps(round, steps);
    });
    rounds.value().push_back({computed.read().took, total, right});
}

// --- the program

struct OverlapSettings {
    std::uint64_t bytes;
    std::uint64_t steps;
    std::uint32_t rounds;
    double unit_cost;

    double flops() const { return unit_cost * static_cast<double>(steps); }
};

class Overlap final : public DataflowProgram {
public:
    explicit Overlap(const OverlapSettings& settings) : settings_(settings) {}

    bool places() const override { return true; }
    void main(Thread& self) override {
        const shared<std::uint64_t> round(self, std::uint64_t{0});
        const shared<Rounds> rounds(self, Rounds{});
        const shared<Data> data(self);
        const shared<std::uint64_t> acknowledgement(self);
        const shared<Posted> posted(self);
        const shared<Computed> computed(self);
        Group group(self, place, [&](GroupRecorder& /*recorder*/) {
            self.fork<write_data>(settings_.bytes, round, data, posted);
            self.fork<acknowledge>(data, acknowledgement);
            self.fork<compute>(settings_.steps, settings_.flops(), posted, computed);
            self.fork<await_answer>(settings_.steps, settings_.bytes, acknowledgement, posted, computed,
                                    rounds);
        });
        group.run(settings_.rounds);
        found_ = rounds.read();
    }

    /// The times are those of the round that took the median of all.
    runtime::Answer answer() const override {
        if (found_.empty()) return {};
        Rounds rounds = found_;
        const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
        std::ranges::nth_element(rounds, middle, {}, &Round::whole);
        const double computing = to_seconds(middle->computing), whole = to_seconds(middle->whole);
        return {{"rounds", static_cast<double>(rounds.size())},
                {"right", static_cast<double>(std::ranges::count(rounds, true, &Round::right))},
                {"seconds_computing", computing},
                {"seconds", whole},
                {"ratio", computing / whole}};
    }

private:
    /// The second task on node 1, the others on node 0, in this order.
    static GroupPlacing place(const Recording& /*recording*/) {
        return {{{0, 0}, {1, 0}, {0, 0}, {0, 0}}, {0, 1, 2, 3}, true};
    }

    OverlapSettings settings_;
    Rounds found_;
};

class OverlapWorkload final : public Workload {
public:
    explicit OverlapWorkload(const Settings& settings)
        : settings_{static_cast<std::uint64_t>(settings.number("bytes")),
                    settings.integer<std::uint64_t>("steps"), settings.integer<std::uint32_t>("rounds"),
                    settings.number("unit_cost")} {}

    void prepare(const ClusterView& cluster, const runtime::Schedule& /*schedule*/) override {
        if (cluster.grid.nodes >= 2) return;
        // Of nodes that may join, node 1 has no part of a placement.
        throw Error("overlap sends from node 0 to node 1, and one node begins",
                    "set platform.nodes to 2, and platform.nodes_at_start, if it is stated");
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<Overlap>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const auto rounds = static_cast<double>(settings_.rounds);
        return judge(result.answer, {{"rounds", rounds}, {"right", rounds}},
                     "the sum of the bytes, and the generator by squaring");
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&Task<write_data>::travelling, &Task<acknowledge>::travelling, &Task<compute>::travelling,
                &Task<await_answer>::travelling};
    }

private:
    OverlapSettings settings_;
};

const Registration registration{
    {"overlap",
     "how much of a message a computation hides: send, compute, wait for the acknowledgement",
     {{"bytes", SettingKind::bytes, "64KiB", "of the message", {}, 1, 1 << 30},
      {"steps", SettingKind::integer, "100000", "of the computation", {}, 0, 1e12},
      {"rounds", SettingKind::integer, "10", "how often; the median counts", {}, 1, 1e6},
      {"unit_cost", SettingKind::flops, "10f", "cost of a step where work is charged", {}, 0, flops_max}},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<OverlapWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
