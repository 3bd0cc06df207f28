// The connections of a node whose workers send and receive themselves (schedule.modules: single), without
// threads for that. A worker writes what it sends, and receives between tasks and while it waits, as in
// EARTH's older run-time system (Tremblay et al., section 5: RTS 1.2).
#pragma once

#include <functional>
#include <memory>

#include "runtime/native/mesh.hpp"

namespace heddle::native {

class PolledMesh final : public Transport {
public:
    /// Meets the other nodes, and connects to each. Throws Error if one does not come, or runs another
    /// program.
    explicit PolledMesh(const MeshOptions& options);
    ~PolledMesh() override;

    /// The events come on whatever thread receives: one that is in `poll` or `wait`, or a worker in `send`.
    void start(Events events) override;

    /// Queues a frame and writes what the socket takes. A thread that polls or waits writes the rest when
    /// there is room. Never blocks.
    void post(NodeId to, FrameKind kind, runtime::Bytes payload, runtime::SentBody body) override;

    /// A worker that is held back receives meanwhile.
    void send(NodeId to, NetworkId network, runtime::Bytes&& message, runtime::SentBody&& body,
              Sender sender) override;
    void pad(NodeId to, NetworkId network, std::uint64_t bytes, Sender sender) override;
    bool part() override;
    void leave() override;
    void call(std::function<void()> code) override;
    void begin() override;
    void expect(NodeId node) override;
    void has_joined(NodeId node) override;
    std::vector<NodeId> connected() const override;

    /// Receives what has come and writes what has waited, unless another thread does. True if it delivered a
    /// message. Any thread, but not in an event.
    bool poll();

    /// Worker `core` waits, and receives meanwhile: returns when `done()`, after a `wake(core)`, or at
    /// `deadline`. See Lookout::wait.
    void wait(CoreId core, Deadline deadline, const std::function<bool()>& done);
    void wake(CoreId core);

    /// The same for the thread that runs the node, which waits for frames that are no messages.
    void wait_for_frames(const std::function<bool()>& done);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::native
