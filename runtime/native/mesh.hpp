// The connections of this node to all others, and the two threads that serve them: the sender module and the
// receiver module (Tremblay et al., section 4). Carries messages and control frames; what control frames mean
// is for coordination.hpp.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/native/flow.hpp"
#include "runtime/native/frame.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/polling.hpp"

namespace heddle::native {

struct MeshOptions {
    Membership membership;
    std::uint64_t fingerprint = 0;
    std::string address;
    std::uint64_t frame_bytes_max = 0;
    std::chrono::milliseconds meeting_max{};
    Receive receive = Receive::automatic;
    std::uint64_t window = 8U << 20;          ///< see Flow
    std::function<bool()> core_is_free = {};  ///< see Polling
};

class Mesh {
public:
    /// All called on the receiver's thread, one at a time.
    struct Events {
        std::function<void(NodeId from, std::span<const std::byte> message, runtime::Body body)> deliver;
        std::function<void(NodeId from, FrameKind kind, std::span<const std::byte> payload)> control;
        std::function<void(NodeId node, const std::string& reason)> lost;  ///< once
    };

    /// Meets the other nodes, and connects to each. Throws Error where one does not come, or runs another
    /// program.
    explicit Mesh(const MeshOptions& options);

    /// Stops the threads and closes the connections.
    ~Mesh();

    /// Starts the sender and the receiver.
    void start(Events events);

    /// Queues a frame for another node. Any thread.
    void post(NodeId to, FrameKind kind, runtime::Bytes payload = {}, runtime::Body body = {});
    void post_to_all(FrameKind kind);

    /// Queues a message for another node. Holds a worker back while too much is under way there.
    void send(NodeId to, runtime::Bytes message, runtime::Body body, Flow::Sender sender);

    /// Queues a frame of padding, as part of a message that follows.
    void pad(NodeId to, std::uint64_t bytes, Flow::Sender sender);

    /// Says goodbye to all others and waits for theirs. False where a node was lost.
    bool part();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::native
