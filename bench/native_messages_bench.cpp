// Messages between two native nodes over loopback TCP: one-way latency, and messages and bytes a second. Both
// nodes are in one process, each with its own sender and receiver thread.
#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "host/wall_clock.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/native/rendezvous.hpp"

namespace {

using namespace heddle;
using runtime::Bytes;
using runtime::Context;

/// A node with one worker, of which node 0's measures.
class BenchNode : public runtime::NodeProgram {
public:
    Context& context(CoreId core) override { return contexts_[core]; }
    void work(CoreId) override {
        if (contexts_[0].id.node == 0) measure(contexts_[0]);
    }
    virtual void measure(Context& worker) = 0;

protected:
    Context& receiver() { return contexts_[1]; }
    void wait_for(const std::atomic<bool>& flag) {
        while (!flag.load(std::memory_order_acquire)) contexts_[0].backend->park(contexts_[0], never);
    }
    void raise(std::atomic<bool>& flag) {
        flag.store(true, std::memory_order_release);
        receiver().backend->unpark(receiver(), 0);
    }

private:
    Context contexts_[2];
};

template <class Node>
double run_pair(std::size_t bytes, int count) {
    const native::Key key = native::make_key();
    const native::Rendezvous rendezvous(2, key);
    Node nodes[2] = {{bytes, count}, {bytes, count}};
    std::vector<std::thread> threads;
    for (NodeId rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
            native::NativeOptions options;
            options.membership = native::Membership{rank, 2, key, rendezvous.address(), rank, 2};
            native::NativeBackend(options).run([&](NodeId) -> runtime::NodeProgram& { return nodes[rank]; });
        });
    }
    for (std::thread& thread : threads) thread.join();
    return nodes[0].seconds;
}

/// One message goes to and fro between the handlers.
struct PingPong final : BenchNode {
    PingPong(std::size_t size, int times) : bytes(size), left(times) {}
    void measure(Context& worker) override {
        const double start = host::wall_seconds();
        worker.backend->send(worker, 1, Bytes(bytes));
        wait_for(over);
        seconds = host::wall_seconds() - start;
    }
    void deliver(NodeId from, std::span<const std::byte> message, runtime::Body) override {
        if (receiver().id.node == 0 && --left == 0) return raise(over);
        receiver().backend->send(receiver(), from, Bytes(message.begin(), message.end()));
    }
    std::size_t bytes;
    int left;
    std::atomic<bool> over{false};
    double seconds = 0;
};

/// Node 0 sends as fast as it can; node 1 answers once, after the last.
struct Stream final : BenchNode {
    Stream(std::size_t size, int times) : bytes(size), count(times), left(times) {}
    void measure(Context& worker) override {
        const double start = host::wall_seconds();
        for (int i = 0; i < count; ++i) worker.backend->send(worker, 1, Bytes(bytes));
        wait_for(over);
        seconds = host::wall_seconds() - start;
    }
    void deliver(NodeId, std::span<const std::byte>, runtime::Body) override {
        if (receiver().id.node == 0) return raise(over);
        if (--left == 0) receiver().backend->send(receiver(), 0, {});
    }
    std::size_t bytes;
    int count;
    int left;
    std::atomic<bool> over{false};
    double seconds = 0;
};

void one_way(benchmark::State& state) {
    constexpr int rounds = 10'000;
    for (auto _ : state)
        state.SetIterationTime(run_pair<PingPong>(static_cast<std::size_t>(state.range(0)), rounds) /
                               (2 * rounds));
}

void stream(benchmark::State& state) {
    const auto bytes = static_cast<std::size_t>(state.range(0));
    const int count = static_cast<int>(std::min<std::size_t>(1'000'000, (128U << 20) / bytes));
    double seconds = 0;
    for (auto _ : state) {
        const double run = run_pair<Stream>(bytes, count);
        seconds += run;
        state.SetIterationTime(run);
    }
    const double sent = static_cast<double>(count) * static_cast<double>(state.iterations());
    state.counters["messages/s"] = sent / seconds;
    state.counters["bytes/s"] = sent * static_cast<double>(bytes) / seconds;
}

}  // namespace

BENCHMARK(one_way)->Arg(8)->Arg(4096)->UseManualTime()->Iterations(5)->Unit(benchmark::kMicrosecond);
BENCHMARK(stream)->Arg(16)->Arg(64)->Arg(4096)->Arg(65536)->Arg(1 << 20)->UseManualTime()->Iterations(3);
