// Posts the messages that endpoints of different nodes exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/comm/endpoint.hpp"

namespace heddle::runtime {

struct Envelope;

/// A message with its data, or the announcement of a large one.
void post_message(Worker& worker, Address to, const Envelope& message, const Parcel& data,
                  Endpoint::Sharing sharing);
/// A message with these bytes.
void post_message(Worker& worker, Address to, const Envelope& message, std::span<const std::byte> bytes);

/// A receive takes large message `offer`: its parts go to `transfer`.
void post_accept(Worker& worker, NodeId sender, std::uint64_t offer, std::uint64_t transfer);
/// No receive will take it: its sender sends no parts.
void post_refusal(Worker& worker, NodeId sender, std::uint64_t offer);
/// Which bytes of a large message a part has.
struct PartPlace {
    std::uint64_t transfer;  ///< the receiver's number of it
    std::uint64_t offset;    ///< a multiple of Endpoint::part_bytes
};
void post_part(Worker& worker, NodeId receiver, PartPlace place, Enclosure data, Endpoint::Sharing sharing);

/// `bytes` that `sender` sent to `receiver` were received.
void post_credit(Worker& worker, Address sender, Address receiver, std::uint64_t bytes);

}  // namespace heddle::runtime
