// A dataflow program of one's own. It computes the n-th Fibonacci number as in Figure 1 of the KAAPI paper.
// Beside it, a thread as in Figure 3 counts the numbers whose binary digits add up to an even number. What
// the figures leave out is here: the work that a thief takes, and a check.
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "figures.hpp"
#include "workloads/workload.hpp"

namespace kaapi {

namespace {

constexpr std::int64_t numbers = 4000;

/// The numbers from `begin` to `end` are left. Thieves take the upper half.
struct Part {
    heddle::runtime::SpinLock lock;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::atomic<std::int64_t>* even = nullptr;
};

}  // namespace

void start_routine(Kaapi& self, void* arg) {
    const std::unique_ptr<Part> part(static_cast<Part*>(arg));
    std::int64_t even = 0;
    for (;;) {
        std::int64_t number = 0;
        {
            const heddle::runtime::SpinLock::Guard guard(part->lock);
            if (part->begin == part->end) break;
            number = part->begin++;
        }
        self.worker().work(1);
        bool is_even = true;
        for (; number != 0; number &= number - 1) is_even = !is_even;
        even += is_even ? 1 : 0;
        self.offer();
    }
    self.close();
    *part->even += even;
}

bool steal_function(Kaapi& /*victim_thread*/, KaapiId& thief_thread, const IdleWorkers& idle_cpu,
                    void* user_arg) {
    auto& part = *static_cast<Part*>(user_arg);
    auto half = std::make_unique<Part>();
    half->even = part.even;
    {
        const heddle::runtime::SpinLock::Guard guard(part.lock);
        if (part.end - part.begin < 2) return false;
        half->begin = part.begin + (part.end - part.begin) / 2;
        half->end = std::exchange(part.end, half->begin);
    }
    Attributes attr;
    attr.set_steal_function(&steal_function, half.get());
    create(idle_cpu.worker(), thief_thread, attr, start_routine, half.release());
    return true;
}

namespace {

class Figures final : public DataflowProgram {
public:
    explicit Figures(int n) : n_(n) {}

    heddle::runtime::Work unit() const override { return {1e3, 0}; }

    void begin(heddle::runtime::Worker& worker) override {
        DataflowProgram::begin(worker);
        if (worker.id != heddle::WorkerId{0, 0}) return;
        auto part = std::make_unique<Part>();
        part->end = numbers;
        part->even = &even_;
        create_thread(worker, part.release());
    }

    void main(Thread& self) override {
        shared<int> res(self);
        self.fork<fibonacci>(n_, res);
        self.sync();
        value_ = res.read();
    }

    heddle::runtime::Answer answer() const override {
        return {{"value", static_cast<double>(value_)}, {"even", static_cast<double>(even_.load())}};
    }

private:
    int n_;
    int value_ = 0;
    std::atomic<std::int64_t> even_{0};
};

class FiguresWorkload final : public heddle::workloads::Workload {
public:
    explicit FiguresWorkload(const heddle::Settings& settings) : n_(settings.integer<int>("n")) {}

    std::unique_ptr<heddle::runtime::Program> program(heddle::NodeId /*node*/) const override {
        return std::make_unique<Figures>(n_);
    }
    heddle::workloads::Verdict check(const heddle::runtime::RunResult& result) const override {
        int before = 1, value = 0;
        for (int i = 0; i < n_; ++i) value += std::exchange(before, value);
        // Of two numbers that differ in the last digit one is even in this sense.
        return heddle::workloads::judge(result.answer,
                                        {{"value", static_cast<double>(value)}, {"even", numbers / 2.0}},
                                        "the sum from below, and half of the numbers");
    }
    std::vector<const heddle::runtime::TaskType*> tasks() const override {
        return {&Task<fibonacci>::travelling, &Task<sum>::travelling};
    }

private:
    int n_;
};

const heddle::workloads::Registration registration{
    {"figures",
     "Figures 1 and 3 of the KAAPI paper",
     {{"n", heddle::SettingKind::integer, "12", "which Fibonacci number", {}, 0, 40}},
     [](const heddle::Settings& settings) -> std::unique_ptr<heddle::workloads::Workload> {
         return std::make_unique<FiguresWorkload>(settings);
     }}};

}  // namespace

}  // namespace kaapi
