// Packs tasks for another node, and tells the termination detection that they are leaving.
#include "runtime/core/gift.hpp"

#include "runtime/node.hpp"

namespace heddle::runtime {

Gift::Gift(Node& node, Outbox& outbox, NodeId thief, CoreId core, std::uint32_t wanted, CoreId first_victim)
    : node_(node),
      outbox_(outbox),
      thief_(thief),
      core_(core),
      first_victim_(first_victim),
      wanted_(wanted) {}

void Gift::leaves() {
    node_.leaving().fetch_add(1, std::memory_order_seq_cst);
    ++leaving_;
}

void Gift::add(const TaskType& type, Home home, const std::byte* payload) {
    if (count_ == 0) {
        message_.reserve(sizeof core_ + wanted_ * (sizeof(TaskHeader) + type.arguments_bytes()));
        message_.put(core_);
    }
    message_.put(TaskHeader{type.id(), home}).put_bytes({payload, type.arguments_bytes()});
    ++count_;
    if (!type.cargo()) return;
    const std::size_t before = message_.bytes().size();
    padding_ += type.cargo()->pack(node_, payload, message_);
    data_bytes_ += message_.bytes().size() - before;
}

void Gift::add(const TaskType& type, const std::byte* payload) {
    add(type, {node_.id(), Home::no_worker, 0}, payload);
}

std::uint32_t Gift::send(const Handler& handler) {
    if (count_ != 0) {
        outbox_.post(thief_, handler, message_.bytes(), Enclosure{.padding = padding_});
        outbox_.count_data(data_bytes_ + padding_);
    }
    // The last task that waited may have left with no worker having been active.
    if (leaving_ != 0 && node_.leaving().fetch_sub(leaving_, std::memory_order_seq_cst) == leaving_)
        node_.look_for_end(outbox_);
    return count_;
}

}  // namespace heddle::runtime
