// Sends and receives the fragments that a process's send and receive queues name, by messages between the
// dispatchers of two processes.
#include "model/messaging/dispatcher.hpp"

#include <fmt/format.h>

#include <deque>
#include <utility>

#include "base/error.hpp"
#include "model/messaging/endpoint_carrier.hpp"
#include "runtime/comm/endpoints.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/run/report.hpp"
#include "runtime/sources/timers.hpp"

namespace heddle::messaging {

namespace {

using runtime::Handler;
using runtime::Node;

struct RefusedMessage {
    FragmentId fragment;
    std::uint64_t has_room = 0;
};

Dispatcher& dispatcher(Node& node) {
    return node.state<Dispatcher>();
}

const Handler fragment_handler("messaging.fragment", Handler::Kind::work,
                               [](Node& node, NodeId from, auto message) {
                                   runtime::Reader reader(message);
                                   const auto header = reader.get<FragmentHeader>();
                                   const auto small = reader.get_rest();
                                   reader.check();
                                   Block body = node.take_body();
                                   dispatcher(node).on_fragment(
                                       from, header,
                                       body ? runtime::Parcel(std::move(body)) : runtime::Parcel(small));
                               });
const Handler acknowledged_handler("messaging.acknowledged", Handler::Kind::work,
                                   [](Node& node, NodeId, auto message) {
                                       dispatcher(node).on_acknowledged(
                                           runtime::value_in<FragmentId>(message));
                                   });
const Handler refused_handler("messaging.refused", Handler::Kind::work,
                              [](Node& node, NodeId from, auto message) {
                                  const auto refused = runtime::value_in<RefusedMessage>(message);
                                  dispatcher(node).on_refused(from, refused.fragment, refused.has_room != 0);
                              });
const Handler room_handler("messaging.room", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    dispatcher(node).on_room(from, runtime::value_in<RoomMessage>(message));
});
const Handler relieved_handler("messaging.relieved", Handler::Kind::work,
                               [](Node& node, NodeId from, auto message) {
                                   dispatcher(node).on_relieved(from,
                                                                runtime::value_in<RelievedMessage>(message));
                               });

}  // namespace

/// What one call makes the queues decide, done step by step in the caller's time: a step may cause others,
/// as many as there are messages.
class Dispatcher::Round {
public:
    Round(Dispatcher& dispatcher, runtime::Context& caller)
        : dispatcher_(dispatcher), node_(dispatcher.node_), caller_(caller) {}

    void add(SendQueue::Outcome outcome) {
        for (Departure& departure : outcome.departures) departures_.push_back(std::move(departure));
        if (outcome.left) outcome.left->complete(node_, caller_);
        if (outcome.relieved) tell(outcome.relieved->first, outcome.relieved->second);
    }
    /// A receive that is woken may be gone then.
    void add(const ReceiveQueue::Outcome& outcome) {
        rooms_.insert(rooms_.end(), outcome.rooms.begin(), outcome.rooms.end());
        for (ReceiveQueue::Posted* const receive : outcome.woken) receive->complete(node_, caller_);
    }

    void run() {
        while (!departures_.empty() || !rooms_.empty()) {
            if (!departures_.empty()) {
                const Departure departure = std::move(departures_.front());
                departures_.pop_front();
                departure.to == node_.id() ? deliver(departure) : dispatcher_.post(caller_, departure);
            } else {
                const auto [to, room] = rooms_.front();
                rooms_.pop_front();
                to == node_.id() ? use(to, room)
                                 : node_.outbox_of(caller_).post(to, room_handler, runtime::bytes_of(room));
            }
        }
    }

    /// Process `to` has told of room.
    void use(ProcessId to, const RoomMessage& room) {
        bool relieved = false;
        RelievedMessage answer;
        add(dispatcher_.queues().send.room(to, room, relieved, answer));
        if (relieved) tell(to, answer);
    }

private:
    void tell(ProcessId to, const RelievedMessage& message) {
        if (to == node_.id()) return add(dispatcher_.queues().receive.relieved(to, message));
        node_.outbox_of(caller_).post(to, relieved_handler, runtime::bytes_of(message));
    }

    /// A whole message, within the process.
    void deliver(const Departure& departure) {
        Queues& queues = dispatcher_.queues();
        const FragmentHeader& header = departure.header;
        const ReceiveQueue::Outcome outcome =
            queues.receive.admit(node_.id(), header, runtime::Parcel::block(departure.data));
        if (outcome.accepted) {
            add(queues.send.acknowledged({header.message, header.index}));
        } else {
            SendQueue::Outcome refused =
                queues.send.refused(node_.id(), {header.message, header.index}, outcome.has_room, Time{});
            if (refused.again) rooms_.push_back({node_.id(), {1}});
            add(std::move(refused));
        }
        add(outcome);
    }

    Dispatcher& dispatcher_;
    Node& node_;
    runtime::Context& caller_;
    std::deque<Departure> departures_;
    std::deque<std::pair<ProcessId, RoomMessage>> rooms_;
};

/// A thread's messages by the queues of its process.
class Dispatcher::DispatcherCarrier final : public Carrier {
public:
    explicit DispatcherCarrier(Dispatcher& dispatcher)
        : dispatcher_(dispatcher),
          address_{dispatcher.node_.id(),
                   dispatcher.node_.state<runtime::Endpoints>().new_number(runtime::Endpoint::Late::error)} {
        queues().receive.open(thread());
    }
    ~DispatcherCarrier() override {
        if (!closed_) static_cast<void>(queues().receive.close(thread()));
    }
    DispatcherCarrier(const DispatcherCarrier&) = delete;
    DispatcherCarrier& operator=(const DispatcherCarrier&) = delete;

    runtime::Address address() const override { return address_; }

    void close(runtime::Worker& worker) override {
        closed_ = true;
        Round round(dispatcher_, worker);
        round.add(queues().receive.close(thread()));
        round.run();
    }

    std::shared_ptr<Left> start_send(runtime::Worker& worker, ThreadId to, Tag tag,
                                     runtime::Parcel data) override {
        const std::uint64_t size = data.size();
        expect_there(to);
        expect_fits(size);
        FragmentHeader header;
        header.source_thread = thread();
        header.target_thread = to.thread;
        header.tag = tag;
        header.size = size;
        header.sequence = sequences_[runtime::key_of(address_of(to))]++;
        auto left = std::make_shared<Left>();
        Round round(dispatcher_, worker);
        round.add(queues().send.put(to.process, header, data.take_body(), left));
        round.run();
        return left;
    }

    void send(runtime::Strand& strand, ThreadId to, Tag tag, runtime::Parcel data) override {
        const auto left = start_send(strand.worker(), to, tag, std::move(data));
        strand.wait(*left);
    }

    void begin_receive(runtime::Worker& worker, const From& from,
                       std::unique_ptr<Receive>& receive) override {
        auto one = std::make_unique<BegunReceive>(queues().receive);
        begin(worker, one->posted, from);
        one->begun = true;
        receive = std::move(one);
    }

    bool has_come(runtime::Worker& /*worker*/, Receive& receive) override {
        return queues().receive.has_come(static_cast<BegunReceive&>(receive).posted);
    }

    runtime::Incoming end_receive(runtime::Strand& strand, Receive& receive) override {
        return end(strand, static_cast<BegunReceive&>(receive).posted);
    }

    runtime::Incoming receive(runtime::Strand& strand, const From& from) override {
        BegunReceive receive(queues().receive);
        begin(strand.worker(), receive.posted, from);
        receive.begun = true;
        return end(strand, receive.posted);
    }

private:
    struct BegunReceive final : Receive {
        explicit BegunReceive(ReceiveQueue& its_queue) : queue(its_queue) {}
        ~BegunReceive() override {
            if (begun) queue.give_up(posted);
        }
        BegunReceive(const BegunReceive&) = delete;
        BegunReceive& operator=(const BegunReceive&) = delete;

        ReceiveQueue& queue;
        ReceiveQueue::Posted posted;
        bool begun = false;
    };

    Queues& queues() const { return dispatcher_.queues(); }
    std::uint32_t thread() const { return id_of(address_).thread; }

    void begin(runtime::Worker& worker, ReceiveQueue::Posted& posted, const From& from) {
        posted.filter = from;
        posted.thread = thread();
        Round round(dispatcher_, worker);
        round.add(queues().receive.begin(posted));
        round.run();
    }

    runtime::Incoming end(runtime::Strand& strand, ReceiveQueue::Posted& posted) {
        while (!queues().receive.await(posted)) strand.wait(posted);
        Arrival& message = *posted.message;
        if (message.parts.size() == 1) return {message.from, message.tag, std::move(message.parts.front())};
        const auto whole = std::make_shared<runtime::Bytes>();
        whole->reserve(message.size);
        for (const runtime::Parcel& part : message.parts) {
            const auto bytes = part.bytes();
            whole->insert(whole->end(), bytes.begin(), bytes.end());
        }
        return {message.from, message.tag, runtime::Parcel(runtime::Body(whole))};
    }

    void expect_there(ThreadId to) const {
        const NodeId processes = dispatcher_.node_.topology().nodes;
        if (to.process < processes) return;
        throw Error(fmt::format("a message for thread {} of process {}, and there are {} processes",
                                to.thread, to.process, processes),
                    "processes are numbered from 0");
    }

    void expect_fits(std::uint64_t size) const {
        const DispatcherSettings& settings = queues().settings;
        if (size <= settings.message_bytes_max()) return;
        throw Error(
            fmt::format("a message of {} bytes, and the dispatcher permits {}: {} fragments of {} bytes with "
                        "headers of {}",
                        size, settings.message_bytes_max(), settings.fragments, settings.fragment_bytes,
                        settings.header_bytes),
            "permit more or larger fragments, or send the message in parts", settings.where);
    }

    Dispatcher& dispatcher_;
    runtime::Address address_;
    bool closed_ = false;
    std::unordered_map<std::uint64_t, std::uint32_t> sequences_;  ///< of the next message, by receiver
};

// --- settings, threads

void Dispatcher::use(const DispatcherSettings& settings) {
    settings.check();
    queues_.emplace(node_.id(), settings);
}

Dispatcher::Queues& Dispatcher::queues() {
    if (!queues_) throw runtime::MalformedMessage("this process has no dispatcher");
    return *queues_;
}

std::unique_ptr<Carrier> Dispatcher::carrier() {
    return std::make_unique<DispatcherCarrier>(*this);
}

std::unique_ptr<Carrier> make_carrier(Node& node) {
    auto& dispatcher = node.state<Dispatcher>();
    if (dispatcher.used()) return dispatcher.carrier();
    return std::make_unique<EndpointCarrier>(node);
}

void Dispatcher::report(runtime::NodeReport& report) const {
    if (!queues_) return;
    const auto add = [&](const char* name, std::uint64_t value, runtime::AnswerValue::Combine combine) {
        report.answer.push_back({name, static_cast<double>(value), combine});
    };
    add("fragments", queues_->send.fragments(), runtime::AnswerValue::Combine::sum);
    add("refused_fragments", queues_->receive.refused(), runtime::AnswerValue::Combine::sum);
    add("control_blocks_used", queues_->receive.blocks_used_max(), runtime::AnswerValue::Combine::max);
}

// --- messages between dispatchers

void Dispatcher::post(runtime::Context& caller, const Departure& departure) {
    const DispatcherSettings& settings = queues_->settings;
    const std::uint64_t begin = departure.header.index * settings.data_bytes();
    const std::uint64_t bytes = std::min(settings.data_bytes(), departure.header.size - begin);
    Block fragment = departure.data;
    if (bytes != departure.header.size) {  // section 4.2: into a buffer
        const auto from = departure.data->begin() + static_cast<std::ptrdiff_t>(begin);
        fragment = std::make_shared<runtime::Bytes>(from, from + static_cast<std::ptrdiff_t>(bytes));
    }
    node_.outbox_of(caller).post(departure.to, fragment_handler, runtime::bytes_of(departure.header),
                                 {std::move(fragment), settings.header_bytes - sizeof(FragmentHeader)});
}

void Dispatcher::on_fragment(ProcessId from, const FragmentHeader& header, runtime::Parcel data) {
    if (header.size > queues().settings.message_bytes_max())
        throw runtime::MalformedMessage("its message is larger than the dispatcher permits");
    const FragmentId fragment(header.message, header.index);
    const ReceiveQueue::Outcome outcome = queues().receive.admit(from, header, std::move(data));
    if (outcome.accepted) {
        node_.receiver_outbox().post(from, acknowledged_handler, runtime::bytes_of(fragment),
                                     runtime::Outbox::Urgency::gathered);
    } else {
        node_.receiver_outbox().post(from, refused_handler,
                                     runtime::bytes_of(RefusedMessage{fragment, outcome.has_room}));
    }
    Round round(*this, node_.receiver());
    round.add(outcome);
    round.run();
}

void Dispatcher::on_acknowledged(FragmentId fragment) {
    Round round(*this, node_.receiver());
    round.add(queues().send.acknowledged(fragment));
    round.run();
}

void Dispatcher::on_refused(ProcessId from, FragmentId fragment, bool has_room) {
    SendQueue::Outcome outcome =
        queues().send.refused(from, fragment, has_room, node_.backend().now(node_.receiver()));
    const bool again = outcome.again;
    Round round(*this, node_.receiver());
    round.add(std::move(outcome));
    round.run();
    if (again) on_room(from, {1});
}

void Dispatcher::make_use_of(runtime::Context& caller, ProcessId of, const RoomMessage& room) {
    Round round(*this, caller);
    round.use(of, room);
    round.run();
}

/// Section 4.2: what was refused is sent again after a while.
void Dispatcher::on_room(ProcessId from, const RoomMessage& message) {
    const Time then = queues().send.retry_at(from);
    if (then <= node_.backend().now(node_.receiver())) return make_use_of(node_.receiver(), from, message);
    const auto later = [this, from, message, then](runtime::Strand& strand) {
        runtime::sleep_until(strand, then);
        make_use_of(strand.worker(), from, message);
    };
    runtime::Strand::start(node_, node_.receiver(), later,
                           {.name = "a fragment that is sent again", .task = false});
}

void Dispatcher::on_relieved(ProcessId from, const RelievedMessage& message) {
    Round round(*this, node_.receiver());
    round.add(queues().receive.relieved(from, message));
    round.run();
}

}  // namespace heddle::messaging
