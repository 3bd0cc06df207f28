// The dispatcher of a process (the pCoR paper, sections 4 and 5): threads leave messages in its send queue
// and take them from its receive queue. Long messages travel in fragments, and each fragment is acknowledged.
// A fragment is refused, and sent again later, if the receiving process has no control block for it. The
// core's sender and receiver are its threads (schedule.modules), which poll or block (transport.receive).
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "model/messaging/carrier.hpp"
#include "model/messaging/dispatcher_settings.hpp"
#include "model/messaging/receive_queue.hpp"
#include "model/messaging/send_queue.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/states.hpp"

namespace heddle::messaging {

/// `node.state<Dispatcher>()`.
class Dispatcher final : public runtime::State<runtime::Node> {
public:
    explicit Dispatcher(runtime::Node& node) : node_(node) {}

    /// Before any thread of the process starts. Without it, endpoints of the core carry the messages.
    void use(const DispatcherSettings& settings);
    bool used() const { return queues_.has_value(); }

    /// A carrier for a new thread.
    std::unique_ptr<Carrier> carrier();

    void report(runtime::NodeReport& report) const override;
    bool keeps_node() const override { return used(); }

    // --- handlers. They throw MalformedMessage where no message of the sender's could be meant.
    void on_fragment(ProcessId from, const FragmentHeader& header, runtime::Parcel data);
    void on_acknowledged(FragmentId fragment);
    void on_refused(ProcessId from, FragmentId fragment, bool has_room);
    void on_room(ProcessId from, const RoomMessage& message);
    void on_relieved(ProcessId from, const RelievedMessage& message);

private:
    class Round;
    class DispatcherCarrier;

    struct Queues {
        Queues(ProcessId process, const DispatcherSettings& its_settings)
            : settings(its_settings), send(process, settings), receive(process, settings) {}
        DispatcherSettings settings;
        SendQueue send;
        ReceiveQueue receive;
    };

    Queues& queues();
    void post(runtime::Context& caller, const Departure& departure);
    void make_use_of(runtime::Context& caller, ProcessId of, const RoomMessage& room);

    runtime::Node& node_;
    std::optional<Queues> queues_;
};

}  // namespace heddle::messaging
