// The interface through which NativeBackend sends frames to other nodes: over streams of bytes (mesh.hpp),
// over MPI (mpi_mesh.hpp). It carries messages and control frames; coordination.hpp says what control frames
// mean.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/native/frame.hpp"

namespace heddle::native {

/// What kind of code sends: a handler is never held back.
enum class Sender : std::uint8_t { worker, handler };

class Transport {
public:
    /// All called one at a time, on a thread of the transport's or a worker that waits.
    struct Events {
        /// `in_room`: how many bytes that the message encloses went to its room. The body is none then.
        std::function<void(NodeId from, std::span<const std::byte> message, runtime::Body body,
                           std::uint64_t in_room)>
            deliver;
        std::function<void(NodeId from, FrameKind kind, std::span<const std::byte> payload)> control;
        std::function<void(NodeId node, const std::string& reason)> lost;  ///< once
        /// Where nodes may join and leave: a node has left, or never became a member.
        std::function<void(NodeId node)> gone = {};
        /// Where the bytes that a message encloses go, before they are read (runtime::NodeProgram::room).
        std::function<runtime::NodeProgram::Room(NodeId from, std::span<const std::byte> message,
                                                 std::uint64_t bytes)>
            room = {};
    };

    Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    /// Stops the threads and closes what is open.
    virtual ~Transport() = default;

    /// Begins to send and to receive.
    virtual void start(Events events) = 0;

    /// Queues a frame for another node, over any network that joins both. Any thread. Frames from one thread
    /// to one node arrive in order.
    virtual void post(NodeId to, FrameKind kind, runtime::Bytes payload, runtime::SentBody body) = 0;

    /// Sends a message over a network that joins both. A worker may be held back while too much is under way
    /// there.
    virtual void send(NodeId to, NetworkId network, runtime::Bytes&& message, runtime::SentBody&& body,
                      Sender sender) = 0;

    /// Sends a frame of padding, as part of a message that follows.
    virtual void pad(NodeId to, NetworkId network, std::uint64_t bytes, Sender sender) = 0;

    /// Says goodbye to all others and waits for theirs. False where a node was lost.
    virtual bool part() = 0;

    /// The same in the midst of the run, which goes on without this node: waits for a few seconds at most,
    /// and no end of a connection is a loss any more.
    virtual void leave() {}

    /// Runs `code` on the thread that delivers, between two messages. Any thread, after `start`; only where
    /// nodes may join and leave.
    // By value, because implementations keep it.
    // NOLINTNEXTLINE(performance-unnecessary-value-param)
    virtual void call([[maybe_unused]] std::function<void()> code) {}

    /// A node that joins takes part from now on: the end of another is a loss. The thread that delivers.
    virtual void begin() {}

    /// `node` joins, and is about to be told by this one, over a network that joins both, that it begins.
    /// From now on its end is a loss, even if it has ended already. The thread that delivers.
    virtual void expect([[maybe_unused]] NodeId node) {}

    /// `node` has joined, and takes part until the end. So `part` waits for its goodbye if it is connected,
    /// even if nothing else has come from it yet. The thread that delivers.
    virtual void has_joined([[maybe_unused]] NodeId node) {}

    /// The nodes that this one is connected to, before `start`; once for each connection.
    virtual std::vector<NodeId> connected() const { return {}; }

    /// This process is about to end with that exit code, because of a failure that it has told people. Any
    /// thread. May not return: where the transport can end the other processes, it ends this one too.
    virtual void end_all([[maybe_unused]] int exit_code) {}
};

}  // namespace heddle::native
