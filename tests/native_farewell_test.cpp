// Tests what a node does when another one is lost: it tells the others first, also over a connection that has
// no room at the moment. And a node leaves also if another one is stopped.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/native/mesh.hpp"
#include "runtime/native/rendezvous.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t farewell_frame_bytes = 1 << 20;
constexpr int farewell_frames = 8;  ///< the memory between two nodes has room for one

std::vector<std::unique_ptr<Mesh>> meshes_of(NodeId nodes, std::optional<NodeId> at_start = {}) {
    const Key key = make_key();
    const Rendezvous rendezvous(nodes, key);
    std::vector<std::future<std::unique_ptr<Mesh>>> meeting;
    for (NodeId rank = 0; rank < nodes; ++rank) {
        meeting.push_back(std::async(std::launch::async, [&, rank] {
            MeshOptions options;
            options.membership = Membership{rank, nodes, key, rendezvous.address(), rank, nodes};
            options.frame_bytes_max = 1 << 24;
            options.meeting_max = 20s;
            options.core_is_free = [] { return false; };
            options.at_start = at_start;
            return std::make_unique<Mesh>(options);
        }));
    }
    std::vector<std::unique_ptr<Mesh>> meshes;
    for (auto& one : meeting) meshes.push_back(one.get());
    return meshes;
}

/// Node 1 is busy for a while, and node 0 sends it more than the connection has room for. Then node 2 is
/// lost. Returns how many frames node 1 had handled when node 0 went on to end.
int handled_before_the_end() {
    std::vector<std::unique_ptr<Mesh>> meshes = meshes_of(3);
    std::atomic<int> handled{0};
    std::atomic<bool> busy{false};
    std::promise<int> at_end;
    const auto ignore = [](auto&&...) {};
    meshes[0]->start({ignore, ignore, [&](NodeId, const std::string&) { at_end.set_value(handled.load()); }});
    meshes[1]->start({[&](auto&&...) {
                          if (!busy.exchange(true)) std::this_thread::sleep_for(50ms);
                          ++handled;
                      },
                      ignore, ignore});
    for (int i = 0; i < farewell_frames; ++i)
        meshes[0]->post(1, FrameKind::message, runtime::Bytes(farewell_frame_bytes), {});
    EXPECT_TRUE(eventually([&] { return busy.load(); }));
    meshes[2].reset();
    const int result = at_end.get_future().get();
    meshes.clear();
    return result;
}

}  // namespace

// The message of the loss is behind the frames: a node that has not got it would call node 0 lost.
TEST(NativeFarewell, WaitsForAConnectionThatHasNoRoom) {
    int handled = 0;
    // A node waits 0.2 s at most, and this machine may be busy for so long.
    for (int attempt = 0; attempt < 5 && handled < farewell_frames / 2; ++attempt)
        handled = handled_before_the_end();
    EXPECT_GE(handled, farewell_frames / 2);
}

// It was stopped by a signal, for example, and its system answers.
TEST(NativeFarewell, ANodeLeavesAlsoIfAnotherOneReadsNothing) {
    std::vector<std::unique_ptr<Mesh>> meshes = meshes_of(2, 2);
    std::promise<void> stopped, goes_on;
    std::atomic<bool> first{true};
    const auto ignore = [](auto&&...) {};
    meshes[0]->start({ignore, ignore, ignore});
    meshes[1]->start({[&](auto&&...) {
                          if (!first.exchange(false)) return;
                          stopped.set_value();
                          goes_on.get_future().wait();
                      },
                      ignore, ignore});
    for (int i = 0; i < farewell_frames; ++i)
        meshes[0]->post(1, FrameKind::message, runtime::Bytes(farewell_frame_bytes), {});
    stopped.get_future().wait();
    auto leaving = std::async(std::launch::async, [&] {
        meshes[0]->leave();
        meshes[0].reset();
    });
    EXPECT_EQ(leaving.wait_for(60s), std::future_status::ready);
    goes_on.set_value();
    leaving.get();
    meshes.clear();
}

}  // namespace heddle::native
