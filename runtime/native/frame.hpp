// Frames: the units in which an authenticated connection carries bytes. Each frame has a number and a keyed
// hash (SipHash) of its header, which is checked before a length is used or memory allocated. Payloads have a
// second hash, except bodies (large data): hashing those would take longer than sending them. What the bytes
// mean is not decided here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/backend.hpp"
#include "runtime/native/handshake.hpp"

namespace heddle::native {

enum class FrameKind : std::uint32_t {
    batch,    ///< several messages, each after its length (32 bits)
    message,  ///< one message
    body,     ///< what the message that follows encloses
    padding,  ///< bytes without content, ahead of the message that they belong to
    ready,    ///< start: this node's receiver is at work
    ping,     ///< start: what does your clock say?
    pong,
    start,  ///< start: the zero of the run's time, on the reader's clock
    done,   ///< end: this node's workers have returned
    count,  ///< end: how many messages were sent and delivered?
    counted,
    finish,    ///< end: nothing is under way any more
    goodbye,   ///< the last frame of a connection
    abort,     ///< the run cannot go on: which node was lost, and why
    mark,      ///< flow control: tell me its number (64 bits) when you have handled what came before
    handled,   ///< the answer
    table,     ///< rendezvous: the addresses of all nodes
    describe,  ///< rendezvous: what are your program and experiment?
    description,
    disagree,  ///< rendezvous: nodes differ; the message and the advice, a line each
    memory,    ///< meeting on one machine: an offer of shared memory, and the answer (local_meeting.hpp)
    last = memory
};

struct FrameHeader {
    std::uint32_t magic;
    FrameKind kind;
    std::uint64_t length;  ///< of the payload
    std::uint64_t sequence;
    std::uint64_t payload_tag;
    std::uint64_t header_tag;  ///< over all above
};

/// Makes the headers of one direction.
class Sealer {
public:
    explicit Sealer(const DirectionKey& key) : key_(key) {}
    FrameHeader seal(FrameKind kind, std::span<const std::byte> payload);

private:
    DirectionKey key_;
    std::uint64_t sequence_ = 0;
};

/// Checks the frames of one direction, which come in order.
class Opener {
public:
    Opener(const DirectionKey& key, std::uint64_t length_max) : key_(key), length_max_(length_max) {}

    /// Returns an empty string, or what is wrong. After an error the connection is of no use.
    std::string open(const FrameHeader& header);
    bool matches(const FrameHeader& header, std::span<const std::byte> payload) const;

private:
    DirectionKey key_;
    std::uint64_t length_max_;
    std::uint64_t sequence_ = 0;
};

struct Frame {
    FrameKind kind;
    runtime::Bytes payload;
};

/// One frame, blocking until `deadline` at most. Return and throw Error for what went wrong.
std::string write_frame(int socket, Sealer& sealer, FrameKind kind, std::span<const std::byte> payload,
                        Deadline deadline);
Frame read_frame(int socket, Opener& opener, Deadline deadline);

}  // namespace heddle::native
