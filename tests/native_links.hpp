// For tests of links: two that are connected, within this process.
#pragma once

#include <memory>
#include <utility>

#include "runtime/native/link.hpp"
#include "runtime/native/local_meeting.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

/// The largest frame between them.
inline constexpr std::uint64_t frame_bytes_max = 1 << 20;

/// Two links, one to the other, through memory; without `ring_bytes` over a socket.
inline std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> linked_pair(std::size_t ring_bytes) {
    auto [left, right] = connected_pair();
    Session maker, opener;
    maker.peer.rank = 1;
    opener.peer.rank = 0;
    maker.send_key = opener.receive_key = {1};
    maker.receive_key = opener.send_key = {2};
    LocalPeer peer = offer_memory(std::move(left), maker, ring_bytes);
    LocalStream taken = take_offer({std::move(right), opener}, soon());
    LocalStream made = conclude_offer(std::move(peer), soon());
    const auto link = [](LocalStream stream, const Session& session) {
        return std::make_unique<Link>(std::move(stream.stream), session, frame_bytes_max, Protection::local);
    };
    return {link(std::move(made), maker), link(std::move(taken), opener)};
}

}  // namespace heddle::native
