// For tests: runs programs of messaging threads natively, in simulation and in-process.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "model/messaging.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::messaging {

inline ProcessId last(const Thread& self) {
    return self.processes() - 1;
}

class MainThread final : public MessagingProgram {
public:
    using Body = std::function<void(Thread&)>;
    explicit MainThread(Body body, std::optional<DispatcherSettings> dispatcher = {})
        : body_(std::move(body)), dispatcher_(dispatcher) {}
    void main(Thread& self) override { body_(self); }
    std::optional<DispatcherSettings> dispatcher() const override { return dispatcher_; }
    runtime::Answer answer() const override { return {}; }

private:
    Body body_;
    std::optional<DispatcherSettings> dispatcher_;
};

/// A world, and what carries messages there.
struct MessagingWorld {
    testing_strands::World world;
    std::optional<DispatcherSettings> dispatcher{};
    std::string name = world.name;
    /// What GoogleTest says of it; else it prints the bytes of each parameter in every process.
    friend void PrintTo(const MessagingWorld& world, std::ostream* to) {
        *to << world.name;
    }  // NOLINT(readability-identifier-naming)
};

/// Each world with endpoints, and with dispatchers that have little of all.
inline std::vector<MessagingWorld> messaging_worlds() {
    DispatcherSettings little;
    little.fragment_bytes = 5000;
    little.fragments = 1000;
    little.control_blocks = 16;
    little.send_buffers = 3;
    little.retry = std::chrono::microseconds(20);
    std::vector<MessagingWorld> all;
    for (const testing_strands::World& world : testing_strands::worlds()) {
        all.push_back({world});
        all.push_back({world, little, world.name + "Dispatcher"});
        little.wake = DispatcherSettings::Wake::all;
        all.push_back({world, little, world.name + "DispatcherWakesAll"});
        little.wake = DispatcherSettings::Wake::one;
    }
    return all;
}

class MessagingTest : public testing::TestWithParam<MessagingWorld> {
protected:
    static void run(NodeId nodes, CoreId cores, const MainThread::Body& body) {
        run(nodes, cores, body, GetParam().dispatcher);
    }
    static void run(NodeId nodes, CoreId cores, const MainThread::Body& body,
                    const std::optional<DispatcherSettings>& dispatcher) {
        const testing_strands::World& world = GetParam().world;
        world.run(world.one_node ? 1 : nodes, cores,
                  [&](NodeId) { return std::make_unique<MainThread>(body, dispatcher); });
    }
    /// What ends such a run. Natively a failed run with several workers or nodes ends the process.
    static std::string error(const MainThread::Body& body) {
        const bool alone = GetParam().world.ends_process;
        return testing_strands::error_of([&] { run(alone ? 1 : 2, alone ? 1 : 2, body); });
    }
};

}  // namespace heddle::messaging
