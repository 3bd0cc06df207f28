// The interface that carries datagrams to one peer and back: a UDP socket, or in tests a network that loses
// and repeats some. Neither order nor arrival is promised.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/descriptor.hpp"
#include "runtime/native/ports.hpp"

namespace heddle::native {

class DatagramSocket {
public:
    DatagramSocket() = default;
    DatagramSocket(const DatagramSocket&) = delete;
    DatagramSocket& operator=(const DatagramSocket&) = delete;
    virtual ~DatagramSocket() = default;

    /// Sends all; never waits. One that finds no room is lost.
    virtual void send(std::span<const std::span<const std::byte>> datagrams) = 0;

    /// Hands over what has come, up to a limit; never waits. False: there may be more.
    using Take = std::function<void(std::span<std::byte> datagram)>;
    virtual bool receive(const Take& take) = 0;

    /// Becomes readable when a datagram comes.
    virtual int descriptor() const = 0;
};

/// A UDP socket.
class UdpSocket final : public DatagramSocket {
public:
    /// At `local`'s address and the first of `ports` that is free. Throws Error.
    explicit UdpSocket(const sockaddr_storage& local, const PortRange& ports = {});

    std::uint16_t port() const;

    /// Sends to and receives from that address only. Throws Error.
    void connect_to(const sockaddr_storage& peer);

    /// The largest datagram that the first network on the way to `peer` carries in one packet. Sends nothing.
    /// Throws Error.
    std::size_t largest_towards(const sockaddr_storage& peer);

    /// No datagram that is larger will come.
    void expect(std::size_t datagram_bytes_max);

    void send(std::span<const std::span<const std::byte>> datagrams) override;
    bool receive(const Take& take) override;
    int descriptor() const override { return socket_.get(); }

private:
    void allow_fragments();

    host::Descriptor socket_;
    int family_;
    std::size_t room_each_ = 0;
    std::vector<std::byte> room_;  ///< for the datagrams of one call
};

}  // namespace heddle::native
