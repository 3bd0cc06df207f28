// Frames: the units in which an authenticated connection carries bytes. On the wire a frame is a header, a
// payload and the payload's tag. The header has the frame's number and a keyed hash (SipHash), which is
// checked before a length is used or memory allocated. The tag covers every byte of the payload, and the
// frame's number. What the bytes mean is not decided here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/backend.hpp"
#include "runtime/native/handshake.hpp"
#include "runtime/native/payload_cipher.hpp"

namespace heddle::native {

enum class FrameKind : std::uint32_t {
    batch,    ///< several messages, each after its length (32 bits)
    message,  ///< one message
    body,     ///< what the message before it encloses
    padding,  ///< bytes without content, ahead of the message that they belong to
    ready,    ///< start: this node's receiver is at work
    ping,     ///< start: what does your clock say?
    pong,
    start,  ///< start: the zero of the run's time, on the reader's clock
    done,   ///< end: this node's workers have returned
    count,  ///< end: how many messages were sent and delivered?
    counted,
    finish,     ///< end: nothing is under way any more; which nodes have joined and not left
    goodbye,    ///< the last frame of a connection
    abort,      ///< the run cannot go on: which node was lost, and why
    mark,       ///< flow control: tell me its number (64 bits) when you have handled what came before
    handled,    ///< the answer
    table,      ///< rendezvous: the addresses of all nodes
    addresses,  ///< rendezvous: those of a node that is in several networks
    describe,   ///< rendezvous: what are your program and experiment?
    description,
    disagree,   ///< rendezvous: nodes differ; the message and the advice, a line each
    memory,     ///< meeting on one machine: an offer of shared memory, and the answer (local_meeting.hpp)
    datagrams,  ///< meeting by UDP: where to send datagrams, and that they come (udp_meeting.hpp)
    linked,     ///< joining: this node has taken up the connection, and receives from it
    leaving,    ///< leaving: this node's workers have returned; ask for its counts
    left,       ///< leaving: what it has sent and delivered in all
    over,       ///< joining: the run has ended, or is about to
    relay,      ///< a frame for another node, or from one, that no network joins with this (relay.hpp)
    enclosing,  ///< one message, and a body follows
    last = enclosing
};

struct FrameHeader {
    std::uint32_t magic;
    FrameKind kind;
    std::uint64_t length;  ///< of the payload
    std::uint64_t sequence;
    std::uint64_t tag;  ///< over all above
};

/// The most bytes of a frame's payload, of the `allowed` ones: with encryption 64 GiB, where AES-GCM ends.
std::uint64_t largest_payload(Protection protection, std::uint64_t allowed);

/// A key of one direction, for headers only.
using HeaderKey = std::array<unsigned char, 16>;

/// Makes the frames of one direction: a header, then the payload's pieces, then the tag.
class Sealer {
public:
    Sealer(const DirectionKey& key, Protection protection);

    FrameHeader begin(FrameKind kind, std::uint64_t length);

    /// The next piece of the payload; all but the last have a multiple of PayloadCipher::block_bytes.
    /// Encrypts it to `to`, which may be where the piece is. If this does not encrypt, the piece itself is to
    /// be written.
    void seal(std::span<const std::byte> piece, std::byte* to) {
        if (covered_ && !piece.empty()) cipher_->seal(piece, to);
    }
    bool encrypts() const { return cipher_->encrypts(); }

    /// The first `tag_bytes` of it are to be written.
    PayloadTag finish() { return cipher_->finish(); }
    std::size_t tag_bytes() const { return cipher_->tag_bytes(); }

private:
    HeaderKey key_;
    Protection protection_;
    std::unique_ptr<PayloadCipher> cipher_;
    bool covered_ = true;  ///< the present frame's payload is protected, not only its header
    std::uint64_t sequence_ = 0;
};

/// Checks the frames of one direction, which come in order.
class Opener {
public:
    /// No payload may have more than `length_max` bytes, nor more than `largest_payload` says.
    Opener(const DirectionKey& key, Protection protection, std::uint64_t length_max);

    /// Returns an empty string, or what is wrong. After an error the connection is of no use.
    std::string begin(const FrameHeader& header);

    /// The next piece of the payload, in the sizes that `Sealer::seal` says; decrypts it in its place. The
    /// caller must not use it before `matches` has said so.
    void open(std::span<std::byte> piece) {
        if (covered_ && !piece.empty()) cipher_->open(piece);
    }

    /// True if all pieces are what the sealer took. `tag`: what came behind them, `tag_bytes` long.
    bool matches(std::span<const std::byte> tag);
    std::size_t tag_bytes() const { return cipher_->tag_bytes(); }

private:
    HeaderKey key_;
    Protection protection_;
    std::unique_ptr<PayloadCipher> cipher_;
    bool covered_ = true;  ///< the present frame's payload is protected, not only its header
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
