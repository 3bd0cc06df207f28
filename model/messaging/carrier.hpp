// The interface to what carries a thread's messages. It is an endpoint of the core (endpoint_carrier.hpp), or
// the dispatcher of the thread's process (dispatcher.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "model/messaging/thread_id.hpp"
#include "runtime/comm/endpoint.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::messaging {

/// Memory that messages need not copy (section 4.2: a DMAble block). Any thread that has it may read it; its
/// maker does not write it after it was sent.
using Block = runtime::Body;

/// The message has left: its data may be changed.
class Left final : public runtime::Event {
public:
    std::string what() const override { return "room to send a message"; }
};

class Carrier {
public:
    /// A receive that is begun, and ended later. If it goes before, it is given up.
    class Receive {
    public:
        Receive() = default;
        virtual ~Receive() = default;
        Receive(const Receive&) = delete;
        Receive& operator=(const Receive&) = delete;
    };

    Carrier() = default;
    virtual ~Carrier() = default;
    Carrier(const Carrier&) = delete;
    Carrier& operator=(const Carrier&) = delete;

    /// The thread's, never given before.
    virtual runtime::Address address() const = 0;

    /// Returns at once: null if the message has left, else what is completed when it leaves.
    virtual std::shared_ptr<Left> start_send(runtime::Worker& worker, ThreadId to, Tag tag,
                                             runtime::Parcel data) = 0;
    /// The same for bytes, which are copied.
    virtual std::shared_ptr<Left> start_copy(runtime::Worker& worker, ThreadId to, Tag tag,
                                             std::span<const std::byte> bytes) {
        return start_send(worker, to, tag, runtime::Parcel(bytes));
    }
    /// Returns when the message has left.
    virtual void send(runtime::Strand& strand, ThreadId to, Tag tag, runtime::Parcel data) = 0;

    /// Takes its place among the thread's receives. `receive`: null, or one that has ended, which it may use
    /// again.
    virtual void begin_receive(runtime::Worker& worker, const From& from,
                               std::unique_ptr<Receive>& receive) = 0;
    /// Whether `end_receive` returns at once.
    virtual bool has_come(runtime::Worker& worker, Receive& receive) = 0;
    /// Waits for its message. Once.
    virtual runtime::Incoming end_receive(runtime::Strand& strand, Receive& receive) = 0;
    virtual runtime::Incoming receive(runtime::Strand& strand, const From& from) = 0;

    /// The thread has ended: a message for it is an error from now on.
    virtual void close(runtime::Worker& /*worker*/) {}
};

/// The one that the process has chosen (DispatcherSettings).
std::unique_ptr<Carrier> make_carrier(runtime::Node& node);

}  // namespace heddle::messaging
