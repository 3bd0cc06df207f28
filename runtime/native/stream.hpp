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

    // --- the writer
    /// Takes bytes from the front of `parts`, as many as there is room for; never waits. Returns how many.
    virtual std::ptrdiff_t write(std::span<const iovec> parts) = 0;

    /// After `write` has found no room: lets the peer wake this process when there is some, by making
    /// `descriptor` readable. True: there is room already. A socket needs no such request, because the system
    /// reports that it is writable.
    virtual bool ask_for_room() { return false; }

    /// Whether a poll of `descriptor` reports room as POLLOUT.
    virtual bool descriptor_tells_room() const { return true; }

    /// Whether a write costs no system call while the peer reads.
    virtual bool is_cheap() const { return false; }

    // --- the reader
    /// Fills `parts` from the front with what has come. Returns how many bytes. `waits`: until some come.
    virtual std::ptrdiff_t read(std::span<const iovec> parts, bool waits) = 0;

    /// Why `read` has returned `ended`.
    virtual std::string failure() const = 0;

    /// Whether bytes have come, if that can be seen without a system call.
    virtual bool has_come() const { return false; }

    /// Whether the reader sees with `has_come` what comes. If not, `descriptor` becomes readable.
    virtual bool is_watched() const { return false; }

    /// Asks the peer to make `descriptor` readable when bytes come, so that the reader may sleep. False:
    /// bytes have come already.
    virtual bool stop_watching() { return true; }

    // --- any thread
    /// Becomes readable when bytes come, unless the stream is watched, and when the peer's process ends.
    virtual int descriptor() const = 0;

    /// Wakes a reader that waits in `read`; nothing more comes.
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
