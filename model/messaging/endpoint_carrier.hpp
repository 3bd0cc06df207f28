// Carries a thread's messages by an endpoint of the core, whose address is the thread's identifier.
#pragma once

#include "model/messaging/carrier.hpp"

namespace heddle::messaging {

class EndpointCarrier final : public Carrier {
public:
    explicit EndpointCarrier(runtime::Node& node) : endpoint_(node, runtime::Endpoint::Late::error) {}

    runtime::Address address() const override { return endpoint_.address(); }
    std::shared_ptr<Left> start_send(runtime::Worker& worker, ThreadId to, Tag tag,
                                     runtime::Parcel data) override;
    void send(runtime::Strand& strand, ThreadId to, Tag tag, runtime::Parcel data) override;
    std::unique_ptr<Receive> begin_receive(runtime::Worker& worker, const From& from,
                                           std::unique_ptr<Receive> ended) override;
    bool has_come(runtime::Worker& worker, Receive& receive) override;
    runtime::Incoming end_receive(runtime::Strand& strand, Receive& receive) override;
    runtime::Incoming receive(runtime::Strand& strand, const From& from) override;

private:
    runtime::Endpoint endpoint_;
};

}  // namespace heddle::messaging
