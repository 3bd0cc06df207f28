// The interface to what carries the bytes of a connection between two processes, in order and both ways. It
// is a socket (below), shared memory (shared_stream.hpp), or datagrams (udp_stream.hpp). It does not
// interpret the bytes.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <span>
#include <string>

#include "runtime/native/socket.hpp"

namespace heddle::native {

/// One thread at a time writes, one thread at a time reads.
class Stream {
public:
    /// What `write` and `read` return in place of a number of bytes.
    static constexpr std::ptrdiff_t nothing = 0;  ///< no byte can be moved now
    static constexpr std::ptrdiff_t ended = -1;   ///< no byte will ever move again; `failure` says why

    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    virtual ~Stream() = default;

    /// Whether bytes travel through memory. Then neither a look (`has_come`) nor a write costs a system call,
    /// as long as the peer is awake; but the system knows nothing of bytes and room, so this process must ask
    /// the peer to wake it. For a socket the system does that unasked.
    virtual bool in_memory() const { return false; }

    // --- the writer
    /// Takes bytes from the front of `parts`, as many as there is room for; never waits. Returns how many. If
    /// it returns `ended`, the caller shuts the stream down, and `read` returns `ended` after what has come.
    virtual std::ptrdiff_t write(std::span<const iovec> parts) = 0;

    /// Whether the system says that there is room, by making `descriptor` writable. If not, the thread that
    /// reads is the first to learn of room (`room_has_come`).
    virtual bool tells_room() const { return !in_memory(); }

    /// Unless `tells_room`, after `write` has found no room: asks for `descriptor` to become readable when
    /// there is some. True: there is room already.
    virtual bool ask_for_room() { return false; }

    /// Unless `tells_room`: whether there is room again. Any thread.
    virtual bool room_has_come() const { return false; }

    // --- the reader
    /// Fills `parts` from the front with what has come; never waits. Returns how many bytes.
    virtual std::ptrdiff_t read(std::span<const iovec> parts) = 0;

    /// Why `read` has returned `ended`.
    virtual std::string failure() const = 0;

    /// In memory: whether bytes have come.
    virtual bool has_come() const { return false; }

    /// Lets the peer make `descriptor` readable when bytes come, so that the reader may sleep. Lasts until
    /// they are read. False: bytes have come already, and nothing is asked.
    virtual bool ask_for_bytes() { return true; }

    /// In memory: the reader looks by itself again.
    virtual void ask_no_more() {}

    // --- any thread
    /// Becomes readable when bytes or room come, in memory only if asked for; and when the peer's process
    /// ends.
    virtual int descriptor() const = 0;

    /// Whether `descriptor` becomes readable again for each arrival. If not, it only stays readable until all
    /// has been read.
    virtual bool tells_of_each_arrival() const { return true; }

    /// The socket by which the system notices that the peer's machine is dead (host_is_dead). -1: it is this
    /// machine.
    virtual int lifeline() const { return descriptor(); }

    /// Whether all that was written reaches the peer even if this process ends now, or the peer has ended.
    /// If not, the caller must ask again.
    virtual bool settle() { return true; }

    /// Nothing more is read, but the peer may still need something of this side, such as that lost bytes are
    /// repeated: does what is due. True: call it again whenever `descriptor` is readable.
    virtual bool serve_peer() { return false; }

    /// Ends both directions.
    virtual void shut_down() = 0;
};

/// A connected socket: TCP, or a Unix socket.
class SocketStream final : public Stream {
public:
    explicit SocketStream(Descriptor socket);

    std::ptrdiff_t write(std::span<const iovec> parts) override;
    std::ptrdiff_t read(std::span<const iovec> parts) override;
    std::string failure() const override { return failure_; }
    int descriptor() const override { return socket_.get(); }
    int lifeline() const override { return in_machine_ ? -1 : socket_.get(); }
    void shut_down() override;

private:
    Descriptor socket_;
    bool in_machine_;
    std::atomic<int> write_error_{0};  ///< why nothing more can be written; 0: that is not known
    std::string failure_;              ///< the reader's
};

}  // namespace heddle::native
