// Packs tasks for another node, and tells the termination detection that they are leaving.
#include "runtime/sources/gift.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/error.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/readable.hpp"

namespace heddle::runtime {

Gift::Gift(Node& node, Outbox& outbox, NodeId thief, CoreId core, std::uint32_t wanted, CoreId first_victim)
    : node_(node),
      outbox_(outbox),
      thief_(thief),
      core_(core),
      first_victim_(first_victim),
      cores_(node.cores()),
      in_turn_(node.schedule().stealing.amount == Stealing::Amount::donation),
      wanted_(wanted) {}

void Gift::leaves() {
    node_.leaving().fetch_add(1, std::memory_order_seq_cst);
    ++leaving_;
}

void Gift::add(const TaskType& type, Home home, const std::byte* payload) {
    if (!type.travels()) [[unlikely]]
        refuse(type);
    if (count_ == 0) {
        message_.reserve(sizeof core_ + wanted_ * (sizeof(TaskHeader) + type.arguments_bytes()));
        message_.put(core_);
    }
    ++count_;
    const std::span arguments(payload, type.arguments_bytes());
    if (!type.cargo()) {
        message_.put(TaskHeader{type.id(), home}).put_bytes(arguments);
        return;
    }
    Writer cargo;
    padding_ += type.cargo()->pack(node_, payload, cargo);
    data_bytes_ += cargo.bytes().size();
    if (cargo.bytes().size() < Outbox::body_bytes_min) {
        message_.put(TaskHeader{type.id(), home}).put_bytes(arguments).put_bytes(cargo.bytes());
        return;
    }
    message_.put(TaskHeader{type.id() | TaskHeader::in_body, home}).put_bytes(arguments);
    if (body_.bytes().empty()) {
        body_ = std::move(cargo);  // mostly there is one, and it is not copied
    } else {
        body_.put_bytes(cargo.bytes());
    }
}

// It has been taken from where its owner waits for it, and may not be copied.
void Gift::refuse(const TaskType& type) const {
    throw Error(
        fmt::format("a task is to go from node {} to node {}, and the arguments or the result of {} cannot "
                    "leave their node",
                    node_.id(), thief_, readable(type.name())),
        "give the task arguments of plain bytes without addresses, or let no task leave its node: "
        "schedule.stealing.victim: none, no schedule.balancing, and no node that leaves the run");
}

void Gift::add(const TaskType& type, const std::byte* payload) {
    add(type, {node_.id(), Home::no_worker, 0}, payload);
}

std::uint32_t Gift::send(const Handler& handler) {
    if (count_ != 0) {
        const Body body = body_.bytes().empty() ? nullptr : body_.take_body();
        outbox_.post(thief_, handler, message_.bytes(), Enclosure{body, padding_});
        outbox_.count_data(data_bytes_ + padding_);
    }
    // The last task that waited may have left with no worker having been active.
    if (leaving_ != 0 && node_.leaving().fetch_sub(leaving_, std::memory_order_seq_cst) == leaving_)
        node_.look_for_end(outbox_);
    return count_;
}

}  // namespace heddle::runtime
