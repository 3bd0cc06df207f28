// The messages of sync slots and split-phase operations: signal, put, get, and moves of blocks.
#include "runtime/comm/sync_slot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

namespace {

using SlotReference = GlobalReference<SyncSlot>;

struct SignalMessage {
    SlotReference slot;
    std::uint32_t signals;
};
/// Followed by the bytes.
struct PutMessage {
    GlobalReference<std::byte> target;
    SlotReference slot;
};
struct GetMessage {
    GlobalReference<const std::byte> source;
    std::uint64_t count;
    PutMessage answer;
};

void signal_from(Node& node, Context& caller, Outbox& outbox, SlotReference slot, std::uint32_t signals);

void signal_here(Node& node, Context& caller, SlotReference slot, std::uint32_t signals) {
    SyncSlot& here = slot.on(node.id());
    node.touched(&here, sizeof here);
    here.signal(node, caller, signals);
}

const Handler signal_handler("sync.signal", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    const auto [slot, signals] = value_in<SignalMessage>(message);
    signal_here(node, node.receiver(), slot, signals);
});

const Handler put_handler("sync.put", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    const auto put = reader.get<PutMessage>();
    const auto bytes = reader.get_rest();
    reader.check();
    std::byte* const target = &put.target.on(node.id());
    node.touched(target, bytes.size());
    std::copy(bytes.begin(), bytes.end(), target);
    signal_from(node, node.receiver(), node.receiver_outbox(), put.slot, 1);
});

const Handler get_handler("sync.get", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    const auto [source, count, answer] = value_in<GetMessage>(message);
    node.touched(&source.on(node.id()), count);
    node.receiver_outbox().post(answer.target.node, put_handler, bytes_of(answer), Outbox::Urgency::gathered,
                                {&source.on(node.id()), count});
});

void signal_from(Node& node, Context& caller, Outbox& outbox, SlotReference slot, std::uint32_t signals) {
    if (slot.node == node.id()) {
        signal_here(node, caller, slot, signals);
    } else {
        outbox.post(slot.node, signal_handler, bytes_of(SignalMessage{slot, signals}),
                    Outbox::Urgency::gathered);
    }
}

}  // namespace

void SyncSlot::too_many(std::uint32_t missing, std::uint32_t signals) {
    throw Error(fmt::format("a sync slot got {} signal{}, and waits for {}", signals, signals == 1 ? "" : "s",
                            missing),
                "count the signals of each round, or give the slot a reset count");
}

void signal(Worker& worker, SlotReference slot, std::uint32_t signals) {
    signal_from(worker.node(), worker, worker.outbox(), slot, signals);
}

void signal(Node& node, Context& caller, SlotReference slot, std::uint32_t signals) {
    signal_from(node, caller, node.outbox_of(caller), slot, signals);
}

void put_bytes(Worker& worker, std::span<const std::byte> bytes, GlobalReference<std::byte> target,
               SlotReference slot) {
    if (target.node == worker.id.node) {
        std::copy(bytes.begin(), bytes.end(), &target.on(worker.id.node));
        signal(worker, slot);
        return;
    }
    worker.outbox().post(target.node, put_handler, bytes_of(PutMessage{target, slot}),
                         Outbox::Urgency::gathered, bytes);
}

void get_bytes(Worker& worker, GlobalReference<const std::byte> source, std::uint64_t count,
               std::byte* target, SlotReference slot) {
    move_bytes(worker, source, {worker.id.node, target}, count, slot);
}

void move_bytes(Worker& worker, GlobalReference<const std::byte> source, GlobalReference<std::byte> target,
                std::uint64_t count, SlotReference slot) {
    if (source.node == worker.id.node)
        return put_bytes(worker, {&source.on(source.node), count}, target, slot);
    const GetMessage get{source, count, {target, slot}};
    worker.outbox().post(source.node, get_handler, bytes_of(get), Outbox::Urgency::gathered);
}

}  // namespace heddle::runtime
