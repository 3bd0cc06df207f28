// Micro-benchmarks of a thief. It looks at a victim without tasks, near or far, steals a task, polls for
// messages, and searches a dataflow thread for ready work.
#include <array>

#include "calibration/probe.hpp"
#include "model/dataflow.hpp"
#include "model/fork_join.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/stealing/policy.hpp"

namespace heddle::calibration {

namespace {

using runtime::Worker;

constexpr const char* near_policy = ".calibration_near";
constexpr const char* far_policy = ".calibration_far";

/// Looks at one colleague again and again, so that a round is one look and nothing else. On a node of one
/// core a round is no look at all.
class OneVictim final : public runtime::VictimPolicy {
public:
    OneVictim(const runtime::ThiefView& view, bool far) : cores_(view.topology->cores) {
        for (CoreId core = 0; core < cores_; ++core)
            if (core != view.self.core && view.topology->near(core, view.self.core) != far) victim_ = core;
    }

    runtime::Victim next() override {
        using Kind = runtime::Victim::Kind;
        if (++looks_ % looks_max == 0) return {Kind::rest, 0};
        return {cores_ == 1 ? Kind::colleagues : Kind::core, victim_};
    }
    void found() override {}

private:
    static constexpr std::uint64_t looks_max = 1U << 20;
    CoreId cores_;
    CoreId victim_ = 0;
    std::uint64_t looks_ = 0;
};

// Without help: policies of this program's own, which no list shows.
const runtime::VictimPolicyRegistration near_registration(
    {near_policy, "", {}, [](const runtime::ThiefView& view) -> std::unique_ptr<runtime::VictimPolicy> {
         return std::make_unique<OneVictim>(view, false);
     }});
const runtime::VictimPolicyRegistration far_registration(
    {far_policy, "", {}, [](const runtime::ThiefView& view) -> std::unique_ptr<runtime::VictimPolicy> {
         return std::make_unique<OneVictim>(view, true);
     }});

/// Reads how long so many rounds of a worker's search take. It has no work to give, and is asked in each
/// round.
class Rounds final : public runtime::WorkSource {
public:
    /// By the worker that will search, before it does. `end` is completed after the last round.
    void arm(Worker& worker, std::uint64_t rounds, runtime::Event& end) {
        settle(worker);
        searcher_ = worker.id.core;
        rounds_ = rounds;
        seen_ = 0;
        end_ = &end;
        waiting_.add();
        armed_ = true;
    }
    double seconds() const { return seconds_; }

    bool waits_for(const Worker& /*worker*/) const override { return false; }
    bool run(Worker& worker, runtime::Slot* /*head*/) override {
        if (!armed_ || worker.id.core != searcher_) return false;
        if (seen_ == 0) begin_ = worker.backend->now(worker);
        if (seen_++ != rounds_) return false;
        seconds_ = to_seconds(worker.backend->now(worker) - begin_);
        armed_ = false;
        waiting_.subtract();
        end_->complete(worker.node(), worker);
        return false;
    }

private:
    CoreId searcher_ = 0;
    bool armed_ = false;
    std::uint64_t rounds_ = 0, seen_ = 0;
    runtime::Event* end_ = nullptr;
    Time begin_{};
    double seconds_ = 0;
};

/// A program in which worker `thief` reads rounds of its search, and the others sleep.
class SearchProgram : public ProbeProgram {
public:
    SearchProgram(const Effort& effort, std::string quantity, NodeId nodes, CoreId thief, CoreId cores)
        : ProbeProgram(effort), quantity_(std::move(quantity)), nodes_(nodes), thief_(thief), over_(cores) {}

    void set_up(runtime::Node& node) override { node.sources().add(rounds_); }
    void begin(Worker& worker) override {
        if (worker.id.node != 0) return;
        if (worker.id.core != thief_) return sleep_until_over(worker);
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
            for (const std::uint64_t count : {effort_.operations(1000), effort_.operations(20'000)}) {
                runtime::Event end;
                rounds_.arm(worker, count, end);
                worker.wait(worker.base(), end);
                add({quantity_, static_cast<double>(nodes_), static_cast<double>(count), rounds_.seconds()});
            }
        }
        end(worker);
    }

protected:
    void sleep_until_over(Worker& worker) { over_.at(worker.id.core).wait_for(worker, 1); }
    void end(Worker& worker) {
        for (CoreId core = 0; core < worker.node().cores(); ++core)
            if (core != worker.id.core) over_.at(core).open(worker, 1, core);
    }
    Rounds rounds_;

private:
    std::string quantity_;
    NodeId nodes_;
    CoreId thief_;
    std::vector<Gate> over_;
};

struct Numbered {
    static constexpr auto name = "calibration.numbered";
    static std::uint32_t run(model::Strand strand, std::uint32_t number);
};

/// Worker 0 forks a batch of tasks and shares half of them. Worker 1 takes one after the other, and the first
/// and a later one say what time it is. The thief's loop is the same as for a look that finds nothing.
class StealProgram final : public ProbeProgram {
public:
    explicit StealProgram(const Effort& effort) : ProbeProgram(effort) {}

    void set_up(runtime::Node& node) override { node.sources().add(rounds_); }
    void begin(Worker& worker) override { worker.id.core == 0 ? give(worker) : take(worker); }
    void run(Worker& thief, std::uint32_t number) {
        if (thief.id.core != 1) return;
        if (number == first) begin_ = thief.backend->now(thief);
        if (number == last) end_ = thief.backend->now(thief);
    }

private:
    static constexpr std::uint32_t tasks = 1024;
    static constexpr std::uint32_t first = 8;
    static constexpr std::uint32_t last = 480;  // below the half that is shared at once

    void give(Worker& worker) {
        model::Strand strand(worker);
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
            owner_gate_.wait_for(worker, 2 * i + 1);
            begin_ = end_ = Time::zero();
            for (std::uint32_t k = 0; k < tasks; ++k) strand.fork<Numbered>(k);
            thief_gate_.open(worker, i + 1, 1);
            settle(worker);
            // The thief wakes, looks and asks meanwhile. The next fork shares half of what is there.
            const double second = worker.node().topology().core_speed;
            worker.compute({300e-6 * second, 0}, {});
            strand.fork<Numbered>(tasks);
            worker.compute({2e-3 * second, 0}, {});
            strand.join_all<Numbered>(static_cast<std::int32_t>(tasks) + 1, [](std::uint32_t) {});
            stolen_.complete(worker.node(), worker);
            owner_gate_.wait_for(worker, 2 * i + 2);
        }
    }
    void take(Worker& worker) {
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
            read_looks(worker);
            owner_gate_.open(worker, 2 * i + 1, 0);
            thief_gate_.wait_for(worker, i + 1);
            worker.wait(worker.base(), stolen_);
            stolen_.reset();
            if (end_ > begin_ && begin_ != Time::zero())
                add({"look_and_steal", 0, last - first, to_seconds(end_ - begin_)});
            owner_gate_.open(worker, 2 * i + 2, 0);
        }
    }
    /// While worker 0 sleeps, and has nothing to give.
    void read_looks(Worker& worker) {
        for (const std::uint64_t count : {effort_.operations(1000), effort_.operations(20'000)}) {
            runtime::Event end;
            rounds_.arm(worker, count, end);
            worker.wait(worker.base(), end);
            add({"look", 0, static_cast<double>(count), rounds_.seconds()});
        }
    }

    Rounds rounds_;
    Gate thief_gate_, owner_gate_;
    runtime::Event stolen_;
    Time begin_{}, end_{};
};

std::uint32_t Numbered::run(model::Strand strand, std::uint32_t number) {
    strand.program<StealProgram>().run(strand.worker(), number);
    return number;
}

// --- readiness

class ReadinessProgram;

/// Runs while a colleague looks at the closures after it.
void occupied(dataflow::Thread& self, dataflow::shared_w<long> value);
void follow(dataflow::Thread& /*self*/, dataflow::shared_rw<long> value) {
    ++value.value();
}

/// A dataflow thread with a chain of closures of which none is ready, and a thief that looks at all of them.
class ReadinessProgram final : public dataflow::DataflowProgram {
public:
    explicit ReadinessProgram(const Effort& effort) : effort_(effort) {}

    void begin(Worker& worker) override {
        if (worker.id.core == 0) return DataflowProgram::begin(worker);
        for (std::uint64_t step = 1;; step += 2) {
            thief_gate_.wait_for(worker, step);
            if (over_.load(std::memory_order_acquire)) return;
            worker.node().worker(0).deque().ask();
            owner_gate_.open(worker, step, 0);
            thief_gate_.wait_for(worker, step + 1);
            settle(worker);
            const Time begin = worker.backend->now(worker);
            for (int k = 0; k < looks; ++k) HEDDLE_ASSERT(!thread_->take_ready(false, worker));
            const double seconds = to_seconds(worker.backend->now(worker) - begin);
            readings_.push_back({"ready_access", 0, static_cast<double>(looks * chain_), seconds});
            owner_gate_.open(worker, step + 1, 0);
        }
    }
    void main(dataflow::Thread& self) override {
        thread_ = &self;
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i)
            for (const std::uint64_t chain : {100, 900}) make_chain(self, chain);
        over_.store(true, std::memory_order_release);
        thief_gate_.open(self.worker(), ~std::uint64_t{0}, 1);
    }
    void occupy(Worker& worker) {
        thief_gate_.open(worker, ++step_, 1);
        owner_gate_.wait_for(worker, step_);
    }
    runtime::Answer answer() const override { return {}; }
    runtime::Bytes evidence() const override { return to_bytes(readings_); }

private:
    static constexpr int looks = 4;

    void make_chain(dataflow::Thread& self, std::uint64_t chain);

    Effort effort_;
    Readings readings_;
    dataflow::Thread* thread_ = nullptr;
    std::uint64_t chain_ = 0;
    std::uint64_t step_ = 0;
    Gate thief_gate_, owner_gate_;
    std::atomic<bool> over_{false};
};

void ReadinessProgram::make_chain(dataflow::Thread& self, std::uint64_t chain) {
    dataflow::shared<long> value(self);
    self.fork<occupied>(value);
    for (std::uint64_t i = 0; i < chain; ++i) self.fork<follow>(value);
    chain_ = chain;
    occupy(self.worker());  // until the thief has asked
    self.fork<follow>(value);
    self.sync();
}

void occupied(dataflow::Thread& self, dataflow::shared_w<long> value) {
    auto& program = static_cast<ReadinessProgram&>(self.worker().program());
    program.occupy(self.worker());
    value = 0;
}

template <class Made, class... More>
Probe searching(std::string name, std::string what, CoreId cores, const Effort& effort, More... more) {
    Probe probe{std::move(name), std::move(what), 1, cores, {}, [effort, more...](NodeId) {
                    return std::make_unique<Made>(effort, more...);
                }};
    probe.schedule.stealing.victim = near_policy;
    return probe;
}

}  // namespace

Probe thief_probe(const Effort& effort) {
    return searching<StealProgram>("thief", "looking at a worker, and taking a task", 2, effort);
}

Probe far_look_probe(const Effort& effort, CoreId far_core, CoreId cores) {
    (void)far_core;
    Probe probe = searching<SearchProgram>("far", "looking at a worker of another socket", cores, effort,
                                           std::string("far_look"), NodeId{0}, CoreId{1}, cores);
    probe.schedule.stealing.victim = far_policy;
    return probe;
}

Probe poll_probe(const Effort& effort, NodeId nodes) {
    Probe probe = searching<SearchProgram>("poll", "looking for messages", 1, effort, std::string("poll"),
                                           nodes, CoreId{0}, CoreId{1});
    probe.nodes = nodes;
    probe.schedule.modules = runtime::Modules::single;
    return probe;
}

Probe readiness_probe(const Effort& effort) {
    Probe probe = searching<ReadinessProgram>("readiness", "looking for a closure that is ready", 2, effort);
    probe.schedule.stealing.victim = "none";
    return probe;
}

}  // namespace heddle::calibration
