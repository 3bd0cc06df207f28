// Tests names of messaging threads in simulation, where messages overtake each other.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "model/messaging/requests.hpp"
#include "runtime/run/execution.hpp"
#include "sim/sim_backend.hpp"
#include "tests/messaging_testing.hpp"

namespace heddle::messaging {
namespace {

/// Finds the name before and after another thread has taken it, and tells both.
void finds_twice(Thread& self, std::string name, ThreadId main) {
    self.send(main, 1, self.find(name));
    self.receive<bool>({.thread = main});
    self.send(main, 2, self.find(name));
}

void takes_over(Thread& self, std::string name, ThreadId main) {
    self.publish(name);
    self.send(main, 3, true);
    self.receive<bool>({.thread = main});
}

struct TakenOver {
    Time found_at{};  ///< when the name's home has told process 1 the first thread
    double corrected = 0;
};

/// The main thread has a name whose home is process 2. A thread of process 1 finds it. `take_at`: when
/// another thread takes the name.
TakenOver take_over(const Platform& platform, std::optional<Time> take_at) {
    TakenOver seen;
    const auto main = [&](Thread& self) {
        const runtime::Topology& topology = self.strand().worker().node().topology();
        std::string name = "a";
        while (home_of_name(name, topology) != 2) ++name.front();
        self.publish(name);
        const ThreadId finder = self.create<finds_twice>(1, name, self.id());
        // The answer to that has come as the finder's question has come to the home.
        runtime::Worker& worker = self.strand().worker();
        seen.found_at = worker.backend->now(worker);
        if (take_at) runtime::sleep_until(self.strand(), *take_at);
        const ThreadId taker = self.create<takes_over>(0, name, self.id());
        self.receive<bool>({.thread = taker});
        self.send(finder, 4, true);
        EXPECT_EQ(self.receive<ThreadId>({.thread = finder, .tag = 1}), self.id());
        EXPECT_EQ(self.receive<ThreadId>({.thread = finder, .tag = 2}), taker);
        self.send(taker, 5, true);
    };
    sim::SimBackend backend(platform, {});
    runtime::Execution execution(backend, {}, [&](NodeId) { return std::make_unique<MainThread>(main); });
    for (const runtime::AnswerValue& value : execution.run().answer)
        if (value.name == "names_corrected") seen.corrected = value.value;
    return seen;
}

/// The latency falls while the home's answer is under way, so the message that the name is another thread's
/// comes before it.
TEST(SimMessagingNames, AnAnswerThatWasOvertakenIsNotKept) {
    Platform platform;
    platform.nodes = 3;
    platform.cores = 1;
    platform.overheads = {};
    platform.network.latency = std::chrono::microseconds(500);
    platform.network.contention = Network::Contention::none;
    const TakenOver in_order = take_over(platform, {});
    EXPECT_EQ(in_order.corrected, 1);
    const Time latency = in_order.found_at / 4;  // of two calls, there and back
    for (const char* link : {"link-0", "link-1", "link-2"})
        platform.link_events.push_back(
            {.at = in_order.found_at + latency / 2, .link = link, .latency = 0.01});
    const TakenOver overtaken = take_over(platform, in_order.found_at + 6 * latency / 10);
    EXPECT_EQ(overtaken.corrected, 0) << "the answer was not overtaken";
}

}  // namespace
}  // namespace heddle::messaging
