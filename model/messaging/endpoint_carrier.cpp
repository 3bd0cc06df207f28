// Sends and receives a thread's messages by an endpoint of the core.
#include "model/messaging/endpoint_carrier.hpp"

#include <utility>

#include "runtime/core/node.hpp"

namespace heddle::messaging {

namespace {

struct EndpointReceive final : Carrier::Receive {
    runtime::Endpoint::Receive begun;
};

runtime::Endpoint::Receive& begun(Carrier::Receive& receive) {
    return static_cast<EndpointReceive&>(receive).begun;
}

runtime::Filter filter_of(const From& from) {
    runtime::Filter filter;
    if (from.thread) filter.from = address_of(*from.thread);
    filter.tag = from.tag;
    return filter;
}

}  // namespace

std::shared_ptr<Left> EndpointCarrier::start_send(runtime::Worker& worker, ThreadId to, Tag tag,
                                                  runtime::Parcel data) {
    if (endpoint_.send_now(worker, address_of(to), tag, data)) return nullptr;
    auto left = std::make_shared<Left>();
    endpoint_.start_send(worker, address_of(to), tag, std::move(data),
                         [left](runtime::Worker& sender) { left->complete(sender.node(), sender); });
    return left;
}

void EndpointCarrier::send(runtime::Strand& strand, ThreadId to, Tag tag, runtime::Parcel data) {
    endpoint_.send(strand, address_of(to), tag, std::move(data));
}

std::unique_ptr<Carrier::Receive> EndpointCarrier::begin_receive(runtime::Worker& /*worker*/,
                                                                 const From& from,
                                                                 std::unique_ptr<Receive> ended) {
    if (!ended) ended = std::make_unique<EndpointReceive>();
    begun(*ended) = endpoint_.begin_receive(filter_of(from), std::move(begun(*ended)));
    return ended;
}

bool EndpointCarrier::has_come(runtime::Worker& worker, Receive& receive) {
    return endpoint_.has_come(worker, begun(receive));
}

runtime::Incoming EndpointCarrier::end_receive(runtime::Strand& strand, Receive& receive) {
    return endpoint_.end_receive(strand, begun(receive));
}

runtime::Incoming EndpointCarrier::receive(runtime::Strand& strand, const From& from) {
    return endpoint_.receive(strand, filter_of(from));
}

}  // namespace heddle::messaging
