// Tests how much memory a gateway holds natively: one process sends a GB through it to a slow one. The
// processes are this test program, which runs the disabled test below.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "runtime/native/launch.hpp"
#include "runtime/native/native_backend.hpp"
#include "tests/forwarding_testing.hpp"
#include "tests/native_testing.hpp"
#include "tests/networks_testing.hpp"

namespace heddle::native {
namespace {

using namespace std::chrono_literals;

constexpr int messages = 1000;
constexpr std::uint64_t body_bytes = 1'000'000;

std::uint64_t most_resident_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::uint64_t kib = 0;
        if (word == "VmHWM:" && status >> kib) return kib;
    }
    return 0;
}

/// Node 0 sends to node 2, which takes at least a millisecond for each message.
class SlowReceiver final : public runtime::Program {
public:
    void begin(runtime::Worker& worker) override;
    void arrived(const runtime::Body& body) {
        std::this_thread::sleep_for(1ms);
        whole_ = whole_ && body && body->size() == body_bytes && body->front() == std::byte{1} &&
                 body->back() == std::byte{1};
        ++arrived_;
    }
    runtime::Answer answer() const override { return {}; }
    bool is_right() const { return whole_ && arrived_ == messages; }

private:
    bool whole_ = true;
    int arrived_ = 0;
};

const runtime::Handler slow_handler("native_gateway_test.slow", runtime::Handler::Kind::work,
                                    [](runtime::Node& node, NodeId, auto) {
                                        const runtime::Body body = node.take_body();
                                        static_cast<SlowReceiver&>(node.program()).arrived(body);
                                    });

void SlowReceiver::begin(runtime::Worker& worker) {
    if (worker.id.node != 0) return;
    const auto body = std::make_shared<runtime::Bytes>(body_bytes, std::byte{1});
    for (int i = 0; i < messages; ++i)
        worker.outbox().post(2, slow_handler, std::span<const std::byte>(), runtime::Enclosure{body, 0});
}

}  // namespace

TEST(NativeGatewayChild, DISABLED_RunsOneOfThree) {
    NativeOptions options;
    options.membership = membership_from_environment();
    ASSERT_TRUE(options.membership);
    options.routes = testing_networks::line_of_networks(3);
    options.networks = {{.local = Local::tcp}, {.local = Local::tcp}};
    const NodeId rank = options.membership->rank;
    const std::uint64_t before = most_resident_kib();
    NativeBackend backend(options);
    const SlowReceiver* program = nullptr;
    runtime::Execution execution(backend, runtime::Schedule{}, [&](NodeId) {
        auto made = std::make_unique<SlowReceiver>();
        program = made.get();
        return made;
    });
    execution.run();
    std::ofstream file(fmt::format("{}/{}", getenv("HEDDLE_TEST_DIRECTORY"), rank));
    file << most_resident_kib() - before << ' ' << program->is_right() << '\n';
}

TEST(NativeGateway, AGbToASlowReceiverTakesLittleOfItsMemory) {
    const std::string directory = testing::TempDir() + "heddle-gateway-" + std::to_string(getpid());
    std::filesystem::create_directories(directory);
    setenv("HEDDLE_TEST_DIRECTORY", directory.c_str(), 1);
    LaunchOptions launch;
    launch.nodes = 3;
    launch.argv = child_program("NativeGatewayChild.DISABLED_RunsOneOfThree");
    EXPECT_EQ(launch_here(launch), 0);
    for (const NodeId node : {1, 2}) {
        std::uint64_t grown_kib = 0;
        bool right = false;
        std::ifstream(fmt::format("{}/{}", directory, node)) >> grown_kib >> right;
        EXPECT_GT(grown_kib, 0U) << node;
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they take more than the program does
        EXPECT_LE(grown_kib, 64U << 10) << node;
#endif
        EXPECT_TRUE(right || node != 2);
    }
    std::filesystem::remove_all(directory);
}

}  // namespace heddle::native
