// Divides messages into fragments, sends them on at gateways, and puts them together.
#include "runtime/comm/forwarding.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"

namespace heddle::runtime {

namespace {

struct Acknowledgment {
    NodeId from;
    NodeId to;
    std::uint64_t bytes;
};

// The records in the fragments are counted for the end of the run, where they are sent and where they arrive.
const Handler fragment_handler("forwarding.fragment", Handler::Kind::carrier,
                               [](Node& node, NodeId, auto message) {
                                   Reader reader(message);
                                   const auto header = reader.get<FragmentHeader>();
                                   const auto small = reader.get_rest();
                                   reader.check();
                                   Forwarding* const forwarding = node.forwarding();
                                   if (!forwarding) throw MalformedMessage("this run has no gateways");
                                   forwarding->arrive(header, small, node.take_body());
                               });

const Handler acknowledgment_handler("forwarding.acknowledgment", Handler::Kind::carrier,
                                     [](Node& node, NodeId, auto message) {
                                         const auto [from, to, bytes] = value_in<Acknowledgment>(message);
                                         if (Forwarding* const forwarding = node.forwarding())
                                             forwarding->acknowledge(from, to, bytes);
                                     });

/// Bytes [begin, end) of a message and its body, one after the other.
Bytes slice(std::span<const std::byte> message, std::span<const std::byte> body, std::uint64_t begin,
            std::uint64_t end) {
    Bytes part;
    part.reserve(end - begin);
    const auto append = [&part](std::span<const std::byte> bytes, std::uint64_t first, std::uint64_t last) {
        part.insert(part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(first),
                    bytes.begin() + static_cast<std::ptrdiff_t>(last));
    };
    const std::uint64_t middle = message.size();
    if (begin < middle) append(message, begin, std::min(end, middle));
    if (end > middle) append(body, std::max(begin, middle) - middle, end - middle);
    return part;
}

}  // namespace

Forwarding::Forwarding(Node& node) : node_(node), id_(node.id()), routes_(*node.topology().routes) {
    const auto& [fragment, window, all_rails] = routes_.settings();
    acknowledged_bytes_ =
        std::max<std::uint64_t>(1, std::min(window / 4, window - std::min(window, fragment)));
}

Forwarding::Flow& Forwarding::flow_to(NodeId node) {
    const SpinLock::Guard guard(lock_);
    return flows_[node];
}

void Forwarding::send(Outbox& outbox, NodeId to, Bytes message, Enclosure enclosure) {
    enclosure.body = std::move(enclosure.body).owned();
    const std::uint64_t body_bytes = enclosure.body->size();
    FragmentHeader header{id_, to, 0, message.size(), body_bytes, enclosure.padding};
    auto whole = std::make_shared<const Whole>(Whole{std::move(message), std::move(enclosure)});
    Flow& flow = flow_to(to);
    {
        const SpinLock::Guard guard(flow.lock);
        header.number = flow.next_number++;
        flow.waiting.push_back({header, std::move(whole)});
    }
    send_what_may(outbox, flow);
}

// Outside the lock, because sending may let another context of the node act. The order in which fragments
// leave does not matter.
void Forwarding::send_what_may(Outbox& outbox, Flow& flow) {
    const auto& [fragment_bytes, window_bytes, all_rails] = routes_.settings();
    for (;;) {
        FragmentHeader header;
        std::shared_ptr<const Whole> whole;
        std::uint64_t end = 0;
        {
            const SpinLock::Guard guard(flow.lock);
            if (flow.waiting.empty()) return;
            Waiting& first = flow.waiting.front();
            const std::uint64_t size = std::min(fragment_bytes, first.next.size() - first.next.offset);
            if (!departs_.load(std::memory_order_seq_cst) && flow.under_way != 0 &&
                flow.under_way + size > window_bytes)
                return;
            flow.under_way += size;
            header = first.next;
            whole = first.whole;
            end = first.next.offset += size;
            if (end == header.size()) flow.waiting.pop_front();
        }
        const std::uint64_t content = header.message_bytes + header.body_bytes;
        header.padding_here = end - std::min(end, std::max(content, header.offset));
        Bytes part;
        if (header.offset < content)
            part = slice(whole->message, *whole->enclosure.body, header.offset, std::min(end, content));
        post(outbox, header, {}, std::make_shared<Bytes>(std::move(part)));
    }
}

/// To the next node on the way. The content is `small`, or `body` if there is one.
void Forwarding::post(Outbox& outbox, const FragmentHeader& header, std::span<const std::byte> small,
                      Body body) {
    const auto [neighbour, network] = routes_.next(id_, header.to);
    if (body && body->size() < Outbox::body_bytes_min) small = *body;
    const bool large = body && body->size() >= Outbox::body_bytes_min;
    const std::uint64_t bytes = header.padding_here + (large ? body->size() : small.size());
    const NetworkId rail = routes_.settings().all_rails ? rail_to(neighbour, bytes) : network;
    outbox.post_over({rail, true}, neighbour, fragment_handler, bytes_of(header), small,
                     {large ? std::move(body) : Body(), header.padding_here});
}

/// The network that would be done first.
NetworkId Forwarding::rail_to(NodeId neighbour, std::uint64_t bytes) {
    const std::vector<NetworkId>& networks = routes_.between(id_, neighbour);
    if (networks.size() == 1) return networks.front();
    const SpinLock::Guard guard(lock_);
    std::vector<double>& given = rails_[neighbour].seconds;
    given.resize(networks.size());
    std::size_t best = 0;
    const auto after = [&](std::size_t i) {
        return given[i] + static_cast<double>(bytes) / routes_.networks()[networks[i]].bandwidth;
    };
    for (std::size_t i = 1; i < networks.size(); ++i)
        if (after(i) < after(best)) best = i;
    given[best] = after(best);
    return networks[best];
}

void Forwarding::arrive(const FragmentHeader& header, std::span<const std::byte> small, Body body) {
    const NodeId nodes = node_.topology().nodes;
    if (header.from >= nodes || header.to >= nodes)
        throw MalformedMessage("it names a node that is not there");
    if (header.to != id_) return post(node_.receiver_outbox(), header, small, std::move(body));
    const std::span<const std::byte> content = body ? std::span<const std::byte>(*body) : small;
    Source& source = sources_[header.from];
    add(source, header, content);
    source.not_acknowledged += content.size() + header.padding_here;
    // Before handlers run: their time is the receiver's own.
    if (source.not_acknowledged >= acknowledged_bytes_ && begin_acknowledgment(header.from))
        acknowledge(header.from, id_, std::exchange(source.not_acknowledged, 0));
    deliver_complete(header.from, source);
}

/// False: that node leaves, and waits for none.
bool Forwarding::begin_acknowledgment(NodeId to) {
    Flow& flow = flow_to(to);
    const SpinLock::Guard guard(flow.lock);
    if (flow.silent) return false;
    ++flow.acknowledgments_sent;
    return true;
}

std::uint64_t Forwarding::end_acknowledgments(NodeId to) {
    Flow& flow = flow_to(to);
    const SpinLock::Guard guard(flow.lock);
    flow.silent = true;
    return flow.acknowledgments_sent;
}

std::uint64_t Forwarding::acknowledgments_of(NodeId node) {
    Flow& flow = flow_to(node);
    const SpinLock::Guard guard(flow.lock);
    return flow.acknowledgments_received;
}

// Invariant: a thread adds to a flow, and then looks whether the window is open. So what it adds after this
// has gone through the flows leaves at once.
void Forwarding::open_windows(Outbox& outbox) {
    departs_.store(true, std::memory_order_seq_cst);
    std::vector<Flow*> flows;
    {
        const SpinLock::Guard guard(lock_);
        for (auto& [node, flow] : flows_) flows.push_back(&flow);
    }
    for (Flow* const flow : flows) send_what_may(outbox, *flow);
}

void Forwarding::add(Source& source, const FragmentHeader& header, std::span<const std::byte> content) {
    const auto [found, is_new] = source.partial.try_emplace(header.number);
    Partial& partial = found->second;
    const std::uint64_t length = content.size() + header.padding_here;
    if (is_new) {
        partial.header = header;
        partial.message.resize(header.message_bytes);
        if (header.body_bytes != 0) partial.body = std::make_shared<Bytes>(header.body_bytes);
    }
    const std::uint64_t real = header.message_bytes + header.body_bytes;
    if (header.number < source.next_number || header.message_bytes != partial.message.size() ||
        header.size() != partial.header.size() ||
        length > header.size() - std::min(header.offset, header.size()) ||
        content.size() > real - std::min(header.offset, real))
        throw MalformedMessage("the fragment is no part of its message");
    const std::uint64_t in_message =
        header.offset < header.message_bytes
            ? std::min<std::uint64_t>(content.size(), header.message_bytes - header.offset)
            : 0;
    if (in_message != 0) std::memcpy(partial.message.data() + header.offset, content.data(), in_message);
    if (in_message < content.size())
        std::memcpy(partial.body->data() + (header.offset + in_message - header.message_bytes),
                    content.data() + in_message, content.size() - in_message);
    partial.arrived += length;
}

void Forwarding::deliver_complete(NodeId from, Source& source) {
    for (;;) {
        const auto first = source.partial.begin();
        if (first == source.partial.end() || first->first != source.next_number ||
            first->second.arrived != first->second.header.size())
            return;
        const Partial whole = std::move(first->second);
        source.partial.erase(first);
        ++source.next_number;
        node_.deliver_forwarded(from, whole.message, whole.body);
    }
}

void Forwarding::acknowledge(NodeId from, NodeId to, std::uint64_t bytes) {
    Outbox& outbox = node_.receiver_outbox();
    if (from != id_) {
        const auto [neighbour, network] = routes_.next(id_, from);
        return outbox.post_over({network, false}, neighbour, acknowledgment_handler,
                                bytes_of(Acknowledgment{from, to, bytes}), {}, {});
    }
    Flow& flow = flow_to(to);
    {
        const SpinLock::Guard guard(flow.lock);
        flow.under_way -= std::min(flow.under_way, bytes);
    }
    send_what_may(outbox, flow);
    // Last: this node may leave once it has all acknowledgments, and nothing of it may be sent after that.
    const SpinLock::Guard guard(flow.lock);
    ++flow.acknowledgments_received;
}

}  // namespace heddle::runtime
