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
    std::shared_ptr<Left> start_copy(runtime::Worker& worker, ThreadId to, Tag tag,
                                     std::span<const std::byte> bytes) override {
        if (endpoint_.send_now(worker, address_of(to), tag, bytes)) return nullptr;
        return start_send(worker, to, tag, runtime::Parcel(bytes));
    }
    void send(runtime::Strand& strand, ThreadId to, Tag tag, runtime::Parcel data) override;
    void begin_receive(runtime::Worker& worker, const From& from,
                       std::unique_ptr<Receive>& receive) override {
        if (!receive) receive = std::make_unique<EndpointReceive>();
        endpoint_.begin_receive(worker, begun(*receive), filter_of(from));
    }
    bool has_come(runtime::Worker& worker, Receive& receive) override {
        return endpoint_.has_come(worker, begun(receive));
    }
    runtime::Incoming end_receive(runtime::Strand& strand, Receive& receive) override {
        return endpoint_.end_receive(strand, begun(receive));
    }
    runtime::Incoming receive(runtime::Strand& strand, const From& from) override;

private:
    struct EndpointReceive final : Receive {
        runtime::Endpoint::Receive begun;
    };
    static runtime::Endpoint::Receive& begun(Receive& receive) {
        return static_cast<EndpointReceive&>(receive).begun;
    }
    static runtime::Filter filter_of(const From& from) {
        runtime::Filter filter;
        if (from.thread) filter.from = address_of(*from.thread);
        filter.tag = from.tag;
        return filter;
    }

    runtime::Endpoint endpoint_;
};

}  // namespace heddle::messaging
