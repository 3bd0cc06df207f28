// Channels of EARTH's library: items go from senders to receivers, each once, in the order in which they
// arrive at the channel. One-way channels may be bounded; a two-way channel is two of them, with two ends.
#pragma once

#include <cstdint>
#include <deque>
#include <type_traits>

#include "model/earth/library/request.hpp"

namespace heddle::model::earth {

template <class T>
struct Channel {
    Global<Mailbox> requests;
};

/// One side of a two-way channel: it sends Out and receives In.
template <class Out, class In>
struct ChannelEnd {
    Channel<Out> out;
    Channel<In> in;
};

/// The capacity of a channel that takes every item at once.
inline constexpr std::uint64_t unbounded = 0;

namespace detail {

template <class T>
struct ChannelRequest {
    enum class Kind : std::uint8_t { send, receive, destroy };

    Kind kind;
    Sptr slot = no_slot;
    Global<T> target = {};
    T item = {};
};

template <class T>
struct ChannelParameters {
    Global<Channel<T>> channel;
    Sptr ready;
    std::uint64_t capacity;
};

/// Invariant: where a receiver waits there is no item; and beyond the capacity items have senders that wait.
template <class T>
struct ChannelHandler : Threaded<ChannelHandler<T>, ChannelParameters<T>> {
    using Request = ChannelRequest<T>;

    Mailbox requests;
    std::deque<T> items;       ///< also those of the senders that wait, at the end
    std::deque<Sptr> senders;  ///< that wait for room
    std::deque<Request> receivers;

    void init(Em em) {
        em.init_mailbox(requests, arrived);
        em.put_sync({em.to_global(requests)}, this->channel, this->ready);
    }

    void serve(Em em) {
        Request request;
        em.retrieve_item(requests, request);
        switch (request.kind) {
            case Request::Kind::send:
                items.push_back(request.item);
                senders.push_back(request.slot);
                break;
            case Request::Kind::receive:
                receivers.push_back(request);
                break;
            case Request::Kind::destroy:
                if (!items.empty() || !receivers.empty())
                    wrong_use(em, "a channel is destroyed that holds items or is waited for",
                              "receive every item, and destroy the channel when all is answered");
                return em.terminate();
        }
        if (!items.empty() && !receivers.empty()) {
            const Request& receiver = receivers.front();
            em.put_sync(items.front(), receiver.target, receiver.slot);
            items.pop_front();
            receivers.pop_front();
        }
        // The items without a sender that waits. An item that was received at once may have left its sender.
        const auto has_room = [&] {
            return this->capacity == unbounded || items.size() < senders.size() ||
                   items.size() - senders.size() < this->capacity;
        };
        while (!senders.empty() && has_room()) {
            sync_if(em, senders.front());
            senders.pop_front();
        }
    }
    ExclusiveFiber<&ChannelHandler::serve> arrived{*this, 1};
};

template <class Out, class In>
struct ChannelMakerParameters {
    Global<ChannelEnd<Out, In>> first;
    Global<ChannelEnd<In, Out>> second;
    Sptr ready;
};

/// Makes both ways of a two-way channel and gives the ends away.
template <class Out, class In>
struct ChannelMaker : Threaded<ChannelMaker<Out, In>, ChannelMakerParameters<Out, In>> {
    ChannelEnd<Out, In> end;

    void init(Em em);
    void give(Em em) {
        em.put_sync(end, this->first, given);
        em.put_sync({end.in, end.out}, this->second, given);
    }
    void tell(Em em) {
        em.sync(this->ready);
        em.terminate();
    }
    Fiber<&ChannelMaker::give> made{*this, 2};
    Fiber<&ChannelMaker::tell> given{*this, 2};
};

}  // namespace detail

/// Makes a channel on node `home`, writes its handle to `channel` and signals `ready`. `capacity`: items that
/// it takes before a sender must wait; or `unbounded`.
template <class T>
void init_channel(Em em, NodeId home, Global<Channel<T>> channel, std::uint64_t capacity,
                  Em::SlotArgument ready) {
    static_assert(std::is_trivially_copyable_v<T>, "what travels is plain bytes");
    em.invoke<detail::ChannelHandler<T>>(home, channel, em.to_sptr(ready), capacity);
}

/// Sends an item. `taken` is signalled when there is room for it: then send the next. What one fiber sends
/// stays in order, and so does what is sent when the item before was taken; else items may pass each other.
template <class T>
void send_sync(Em em, Channel<T> channel, const std::type_identity_t<T>& item,
               Em::SlotArgument taken = no_slot) {
    using Request = detail::ChannelRequest<T>;
    em.drop_in(channel.requests, Request{Request::Kind::send, em.to_sptr(taken), {}, item});
}

/// Writes the next item that no other receiver has asked for to `target`, when it is there, and then signals
/// `received`.
template <class T>
void receive_sync(Em em, Channel<T> channel, Global<std::type_identity_t<T>> target,
                  Em::SlotArgument received) {
    using Request = detail::ChannelRequest<T>;
    em.drop_in(channel.requests, Request{Request::Kind::receive, em.to_sptr(received), target});
}

/// Ends an empty channel. Every send and receive must have been answered, or come from the same fiber. If
/// it holds items or a thread waits, its handler throws Error.
template <class T>
void destroy(Em em, Channel<T> channel) {
    using Request = detail::ChannelRequest<T>;
    em.drop_in(channel.requests, Request{Request::Kind::destroy});
}

/// Makes a two-way channel of unbounded ways, writes its ends to `first` and `second` and signals `ready`.
/// What goes to an end waits on the node where that end was written.
template <class Out, class In>
void init_two_way_channel(Em em, Global<ChannelEnd<Out, In>> first, Global<ChannelEnd<In, Out>> second,
                          Em::SlotArgument ready) {
    em.invoke<detail::ChannelMaker<Out, In>>(em.node_id(), first, second, em.to_sptr(ready));
}

template <class Out, class In>
void send_sync(Em em, const ChannelEnd<Out, In>& end, const std::type_identity_t<Out>& item,
               Em::SlotArgument taken = no_slot) {
    send_sync(em, end.out, item, taken);
}
template <class Out, class In>
void receive_sync(Em em, const ChannelEnd<Out, In>& end, Global<std::type_identity_t<In>> target,
                  Em::SlotArgument received) {
    receive_sync(em, end.in, target, received);
}

/// Ends both ways, by one of the ends.
template <class Out, class In>
void destroy(Em em, const ChannelEnd<Out, In>& end) {
    destroy(em, end.out);
    destroy(em, end.in);
}

template <class Out, class In>
void detail::ChannelMaker<Out, In>::init(Em em) {
    init_channel(em, this->second.node, em.to_global(end.out), unbounded, made);
    init_channel(em, this->first.node, em.to_global(end.in), unbounded, made);
}

}  // namespace heddle::model::earth
