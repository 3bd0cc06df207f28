// For tests: a network between two UDP sockets that loses, repeats, reorders and changes datagrams, by a
// seed. It takes the place of a real socket.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <vector>

#include "runtime/native/datagram_socket.hpp"

namespace heddle::native {

/// In percent of the datagrams.
struct Faults {
    unsigned lost = 10;
    unsigned doubled = 10;
    unsigned reordered = 10;  ///< sent after some later ones
    unsigned changed = 1;     ///< one bit
};

using Datagram = std::vector<std::byte>;

/// Flips one bit.
template <class Random>
void change(Datagram& datagram, Random& random) {
    if (!datagram.empty()) datagram[random() % datagram.size()] ^= std::byte{1} << (random() % 8);
}

class LossyDatagrams final : public DatagramSocket {
public:
    LossyDatagrams(std::unique_ptr<DatagramSocket> socket, std::uint64_t seed, const Faults& faults)
        : socket_(std::move(socket)), random_(seed), faults_(faults) {}

    void send(std::span<const std::span<const std::byte>> datagrams) override {
        const std::lock_guard lock(mutex_);
        for (const auto& datagram : datagrams) {
            if (happens(faults_.lost)) continue;
            Datagram copy(datagram.begin(), datagram.end());
            if (happens(faults_.changed)) change(copy, random_);
            if (happens(faults_.doubled)) pass_on(copy);
            if (happens(faults_.reordered)) {
                held_.push_back({std::move(copy), 1 + random_() % 8});
            } else {
                pass_on(copy);
                release();
            }
        }
    }
    bool receive(const Take& take) override { return socket_->receive(take); }
    int descriptor() const override { return socket_->descriptor(); }

private:
    struct Held {
        Datagram datagram;
        std::uint64_t until;  ///< so many others have passed
    };

    bool happens(unsigned percent) { return random_() % 100 < percent; }
    void pass_on(const Datagram& datagram) {
        const std::span<const std::byte> one(datagram);
        socket_->send(std::span(&one, 1));
    }
    void release() {
        for (Held& held : held_)
            if (--held.until == 0) pass_on(held.datagram);
        std::erase_if(held_, [](const Held& held) { return held.until == 0; });
    }

    std::mutex mutex_;
    std::unique_ptr<DatagramSocket> socket_;
    std::mt19937_64 random_;
    Faults faults_;
    std::vector<Held> held_;
};

}  // namespace heddle::native
