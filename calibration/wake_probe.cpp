// The micro-benchmark of waking a worker: the time until its next instruction while it still looks, after a
// short sleep and after a long one, and the time that the waking worker pays. It also finds how long a sleep
// must be to count as long.
#include <algorithm>
#include <cmath>

#include "calibration/probe.hpp"

namespace heddle::calibration {

namespace {

using runtime::Worker;

/// Worker 0 wakes worker 1, which has slept for a chosen time.
class WakeProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(Worker& worker) override { worker.id.core == 0 ? wake(worker) : sleep(worker); }

private:
    // The worker still looks; it sleeps, but not deeply.
    static constexpr double shortest = 1e-6;
    static constexpr double asleep = 20e-6;

    struct Wake {
        double slept = 0;
        double woken = 0;  ///< from the call to the woken worker's next instruction
        double paid = 0;   ///< by the caller
    };

    void sleep(Worker& worker) {
        for (std::uint64_t step = 1;; ++step) {
            waker_gate_.open(worker, step, 0);
            settle(worker);
            const Time before = worker.backend->now(worker);
            sleeper_gate_.wait_for(worker, step);
            woken_ = worker.backend->now(worker);
            parked_ = before;
            if (over_.load(std::memory_order_acquire)) return;
        }
    }

    /// Without sleep of its own: waking this worker would make the other's next sleep longer.
    void await_sleeper(Worker& worker, std::uint64_t step) const {
        while (waker_gate_.step() < step)
            worker.compute({50e-9 * worker.node().topology().core_speed, 0}, {});
    }

    Wake wake_after(Worker& worker, double seconds) {
        ++step_;
        await_sleeper(worker, step_);
        // The sleeper is about to park: the work here takes far longer.
        worker.compute({seconds * worker.node().topology().core_speed, 0}, {});
        settle(worker);
        const Time begin = worker.backend->now(worker);
        sleeper_gate_.open(worker, step_, 1);
        settle(worker);
        const Time paid = worker.backend->now(worker);
        await_sleeper(worker, step_ + 1);  // it has written down when it woke
        return {to_seconds(begin - parked_), to_seconds(woken_ - begin), to_seconds(paid - begin)};
    }

    void add(const char* quantity, double size, double seconds) {
        ProbeProgram::add({quantity, size, 1, seconds});
    }

    void wake(Worker& worker) {
        std::vector<double> after_nap, after_long;
        const double longest = effort_.deep_seconds;
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
            const Wake soon = wake_after(worker, shortest);
            const Wake nap = wake_after(worker, asleep);
            const Wake late = wake_after(worker, longest);
            add("wake_soon", 0, soon.woken);
            add("wake_asleep", 0, nap.woken);
            add("wake_late", 0, late.woken);
            add("unpark", 0, nap.paid);
            after_nap.push_back(nap.woken);
            after_long.push_back(late.woken);
        }
        find_step(worker, median(after_nap), median(after_long));
        over_.store(true, std::memory_order_release);
        sleeper_gate_.open(worker, ~std::uint64_t{0}, 1);
    }

    /// Halves the interval, on a logarithmic scale, in which sleeps become long.
    void find_step(Worker& worker, double shallow, double deep) {
        constexpr double worth_it = 1.2;
        if (deep < worth_it * shallow) return;
        double below = asleep, above = effort_.deep_seconds;
        constexpr double near = 1.002;
        while (above > near * below) {
            const double middle = std::sqrt(below * above);
            std::vector<double> slept, woken;
            for (std::uint32_t i = 0; i < std::min(effort_.repetitions, 5U); ++i) {
                const Wake wake = wake_after(worker, middle);
                slept.push_back(wake.slept);
                woken.push_back(wake.woken);
            }
            const bool is_deep = median(woken) > std::sqrt(shallow * deep);
            (is_deep ? above : below) = std::clamp(middle, below, above);
            (is_deep ? slept_above_ : slept_below_) = median(slept);
            if (slept_above_ > 0 && slept_below_ > 0 && slept_above_ < near * slept_below_) break;
        }
        if (slept_above_ > 0 && slept_below_ > 0)
            for (const double seconds : {slept_below_, slept_above_}) add("deep_sleep", 0, seconds);
    }

    std::uint64_t step_ = 0;
    Gate waker_gate_, sleeper_gate_;
    Time parked_{}, woken_{};
    std::atomic<bool> over_{false};
    double slept_below_ = 0, slept_above_ = 0;
};

}  // namespace

Probe wake_probe(const Effort& effort) {
    Probe probe{
        "wake", "waking a worker", 1,
        2,      quiet_schedule(),  [effort](NodeId) {
                    return std::make_unique<WakeProgram>(effort); }};
    // It sleeps soon.
    probe.schedule.spin_alone = probe.schedule.spin;
    return probe;
}

}  // namespace heddle::calibration
