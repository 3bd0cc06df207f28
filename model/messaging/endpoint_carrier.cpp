// Sends and receives a thread's messages by an endpoint of the core.
#include "model/messaging/endpoint_carrier.hpp"

#include <utility>

#include "runtime/core/node.hpp"

namespace heddle::messaging {

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

runtime::Incoming EndpointCarrier::receive(runtime::Strand& strand, const From& from) {
    return endpoint_.receive(strand, filter_of(from));
}

}  // namespace heddle::messaging
