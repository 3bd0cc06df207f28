// How much of a message a computation hides (overlap.hpp), between two processes of a worker each, which are
// started as `heddle launch` starts them:
//
//     heddle_overlap active|dataflow BYTES ROUNDS STEPS,STEPS,... [auto|block|poll|single [memory|unix|tcp
//     [integrity|headers]]]
//
// active: an active message whose handler answers. dataflow: the workload `overlap`, once for each number of
// steps.
#include "bench/native/overlap.hpp"

#include <atomic>
#include <memory>

#include "base/error.hpp"
#include "bench/native/process_options.hpp"
#include "model/dataflow.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "workloads/workload.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using runtime::Bytes;

// --- active messages

/// What node 0 waits for.
struct Answer {
    std::uint64_t sum = 0;
    std::atomic<bool> here{false};
};

class ActiveProgram final : public runtime::Program {
public:
    explicit ActiveProgram(OverlapTask task) : task_(std::move(task)) {}

    void begin(runtime::Worker& worker) override;
    runtime::Answer answer() const override { return {}; }

    Answer awaited;

private:
    OverlapTask task_;
};

std::span<const std::uint8_t> octets(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

const runtime::Handler answers("bench.overlap_answer", runtime::Handler::Kind::work,
                               [](runtime::Node& node, NodeId, std::span<const std::byte> message) {
                                   Answer& awaited = static_cast<ActiveProgram&>(node.program()).awaited;
                                   std::memcpy(&awaited.sum, message.data(), sizeof awaited.sum);
                                   awaited.here.store(true, std::memory_order_release);
                                   node.receiver().backend->unpark(node.receiver(), 0);
                               });

const runtime::Handler asks("bench.overlap_message", runtime::Handler::Kind::work,
                            [](runtime::Node& node, NodeId from, std::span<const std::byte> message) {
                                const runtime::Body body = node.take_body();
                                const std::uint64_t sum = overlap::sum_of(octets(body ? *body : message));
                                node.receiver_outbox().post(from, answers, std::as_bytes(std::span(&sum, 1)));
                            });

class ActivePartner {
public:
    ActivePartner(runtime::Worker& worker, Answer& awaited, std::size_t bytes)
        : worker_(worker), awaited_(awaited), bytes_(bytes) {}

    std::span<std::uint8_t> room() {
        body_ = std::make_shared<Bytes>(bytes_);
        return {reinterpret_cast<std::uint8_t*>(body_->data()), body_->size()};
    }
    void post() { worker_.outbox().post(1, asks, {}, runtime::Enclosure{std::move(body_)}); }
    std::uint64_t wait() {
        while (!awaited_.here.load(std::memory_order_acquire)) worker_.backend->park(worker_, never);
        awaited_.here.store(false, std::memory_order_relaxed);
        return awaited_.sum;
    }

private:
    runtime::Worker& worker_;
    Answer& awaited_;
    std::size_t bytes_;
    runtime::Body body_;
};

void ActiveProgram::begin(runtime::Worker& worker) {
    if (worker.id.node != 0) return;
    ActivePartner partner(worker, awaited, task_.bytes);
    measure_overlap(task_, partner);
}

// --- dataflow

class DataflowRounds final : public dataflow::DataflowProgram {
public:
    explicit DataflowRounds(OverlapTask task) : task_(std::move(task)) {}

    void main(dataflow::Thread& self) override {
        OverlapTimes times;
        for (std::uint64_t pass = 0; pass < OverlapTask::passes; ++pass)
            for (const std::uint64_t steps : task_.steps) run_workload(self, steps, times);
        times.print();
    }
    runtime::Answer answer() const override { return {}; }

private:
    void run_workload(dataflow::Thread& self, std::uint64_t steps, OverlapTimes& times) const {
        const std::uint64_t rounds = task_.rounds_of_pass();
        const auto& kind = workloads::find("overlap");
        Settings settings(kind.settings);
        settings.set("bytes", std::to_string(task_.bytes));
        settings.set("steps", std::to_string(steps));
        settings.set("rounds", std::to_string(rounds));
        const auto program = kind.make(settings)->program(0);
        dynamic_cast<DataflowProgram&>(*program).main(self);
        const runtime::Answer found = program->answer();
        if (value_of(found, "right") != static_cast<double>(rounds))
            throw Error("a wrong sum, or a wrong number");
        times.add(steps, value_of(found, "seconds"), 0, value_of(found, "seconds_computing"));
    }
    static double value_of(const runtime::Answer& answer, std::string_view name) {
        return std::ranges::find(answer, name, [](const auto& entry) { return entry.name; })->value;
    }

    OverlapTask task_;
};

void run_node(std::string_view level, const OverlapTask& task, const native::NativeOptions& options) {
    native::NativeBackend backend(options);
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    runtime::Execution(backend, schedule, [&](NodeId) -> std::unique_ptr<runtime::Program> {
        if (level == "dataflow") return std::make_unique<DataflowRounds>(task);
        return std::make_unique<ActiveProgram>(task);
    }).run();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5 || argc > 8) {
        std::fprintf(stderr,
                     "usage: %s active|dataflow BYTES ROUNDS STEPS,STEPS,... [auto|block|poll|single "
                     "[memory|unix|tcp [integrity|headers]]]\n",
                     argv[0]);
        return 2;
    }
    try {
        if (!native::membership_from_environment()) {
            native::LaunchOptions launch;
            launch.nodes = 2;
            launch.argv.assign(argv, argv + argc);
            return native::launch_here(launch);
        }
        const auto word = [&](int at, const char* otherwise) { return argc > at ? argv[at] : otherwise; };
        native::NativeOptions options = process_options(word(5, "auto"), word(6, "tcp"));
        if (std::string_view(word(7, "integrity")) == "headers")
            options.protection = native::Protection::headers;
        run_node(argv[1], OverlapTask::read(argv[2], argv[3], argv[4]), options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
    return 0;
}
