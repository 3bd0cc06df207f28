// For tests of the simulator: small programs of workers and messages on a backend, without a scheduler.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"
#include "sim/sim_backend.hpp"

namespace heddle::sim::testing {

using runtime::Context;

inline Time ns(std::int64_t count) {
    return std::chrono::nanoseconds(count);
}
inline Time us(std::int64_t count) {
    return std::chrono::microseconds(count);
}

/// A star of ideal nodes: no overheads, cores of 1 flop per nanosecond, links of 1 byte per nanosecond and 1
/// us.
inline Platform ideal(NodeId nodes, CoreId cores = 1) {
    Platform platform;
    platform.nodes = nodes;
    platform.cores = cores;
    platform.core_speed = 1e9;
    platform.memory_bandwidth = 1e9;
    platform.network.bandwidth = 1e9;
    platform.network.latency = us(1);
    platform.overheads = {};
    return platform;
}

/// One node's program: what each of its workers does, and what happens when a message comes.
class Script final : public runtime::NodeProgram {
public:
    using Body = std::function<void(Script&, Context&)>;
    using Handler = std::function<void(Script&, Context&, NodeId, std::span<const std::byte>)>;

    Script(CoreId cores, Body body, Handler handler)
        : contexts_(cores + 1), body_(std::move(body)), handler_(std::move(handler)) {}

    Context& context(CoreId core) override { return contexts_[core]; }
    void work(CoreId core) override { body_(*this, contexts_[core]); }
    void deliver(NodeId from, std::span<const std::byte> message, runtime::Body) override {
        if (handler_) handler_(*this, contexts_.back(), from, message);
    }

private:
    std::deque<Context> contexts_;
    Body body_;
    Handler handler_;
};

/// Runs one script on every node of a platform.
inline void run(SimBackend& backend, const Script::Body& body, const Script::Handler& handler = {}) {
    std::vector<std::unique_ptr<Script>> scripts;
    backend.run([&](NodeId) -> runtime::NodeProgram& {
        return *scripts.emplace_back(std::make_unique<Script>(backend.topology().cores, body, handler));
    });
}

inline void run(const Platform& platform, const Script::Body& body, const Script::Handler& handler = {},
                const SimOptions& options = {}) {
    SimBackend backend(platform, options);
    run(backend, body, handler);
}

inline Time now(const Context& context) {
    return context.backend->now(context);
}

inline void send(Context& context, NodeId to, std::uint64_t bytes) {
    context.backend->send(context, to, runtime::Bytes(bytes));
}

/// Flops that take `time` on a core of `ideal`.
inline runtime::Work busy(Time time) {
    return {static_cast<double>(time.count()) * 1e-3, 0};
}

inline void compute(Context& context, runtime::Work work) {
    context.backend->compute(context, work, {});
}

inline void sleep_until(Context& context, Time time) {
    while (now(context) < time) context.backend->park(context, time);  // a message may end it
}

}  // namespace heddle::sim::testing
