// Gives messages to handlers: those from other nodes, and those that a worker sends to its own node.
#include <fmt/format.h>

#include <boost/context/fiber.hpp>
#include <cstring>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

Outbox& Node::outbox_of(const Context& context) {
    return context.id.core < cores() ? worker(context.id.core).outbox() : receiver_outbox();
}

void Node::expect_well_formed(NodeId from, std::span<const std::byte> message) const {
    if (well_formed(message, handlers_.size())) return;
    throw Error(
        fmt::format("node {}: a malformed message of {} bytes from node {}", id_, message.size(), from),
        "start every node from the same binary");
}

void Node::deliver_forwarded(NodeId from, std::span<const std::byte> message, Body body) {
    expect_well_formed(from, message);
    // Members holds none of these back: they come in order, and the first says that the node has joined.
    handle(from, message, std::move(body));
}

void Node::deliver(NodeId from, std::span<const std::byte> message, Body body) {
    expect_well_formed(from, message);
    mailbox_.begin();
    if (!members_) [[likely]] {
        handle(from, message, std::move(body));
    } else if (!members_->holds(from, message, body)) {
        handle(from, message, std::move(body));
        while (auto held = members_->take_held()) handle(held->from, held->message, std::move(held->body));
    }
    handle_mail();
}

/// A body belongs to the last record.
Node::Room Node::room(NodeId /*from*/, std::span<const std::byte> message, std::uint64_t bytes) {
    if (!well_formed(message, handlers_.size())) return {};  // `deliver` refuses it
    while (!message.empty()) {
        RecordHeader header;
        std::memcpy(&header, message.data(), sizeof header);
        const auto record = message.subspan(sizeof header, header.bytes());
        message = message.subspan(sizeof header + header.bytes());
        const Handler& handler = *handlers_[header.handler()];
        if (message.empty() && handler.room()) return handler.room()(*this, record, bytes);
    }
    return {};
}

/// What was left to the context that has the turn.
void Node::handle_mail() {
    if (mailbox_.end_if_none()) return;
    while (auto mail = mailbox_.next([] {})) handle(id_, mail->message, std::move(mail->body));
}

void Node::deliver_here(Context& caller, const Handler& handler, std::span<const std::byte> message,
                        Body body) {
    const auto turn = mailbox_.begin_or_leave(&caller != &receiver_, [&] {
        // What runs before the post returns need not be counted: the caller is active, or a message that
        // makes it act is not counted as received yet.
        if (handler.makes_work()) termination_.sent().fetch_add(1, std::memory_order_seq_cst);
        return Mail{whole_message(handler, message), std::move(body)};
    });
    if (turn == Mailbox::Turn::other) return;
    // The handlers take the caller's time. In simulation no other context of the node acts meanwhile, as
    // during every handler.
    const Context::Standing own = receiver_.stand_in_for(caller);
    std::exception_ptr failure;
    // The turn ends also where a handler fails: the program may catch its error. Its body goes before that,
    // because `body_` belongs to the context that has the turn.
    const auto guarded = [&](const auto& code) {
        try {
            code();
        } catch (const boost::context::detail::forced_unwind&) {
            throw;
        } catch (...) {
            body_.reset();
            if (!failure) failure = std::current_exception();
        }
    };
    if (turn == Mailbox::Turn::mine) {
        guarded([&] {
            if (body) body_ = std::move(body);
            handler.run()(*this, id_, message);
            if (body_) body_.reset();
            receiver_outbox_.flush();
        });
    }
    Time cost{};
    const auto end_turn = [&] { cost = receiver_.stand_back(caller, own); };
    while (auto mail = mailbox_.next(end_turn))
        guarded([&] { handle(id_, mail->message, std::move(mail->body)); });
    if (failure) [[unlikely]] {
        if (caller.id.core < cores()) worker(caller.id.core).note_failure(failure);
        std::rethrow_exception(failure);
    }
    if (cost > Time::zero()) caller.charge(cost);
}

void Node::run_handler(const Handler& handler, NodeId from, std::span<const std::byte> message) {
    try {
        handler.run()(*this, from, message);
    } catch (const MalformedMessage& error) {
        throw Error(fmt::format("node {}: the handler {} cannot read a message of {} bytes from node {}: {}",
                                id_, handler.name(), message.size(), from, error.what()),
                    "start every node from the same binary");
    }
}

/// Called only by the context that has the turn. A body belongs to the last record: the handlers of those
/// before it may take bodies, too.
void Node::handle(NodeId from, std::span<const std::byte> message, Body body) {
    // Count messages after their effects, and before a wave asks: a node that has counted a message as
    // received shows the work that it made.
    std::uint64_t received = 0;
    std::uint64_t active = 0;
    bool counted = false;
    while (!message.empty()) {
        RecordHeader header;
        std::memcpy(&header, message.data(), sizeof header);
        const auto record = message.subspan(sizeof header, header.bytes());
        message = message.subspan(sizeof header + header.bytes());
        if (message.empty()) body_ = std::move(body);
        const Handler& handler = *handlers_[header.handler()];
        if (!handler.carries()) ++active;
        if (handler.makes_work()) {
            ++received;
            counted = true;
        } else if (received != 0) {
            termination_.received(std::exchange(received, 0));
        }
        if (!handler.makes_work() || !ended_early()) run_handler(handler, from, record);
    }
    if (received != 0) termination_.received(received);
    body_.reset();
    // Likewise: a leaver that has all messages has all that they brought.
    if (members_ && from != id_) [[unlikely]]
        members_->count_received(from, active);
    // If a worker is active, it looks when it becomes passive.
    if (counted && active_.empty()) look_for_end(receiver_outbox_);
    if (members_ && from != id_) [[unlikely]]
        members_->received(receiver_outbox_);
    receiver_outbox_.flush();
}

}  // namespace heddle::runtime
