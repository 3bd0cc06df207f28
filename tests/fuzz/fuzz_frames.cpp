// A fuzz target for native connections: the handshake, frames, the records of messages. The input's first
// byte chooses which. A part of the hellos get a correct keyed hash.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

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
        // A hello with this fingerprint is one whose sender has the key.
        if (acceptor.state() == native::Acceptor::State::hello && wanted[8] == std::byte{1}) {
            native::wire::Hello hello;
            std::memcpy(&hello, wanted.data(), sizeof hello);
            hello.mac = native::hello_mac(native::Key{}, hello);
            std::memcpy(wanted.data(), &hello, sizeof hello);
        }
        (void)acceptor.advance([](const native::Identity& peer) {
            return peer.address.size() > 63 ? std::string("long") : std::string();
        });
    }
}

/// What has been sealed is opened, and one changed bit of it is noticed.
void seal_and_open(std::span<const std::byte> bytes, native::Protection protection) {
    const native::DirectionKey key{};
    native::Sealer sealer(key, protection);
    native::Opener opener(key, protection, 1 << 20);
    const native::FrameHeader header = sealer.begin(native::FrameKind::message, bytes.size());
    std::vector<std::byte> wire(sizeof header + bytes.size());
    const auto payload = std::span(wire).subspan(sizeof header);
    std::memcpy(wire.data(), &header, sizeof header);
    std::ranges::copy(bytes, payload.begin());
    sealer.seal(payload, payload.data());
    const native::PayloadTag tag = sealer.finish();
    wire.insert(wire.end(), tag.begin(), tag.begin() + static_cast<std::ptrdiff_t>(sealer.tag_bytes()));
    if (!bytes.empty()) {
        const std::size_t bit = (static_cast<std::size_t>(bytes[0]) + 251 * bytes.size()) % (8 * wire.size());
        wire[bit / 8] ^= std::byte{1} << (bit % 8);
    }
    native::FrameHeader came;
    std::memcpy(&came, wire.data(), sizeof came);
    const bool opened = opener.begin(came).empty();
    const auto rest = std::span(wire).subspan(sizeof came);
    if (opened) opener.open(rest.first(bytes.size()));
    const bool matches = opened && opener.matches(rest.subspan(bytes.size()));
    if (matches != bytes.empty()) std::abort();
}

void open_frames(std::span<const std::byte> bytes, native::Protection protection) {
    native::Opener opener(native::DirectionKey{}, protection, 1 << 20);
    native::FrameHeader header{};
    std::vector<std::byte> rest(bytes.begin(), bytes.end());
    std::span<std::byte> left(rest);
    while (left.size() >= sizeof header) {
        std::memcpy(&header, left.data(), sizeof header);
        left = left.subspan(sizeof header);
        if (!opener.begin(header).empty()) continue;
        const auto payload = left.first(std::min<std::size_t>(header.length, left.size()));
        opener.open(payload);
        left = left.subspan(payload.size());
        (void)opener.matches(left.first(std::min(opener.tag_bytes(), left.size())));
    }
    seal_and_open(bytes, protection);
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
    switch (data[0] % 4) {
        case 0:
            feed_acceptor(bytes);
            break;
        case 1:
            open_frames(bytes, native::Protection::integrity);
            break;
        case 3:
            open_frames(bytes, native::Protection::encryption);
            break;
        default:
            read_records(bytes);
    }
    return 0;
}
