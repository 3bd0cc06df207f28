// Offers memory for rings to a peer on the same machine, and takes such an offer.
#include "runtime/native/local_meeting.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.hpp"
#include "base/fnv1a.hpp"
#include "runtime/native/frame.hpp"
#include "runtime/native/shared_stream.hpp"
#include "runtime/native/unix_socket.hpp"

namespace heddle::native {

namespace {

constexpr std::uint64_t answer_bytes_max = 4096;

/// Of the offer and the answer. The link that follows numbers its frames from 0 again, and has no payload
/// tags.
constexpr Protection protection = Protection::integrity;

/// The payload of an offer. No bytes: there is no memory.
struct Offer {
    std::uint64_t ring_bytes = 0;
    SharedMemory::Token token{};
};

Error lost(const Session& session, const std::string& failure) {
    return Error(fmt::format("{} on this machine: {}", name_of(session.peer.rank), failure));
}

void check(const Session& session, const std::string& failure) {
    if (!failure.empty()) throw lost(session, failure);
}

runtime::Bytes read_answer(int socket, const Session& session, Deadline deadline) {
    Opener opener(session.receive_key, protection, answer_bytes_max);
    try {
        Frame frame = read_frame(socket, opener, deadline);
        if (frame.kind != FrameKind::memory) throw Error("it answered something else");
        return std::move(frame.payload);
    } catch (const Error& error) {
        throw lost(session, error.message());
    }
}

void write_answer(int socket, const Session& session, std::span<const std::byte> payload) {
    // A fresh connection has room for these few bytes.
    Sealer sealer(session.send_key, protection);
    check(session, write_frame(socket, sealer, FrameKind::memory, payload, Clock::now()));
}

/// What names the machine and the network namespace of this process. Processes of which it is the same can
/// meet at Unix sockets that have a name and no file, because such names hold within a network namespace.
std::string this_machine() {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    std::error_code ignored;
    const auto names = std::filesystem::read_symlink("/proc/self/ns/net", ignored).string();
    // A number, because an address has to fit into a hello (handshake.hpp).
    Fnv1a number;
    number.add_text(boot + " " + names);
    return fmt::format("machine-{:016x}", number.value());
}

std::unique_ptr<Stream> stream_over(Descriptor socket, std::optional<SharedMemory> memory,
                                    SharedStream::Side side) {
    if (!memory) return std::make_unique<SocketStream>(std::move(socket));
    return std::make_unique<SharedStream>(std::move(*memory), std::move(socket), side);
}

}  // namespace

std::string local_name(NodeId rank, NetworkId network, const std::string& address,
                       std::uint64_t fingerprint) {
    return fmt::format("heddle-{}-{}-{}-{}-{:016x}", geteuid(), port_of(address), rank, network, fingerprint);
}

std::string fresh_local_address() {
    std::uint64_t number = 0;
    randombytes_buf(&number, sizeof number);
    return fmt::format("{}:{:016x}", this_machine(), number);
}

bool is_of_this_machine(const std::string& fresh_address) {
    return host_of(fresh_address) == this_machine();
}

std::size_t ring_bytes_for(std::uint32_t processes) {
    if (processes > sharing_max) return 0;
    constexpr std::size_t least = 64 << 10;
    // Two nodes that send each other messages of half of that write both whole, and then read.
    constexpr std::size_t most = 1 << 20;
    constexpr std::size_t of_one_process = 8 << 20;  // each has a ring to each other
    return std::clamp(std::bit_floor(of_one_process / std::max<std::size_t>(processes, 1)), least, most);
}

// --- the acceptor

LocalPeer offer_memory(Descriptor socket, const Session& session, std::size_t ring_bytes) {
    LocalPeer peer{std::move(socket), session, std::nullopt};
    Offer offer;
    std::string text;
    if (ring_bytes > 0) {
        try {
            peer.memory.emplace(SharedMemory::make(ring_bytes));
            offer = {ring_bytes, peer.memory->token()};
        } catch (const Error& error) {
            text = error.message();
        }
    }
    const Descriptor none;
    if (peer.memory) {
        text = send_descriptor(peer.socket.get(), peer.memory->file());
        if (!text.empty()) peer.memory.reset();
    }
    // A peer that is gone is missed by `conclude_offer`.
    if (!peer.memory) (void)send_descriptor(peer.socket.get(), none);
    if (peer.memory) peer.memory->close_file();
    std::span<const std::byte> payload = std::as_bytes(std::span(&offer, 1));
    if (!peer.memory) payload = std::as_bytes(std::span(text));
    Sealer sealer(session.send_key, protection);
    (void)write_frame(peer.socket.get(), sealer, FrameKind::memory, payload, Clock::now());
    return peer;
}

LocalStream conclude_offer(LocalPeer peer, Deadline deadline) {
    const runtime::Bytes answer = read_answer(peer.socket.get(), peer.session, deadline);
    std::string word(reinterpret_cast<const char*>(answer.data()), answer.size());
    if (!word.empty()) peer.memory.reset();
    return {stream_over(std::move(peer.socket), std::move(peer.memory), SharedStream::Side::maker),
            std::move(word)};
}

// --- the initiator

LocalStream take_offer(Connection connection, Deadline deadline) {
    const int socket = connection.socket.get();
    const Session& session = connection.session;
    Descriptor file;
    check(session, receive_descriptor(socket, file, deadline));
    const runtime::Bytes payload = read_answer(socket, session, deadline);
    std::optional<SharedMemory> memory;
    std::string word;
    if (file && payload.size() == sizeof(Offer)) {
        Offer offer;
        std::memcpy(&offer, payload.data(), sizeof offer);
        try {
            memory.emplace(SharedMemory::open(std::move(file), offer.ring_bytes, offer.token));
            memory->close_file();
        } catch (const Error& error) {
            word = error.message();
        }
    } else if (payload.size() == sizeof(Offer)) {
        word = "its descriptor did not come";  // an offer, and no reason in words
    } else {
        word.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
    }
    write_answer(socket, session, std::as_bytes(std::span(word)));
    return {stream_over(std::move(connection.socket), std::move(memory), SharedStream::Side::opener),
            std::move(word)};
}

}  // namespace heddle::native
