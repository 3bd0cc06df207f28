// What carries the bytes of a connection between two processes, in order and both ways: a socket (below), or
// memory that both processes share (shared_stream.hpp). What the bytes mean is not decided here.
#pragma once

#include <sys/uio.h>

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
    /// Takes bytes from the front of `parts`, as many as there is room for; never waits. Returns how many.
    virtual std::ptrdiff_t write(std::span<const iovec> parts) = 0;

    /// In memory, after `write` has found no room: asks the peer to make `descriptor` readable when there is
    /// some. True: there is room already.
    virtual bool ask_for_room() { return false; }

    /// In memory: whether the peer has made room since. Any thread.
    virtual bool room_has_come() const { return false; }

    // --- the reader
    /// Fills `parts` from the front with what has come. Returns how many bytes. `waits`: until some come (not
    /// in memory).
    virtual std::ptrdiff_t read(std::span<const iovec> parts, bool waits) = 0;

    /// Why `read` has returned `ended`.
    virtual std::string failure() const = 0;

    /// In memory: whether bytes have come.
    virtual bool has_come() const { return false; }

    /// Lets the peer make `descriptor` readable when bytes come, so that the reader may sleep. Lasts until
    /// they are read. False: bytes have come already, and nothing is asked.
    virtual bool ask_for_bytes() { return true; }

    // --- any thread
    /// Becomes readable when bytes or room come, in memory only if asked for; and when the peer's process
    /// ends.
    virtual int descriptor() const = 0;

    /// Wakes a reader that waits in `read`. The reader must read no more.
    virtual void stop_reading() = 0;

    /// Ends both directions.
    virtual void shut_down() = 0;
};

/// A connected socket: TCP, or a Unix socket.
class SocketStream final : public Stream {
public:
    explicit SocketStream(Descriptor socket) : socket_(std::move(socket)) {}

    std::ptrdiff_t write(std::span<const iovec> parts) override;
    std::ptrdiff_t read(std::span<const iovec> parts, bool waits) override;
    std::string failure() const override { return failure_; }
    int descriptor() const override { return socket_.get(); }
    void stop_reading() override;
    void shut_down() override;

private:
    Descriptor socket_;
    std::string failure_;  ///< the reader's
};

}  // namespace heddle::native
