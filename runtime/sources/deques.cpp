// Takes the oldest shared task of a worker's deque, for another worker of the node or for another node.
#include "runtime/sources/deques.hpp"

#include <cstring>
#include <optional>

#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/sources/gift.hpp"

namespace heddle::runtime {

bool Deques::may_steal(Worker& victim) const {
    return victim.deque().shared() != 0;
}

// A thief copies a detached task, which its owner does not wait for, and gives the slot back at once. From
// then on the slot may hold another task.
bool Deques::steal(Worker& thief, Worker& victim, Slot* head) {
    Deque& deque = victim.deque();
    if (deque.shared() == 0) return false;
    alignas(16) std::byte copy[payload_bytes];
    const TaskType* type = nullptr;
    std::optional<HeldPayload> held;
    const auto take = [&] {
        Slot* const slot = deque.take();
        if (!slot) return slot;
        type = slot->type;
        if (type->detached()) {
            std::memcpy(copy, slot->payload, type->arguments_bytes());
            Worker::complete(*slot);
        } else {
            slot->state.store(Worker::taken_by(thief.id.core), std::memory_order_relaxed);
        }
        held.emplace(*type, type->detached() ? copy : slot->payload);
        if (deque.shared() == 0) {
            deque.ask();
        } else {
            node_.wake_one(thief);  // there is more than was woken for
        }
        thief.count_steal();
        thief.count_task();
        return slot;
    };
    const auto run = [&](Slot& slot) {
        thief.note_stolen(victim, &slot);
        held->holds = Holds::nothing;
        thief.execute(*type, head, type->detached() ? copy : slot.payload);
        if (!type->detached()) held->holds = Holds::result;
    };
    return thief.take_and_run(take, run, [&](Slot& slot) {
        if (type->detached()) return;
        held->holds = Holds::nothing;  // the owner's
        Worker::complete(slot);
        victim.awaited_done(thief);
    });
}

std::uint32_t Deques::givable() const {
    std::uint32_t shared = 0;
    for (CoreId core = 0; core < node_.cores(); ++core) shared += node_.worker(core).deque().shared();
    return shared;
}

// A node that has asked to leave gives none of these: it would wait for their results (Members).
void Deques::give(Gift& gift) {
    gift.from_workers([&](Worker& victim) {
        if (node_.arrived().give_one(gift, victim.id.core)) return true;
        if (node_.hands_on()) [[unlikely]]
            return false;
        Deque& deque = victim.deque();
        const bool gave = deque.shared() != 0 && give_one(gift, victim);
        if (deque.shared() == 0) deque.ask();
        return gave;
    });
}

bool Deques::give_one(Gift& gift, Worker& victim) {
    Slot* const slot = victim.deque().take();
    if (!slot) return false;
    const TaskType& type = *slot->type;
    if (!type.detached()) {
        gift.add(type, {node_.id(), victim.id.core, victim.deque().taken_index(slot)}, slot->payload);
        return true;
    }
    // Its owner does not wait for it, and may be passive once it is copied.
    gift.leaves();
    std::byte copy[payload_bytes];
    std::memcpy(copy, slot->payload, type.arguments_bytes());
    Worker::complete(*slot);
    if (type.travels()) {
        gift.add(type, copy);
    } else {
        node_.put_ready(gift.outbox().context(), type, {copy, type.arguments_bytes()});
    }
    return true;
}

}  // namespace heddle::runtime
