// Messages between two processes, which are started as `heddle launch` starts them:
//
//     heddle_messages seam|active latency|rate|gathered|bulk BYTES COUNT [auto|block|poll|single]
//     [memory|unix|tcp|udp] heddle_messages endpoint latency BYTES COUNT [auto|block|poll|single]
//     [memory|unix|tcp|udp] heddle_messages inside latency BYTES COUNT
//
// seam: bytes through Backend::send, handled by NodeProgram::deliver. active: active messages through an
// outbox, with their handlers; `gathered` ones may wait in the outbox until enough have come together, the
// others may not. endpoint: messages between strands, which wait for them. inside: active messages from one
// worker of a node to the other. Nothing is stolen meanwhile. The last words are how receivers wait
// (`transport.receive`), and what connects the processes (`transport.local`); `single` gives each node a
// single module instead (`schedule.modules`).
#include <algorithm>
#include <atomic>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "base/error.hpp"
#include "bench/native/outcome.hpp"
#include "bench/native/process_options.hpp"
#include "runtime/comm/endpoint.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/native/launch.hpp"
#include "runtime/run/execution.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using runtime::Backend;
using runtime::Bytes;
using runtime::Context;

struct Task {
    enum class Kind : std::uint8_t { latency, rate, gathered, bulk };
    Kind kind = Kind::latency;
    std::size_t bytes = 0;
    std::uint64_t count = 0;

    static Task named(const std::string& name, std::size_t bytes, std::uint64_t count) {
        const Kind kind = name == "latency"    ? Kind::latency
                          : name == "gathered" ? Kind::gathered
                          : name == "bulk"     ? Kind::bulk
                                               : Kind::rate;
        return {kind, bytes, count};
    }
};

/// What is common to both kinds of messages: counting them, and how node 0 waits for the last.
class Count {
public:
    explicit Count(std::uint64_t count) : left_(count) {}

    /// On the receiver. True for the last message.
    bool last(std::span<const std::byte> message) {
        std::uint64_t value = 0;
        std::memcpy(&value, message.data(), std::min(sizeof value, message.size()));
        sum_ += value;
        return --left_ == 0;
    }
    void finish(Backend& backend, Context& receiver) {
        over_.store(true, std::memory_order_release);
        backend.unpark(receiver, 0);
    }
    void wait(Backend& backend, Context& worker) {
        while (!over_.load(std::memory_order_acquire)) backend.park(worker, never);
    }
    std::uint64_t sum() const { return sum_; }

private:
    std::uint64_t left_;
    std::uint64_t sum_ = 0;
    std::atomic<bool> over_{false};
};

void report(const Task& task, double seconds) {
    const auto count = static_cast<double>(task.count);
    Outcome outcome;
    outcome.add("seconds", seconds);
    if (task.kind == Task::Kind::latency) {
        outcome.add("one_way_us", seconds / (2 * count) * 1e6);
    } else {
        outcome.add("messages_per_second", count / seconds);
        outcome.add("gigabytes_per_second", count * static_cast<double>(task.bytes) / seconds / 1e9);
    }
    outcome.add("peak_mb", peak_mb()).print();
}

// --- through the seam

class SeamNode final : public runtime::NodeProgram {
public:
    explicit SeamNode(const Task& task) : task_(task), count_(task.count) {}

    Context& context(CoreId core) override { return contexts_[core]; }

    void work(CoreId) override {
        Context& worker = contexts_[0];
        if (worker.id.node != 0) return;
        const runtime::Body body = std::make_shared<Bytes>(task_.bytes, std::byte{1});
        const double start = seconds_now();
        for (std::uint64_t i = 0; i < (task_.kind == Task::Kind::latency ? 1 : task_.count); ++i) {
            if (task_.kind == Task::Kind::bulk) {
                worker.backend->send(worker, 1, Bytes(8, std::byte{}), {body});
            } else {
                worker.backend->send(worker, 1, Bytes(task_.bytes, std::byte{}));
            }
        }
        count_.wait(*worker.backend, worker);
        report(task_, seconds_now() - start);
    }

    void deliver(NodeId, std::span<const std::byte> message, runtime::Body body) override {
        Context& receiver = contexts_[1];
        if (receiver.id.node == 0) {
            if (task_.kind != Task::Kind::latency || count_.last(message))
                return count_.finish(*receiver.backend, receiver);
        } else if (task_.kind == Task::Kind::bulk && body->size() != task_.bytes) {
            throw Error("a body of another size");
        }
        const bool answers = task_.kind == Task::Kind::latency || count_.last(message);
        if (answers)
            receiver.backend->send(receiver, 1 - receiver.id.node, Bytes(message.begin(), message.end()));
    }

private:
    Task task_;
    Count count_;
    Context contexts_[2];
};

// --- active messages

class ActiveProgram final : public runtime::Program {
public:
    explicit ActiveProgram(const Task& given) : task(given), count(given.count) {}

    void begin(runtime::Worker& worker) override;
    runtime::Answer answer() const override { return {}; }

    Task task;
    Count count;
};

ActiveProgram& program_of(runtime::Node& node) {
    return static_cast<ActiveProgram&>(node.program());
}

void handle(runtime::Node& node, NodeId from, std::span<const std::byte> message);

const runtime::Handler handler("bench.message", runtime::Handler::Kind::work, handle);

void handle(runtime::Node& node, NodeId from, std::span<const std::byte> message) {
    ActiveProgram& program = program_of(node);
    const runtime::Body body = node.take_body();
    const bool latency = program.task.kind == Task::Kind::latency;
    if (node.id() == 0) {
        if (!latency || program.count.last(message))
            return program.count.finish(*node.receiver().backend, node.receiver());
    } else if (program.task.kind == Task::Kind::bulk && body->size() != program.task.bytes) {
        throw Error("a body of another size");
    }
    if (latency || program.count.last(message)) node.receiver_outbox().post(from, handler, message);
}

void ActiveProgram::begin(runtime::Worker& worker) {
    using Urgency = runtime::Outbox::Urgency;
    if (worker.id.node != 0) return;
    const auto body = std::make_shared<Bytes>(task.bytes, std::byte{1});
    const std::span<const std::byte> message(*body);
    const double start = seconds_now();
    for (std::uint64_t i = 0; i < (task.kind == Task::Kind::latency ? 1 : task.count); ++i) {
        if (task.kind == Task::Kind::bulk) {
            worker.outbox().post(1, handler, message.first(8), runtime::Enclosure{body});
        } else {
            worker.outbox().post(1, handler, message,
                                 task.kind == Task::Kind::gathered ? Urgency::gathered : Urgency::now);
        }
    }
    worker.outbox().flush();
    count.wait(*worker.backend, worker);
    report(task, seconds_now() - start);
}

// --- between strands

class EndpointProgram final : public runtime::Program {
public:
    explicit EndpointProgram(const Task& given) : task(given) {}

    void begin(runtime::Worker& worker) override {
        runtime::Strand::start(worker, [this](runtime::Strand& self) { talk(self); });
    }
    runtime::Answer answer() const override { return {}; }

    Task task;

private:
    void talk(runtime::Strand& self) {
        const NodeId here = self.worker().id.node;
        runtime::Endpoint endpoint(self.worker().node(), 1);
        const Bytes bytes(task.bytes, std::byte{1});
        const double start = seconds_now();
        for (std::uint64_t i = 0; i < task.count; ++i) {
            if (here == 0) endpoint.send(self, {1, 1}, 0, runtime::Parcel(std::span(bytes)));
            endpoint.receive(self);
            if (here == 1) endpoint.send(self, {0, 1}, 0, runtime::Parcel(std::span(bytes)));
        }
        if (here == 0) report(task, seconds_now() - start);
    }
};

// --- inside a node

/// Two workers in turn: a message of the one lets the other go on. No answer is a message of its own.
class InsideProgram final : public runtime::Program {
public:
    explicit InsideProgram(const Task& given) : task(given) {}

    void begin(runtime::Worker& worker) override;
    runtime::Answer answer() const override { return {}; }

    Task task;
    std::atomic<std::uint64_t> turn{0};
};

const runtime::Handler inside_handler("bench.inside", runtime::Handler::Kind::work,
                                      [](runtime::Node& node, NodeId, auto) {
                                          auto& program = static_cast<InsideProgram&>(node.program());
                                          const auto turn = program.turn.fetch_add(1) + 1;
                                          node.receiver().backend->unpark(node.receiver(), turn % 2);
                                      });

void InsideProgram::begin(runtime::Worker& worker) {
    const Bytes message(task.bytes, std::byte{});
    const double start = seconds_now();
    for (std::uint64_t i = 0; i < task.count; ++i) {
        while (turn.load() != 2 * i + worker.id.core) worker.backend->park(worker, never);
        worker.outbox().post(worker.id.node, inside_handler, message);
    }
    if (worker.id.core == 1) report(task, seconds_now() - start);
}

void run_inside(const Task& task) {
    native::NativeOptions options;
    options.cores = 2;
    native::NativeBackend backend(options);
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    runtime::Execution(backend, schedule, [&](NodeId) {
        return std::make_unique<InsideProgram>(task);
    }).run();
}

void run_node(std::string_view level, const Task& task, std::string_view how, std::string_view local) {
    native::NativeBackend backend(process_options(how, local));
    if (level != "seam") {
        runtime::Schedule schedule;
        schedule.stealing.victim = "none";
        runtime::Execution(backend, schedule, [&](NodeId) -> std::unique_ptr<runtime::Program> {
            if (level == "endpoint") return std::make_unique<EndpointProgram>(task);
            return std::make_unique<ActiveProgram>(task);
        }).run();
    } else {
        SeamNode node(task);
        backend.run([&](NodeId) -> runtime::NodeProgram& { return node; });
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view how = argc > 5 ? argv[5] : "auto";
    const std::string_view local = argc > 6 ? argv[6] : "memory";
    const auto is_one_of = [](std::string_view word, std::initializer_list<std::string_view> words) {
        return std::ranges::find(words, word) != words.end();
    };
    if (argc < 5 || argc > 7 || !is_one_of(how, {"auto", "block", "poll", "single"}) ||
        !is_one_of(local, {"memory", "unix", "tcp", "udp"})) {
        std::fprintf(stderr,
                     "usage: %s seam|active|endpoint latency|rate|gathered|bulk BYTES COUNT "
                     "[auto|block|poll|single] [memory|unix|tcp|udp]\n",
                     argv[0]);
        return 2;
    }
    try {
        if (std::string_view(argv[1]) == "inside") {
            run_inside(Task::named("latency", std::stoul(argv[3]), std::stoul(argv[4])));
            return 0;
        }
        if (!native::membership_from_environment()) {
            native::LaunchOptions launch;
            launch.nodes = 2;
            launch.argv.assign(argv, argv + argc);
            return native::launch_here(launch);
        }
        run_node(argv[1], Task::named(argv[2], std::stoul(argv[3]), std::stoul(argv[4])), how, local);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
    return 0;
}
