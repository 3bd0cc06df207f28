// A stream of bytes between two processes by UDP: nothing is lost, and the order is kept. The TCP connection
// over which the processes met stays open beside it, but carries none of these bytes. If it closes, the peer
// has ended; if it is silent too long, the peer's machine is dead.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/native/datagram_socket.hpp"
#include "runtime/native/stream.hpp"
#include "runtime/native/udp_connection.hpp"

namespace heddle::native {

class UdpStream final : public Stream {
public:
    /// Files that each holds open: the socket of the datagrams, the TCP connection, a timer, and the set of
    /// these.
    static constexpr std::size_t open_files = 4;

    /// Throws Error if the system gives it no more files.
    UdpStream(std::unique_ptr<DatagramSocket> datagrams, Descriptor control, const Session& session,
              std::size_t datagram_bytes);

    std::ptrdiff_t write(std::span<const iovec> parts) override;
    bool tells_room() const override { return false; }
    bool ask_for_room() override;
    bool room_has_come() const override { return room_.load(std::memory_order_acquire); }

    std::ptrdiff_t read(std::span<const iovec> parts) override;
    std::string failure() const override { return failure_; }

    int descriptor() const override { return events_.get(); }
    bool tells_of_each_arrival() const override { return false; }
    int lifeline() const override { return control_.get(); }
    bool settle() override;
    bool serve_peer() override;
    void shut_down() override;

    // --- while the processes meet
    /// Sends a datagram of that size, which says nothing.
    void probe(std::size_t bytes);

    /// Takes what has come. Returns the largest datagram that `probe` has sent on the other side.
    std::size_t largest_probe();

private:
    void take_what_came();
    void take_all();
    void send_what_is_due();
    void set_timer(Deadline now);
    bool peer_has_ended();

    std::unique_ptr<DatagramSocket> datagrams_;
    Descriptor control_;
    Descriptor timer_;
    Descriptor events_;  ///< an epoll set of the three above

    // The writer, the reader, and the thread that ends the run use the machine.
    std::mutex mutex_;
    UdpConnection connection_;
    Deadline timer_set_ = Deadline::max();  ///< when the timer wakes the reader
    std::vector<std::span<const std::byte>> outgoing_;
    bool peer_ended_ = false;

    std::atomic<bool> room_{true};
    std::string failure_;  ///< the reader's
};

}  // namespace heddle::native
