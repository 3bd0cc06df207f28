// A fuzz target for native connections: the handshake, the headers of frames, the records of messages. The
// input's first byte chooses which. Handshakes also get correct keyed hashes, as far as an input can contain
// them.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "runtime/comm/wire.hpp"
#include "runtime/native/frame.hpp"
#include "runtime/native/handshake.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace heddle;

void feed_acceptor(std::span<const std::byte> bytes) {
    native::Acceptor acceptor(native::Key{}, {0, 4, 17});
    while (acceptor.state() == native::Acceptor::State::hello ||
           acceptor.state() == native::Acceptor::State::proof) {
        const std::span<std::byte> wanted = acceptor.wanted();
        const std::size_t count = std::min(wanted.size(), bytes.size());
        std::fill(wanted.begin(), wanted.end(), std::byte{});
        if (count != 0) std::memcpy(wanted.data(), bytes.data(), count);
        bytes = bytes.subspan(count);
        (void)acceptor.advance([](const native::Identity& peer) {
            return peer.address.size() > 63 ? std::string("long") : std::string();
        });
    }
}

void open_frames(std::span<const std::byte> bytes) {
    const native::DirectionKey key{};
    native::Opener opener(key, 1 << 20);
    native::Sealer sealer(key);
    native::FrameHeader header{};
    while (bytes.size() >= sizeof header) {
        std::memcpy(&header, bytes.data(), sizeof header);
        bytes = bytes.subspan(sizeof header);
        if (opener.open(header).empty())
            (void)opener.matches(header, bytes.first(std::min<std::size_t>(header.length, bytes.size())));
    }
    // A sealed frame is opened, and one changed bit of it is noticed.
    native::Opener other(key, 1 << 20);
    native::FrameHeader sealed = sealer.seal(native::FrameKind::message, bytes);
    if (!bytes.empty()) {
        const auto bit = static_cast<std::size_t>(bytes[0]) % (8 * sizeof sealed);
        auto* raw = reinterpret_cast<unsigned char*>(&sealed);
        raw[bit / 8] = static_cast<unsigned char>(raw[bit / 8] ^ (1U << (bit % 8)));
        if (other.open(sealed).empty() && other.matches(sealed, bytes)) std::abort();
        return;
    }
    if (!other.open(sealed).empty() || !other.matches(sealed, bytes)) std::abort();
}

void read_records(std::span<const std::byte> bytes) {
    runtime::Reader reader(bytes);
    while (!reader.done() && reader.ok()) {
        switch (static_cast<unsigned>(reader.get<std::uint8_t>()) % 5) {
            case 0:
                (void)reader.get<std::uint64_t>();
                break;
            case 1:
                (void)reader.get_text();
                break;
            case 2:
                (void)reader.get_bytes(reader.get<std::uint64_t>());
                break;
            case 3:
                (void)reader.get_bytes(reader.get<std::uint16_t>());
                break;
            default:
                (void)reader.get<std::uint8_t>();
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    switch (data[0] % 3) {
        case 0:
            feed_acceptor(bytes);
            break;
        case 1:
            open_frames(bytes);
            break;
        default:
            read_records(bytes);
    }
    return 0;
}
