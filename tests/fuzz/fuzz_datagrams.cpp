// A fuzz target for connections by UDP. It feeds bytes as datagrams from strangers, which must change
// nothing. It also feeds them as datagrams of a peer that has the keys, which may contain anything. Neither
// may break memory.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/native/udp_connection.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace heddle::native;

const DirectionKey there{1};
const DirectionKey back{2};

/// Pieces of the input, each after two bytes that state its size.
template <class Take>
void for_each_piece(std::span<const std::byte> bytes, Take take) {
    while (bytes.size() > 2) {
        std::uint16_t size = 0;
        std::memcpy(&size, bytes.data(), sizeof size);
        bytes = bytes.subspan(sizeof size);
        const auto piece = bytes.first(std::min<std::size_t>(size % 2048, bytes.size()));
        take(piece);
        bytes = bytes.subspan(piece.size());
    }
}

struct Victim {
    UdpConnection connection{back, there, 512};
    Deadline now{};

    Victim() {
        const std::vector<std::byte> bytes(3000);
        (void)connection.write(bytes);
        serve();
    }
    void serve() {
        now += std::chrono::milliseconds(3);
        connection.emit(now, [](auto) {});
        std::vector<std::byte> room(1000);
        (void)connection.read(room);
    }
};

void strangers(std::span<const std::byte> bytes) {
    Victim victim;
    for_each_piece(bytes, [&](std::span<const std::byte> piece) {
        std::vector<std::byte> datagram(piece.begin(), piece.end());
        if (victim.connection.take(victim.now, datagram)) std::abort();
        victim.serve();
    });
}

void peer(std::span<const std::byte> bytes) {
    Victim victim;
    SegmentSealer sealer(datagram_key(there));
    for_each_piece(bytes, [&](std::span<const std::byte> piece) {
        SegmentHeader header{};
        std::memcpy(&header, piece.data(), std::min(piece.size(), sizeof header));
        if (header.chunk % 2 == 0) header.chunk %= 2048;
        if (header.acknowledged % 2 == 0) header.acknowledged %= 16;
        const auto content = piece.subspan(std::min(piece.size(), sizeof header));
        std::vector<std::byte> datagram(segment_overhead + content.size());
        std::ranges::copy(content, datagram.begin() + sizeof header);
        sealer.seal(datagram, header);
        (void)victim.connection.take(victim.now, datagram);
        victim.serve();
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    if (data[0] % 2 == 0) {
        strangers(bytes);
    } else {
        peer(bytes);
    }
    return 0;
}
