// Micro-benchmarks of messages between nodes, in the terms of LogGP (Alexandrov, Ionescu, Schauser, Scheiman:
// "LogGP", SPAA 1995). They measure round trips by size, the sender's overhead, and the time that the
// receiver's cores lose (Culler, Liu, Martin, Yoshikawa: "Assessing fast network interfaces", IEEE Micro
// 1996).
#include <algorithm>
#include <map>

#include "calibration/probe.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::calibration {

namespace {

using runtime::Body;
using runtime::Bytes;
using runtime::Node;
using runtime::Outbox;
using runtime::Worker;

/// A message of some size: the small ones in one piece, the large ones with a body.
class Letter {
public:
    explicit Letter(std::uint64_t bytes) {
        if (bytes >= Outbox::body_bytes_min) body_ = std::make_shared<Bytes>(bytes, std::byte{1});
        text_.resize(body_ ? smallest : std::max<std::uint64_t>(bytes, smallest), std::byte{2});
    }

    void post(Outbox& outbox, NodeId to, const runtime::Handler& handler, std::uint64_t number) {
        std::memcpy(text_.data(), &number, sizeof number);
        if (body_) return outbox.post(to, handler, text_, runtime::Enclosure{body_});
        outbox.post(to, handler, std::span<const std::byte>(text_));
    }
    /// All that travels.
    double wire_bytes() const {
        return static_cast<double>(sizeof(runtime::RecordHeader) + text_.size() +
                                   (body_ ? body_->size() : 0));
    }

    static std::uint64_t number_in(std::span<const std::byte> message) {
        std::uint64_t number = 0;
        std::memcpy(&number, message.data(), std::min(sizeof number, message.size()));
        return number;
    }

private:
    static constexpr std::uint64_t smallest = sizeof(std::uint64_t);
    Bytes text_;
    Body body_;
};

/// So many messages of a size as are read quickly.
std::uint64_t messages_of(const Effort& effort, std::uint64_t few, std::uint64_t bytes) {
    return std::max<std::uint64_t>(2,
                                   std::min(effort.operations(few), (std::uint64_t{8} << 20) / (bytes + 1)));
}

// --- round trips

class RoundTripProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(Worker& worker) override;
    void bounce(Node& node, NodeId from, std::span<const std::byte> message);

private:
    static constexpr double reading_seconds_max = 0.05;

    std::uint64_t left_ = 0;
    double end_ = 0;  ///< when the last answer came: how long its worker takes to wake is no part of it
    Letter letter_{8};
    Gate gate_;
    /// Written after what is above: a handler that has read it sees that.
    std::atomic<std::uint64_t> step_{0};
};

const runtime::Handler bounce_handler(
    "calibration.bounce", runtime::Handler::Kind::work, [](Node& node, NodeId from, auto message) {
        static_cast<RoundTripProgram&>(node.program()).bounce(node, from, message);
    });

void RoundTripProgram::bounce(Node& node, NodeId from, std::span<const std::byte> message) {
    if (node.id() != 0) {
        const Body body = node.take_body();
        if (body) return node.receiver_outbox().post(from, bounce_handler, message, runtime::Enclosure{body});
        return node.receiver_outbox().post(from, bounce_handler, message);
    }
    const std::uint64_t step = step_.load(std::memory_order_acquire);
    if (--left_ == 0) {
        end_ = seconds_now(node.receiver());
        return gate_.open(node.receiver(), step, 0);
    }
    letter_.post(node.receiver_outbox(), from, bounce_handler, left_);
}

void RoundTripProgram::begin(Worker& worker) {
    if (worker.id != WorkerId{0, 0}) return;
    const auto trips = [&](std::uint64_t count) {
        left_ = count;
        const std::uint64_t step = step_.fetch_add(1, std::memory_order_acq_rel) + 1;
        settle(worker);
        const double begin = seconds_now(worker);
        letter_.post(worker.outbox(), 1, bounce_handler, count);
        gate_.wait_for(worker, step);
        return end_ - begin;
    };
    std::map<std::uint64_t, std::uint64_t> counts;  // by size: readings of one size are comparable
    for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
        // As long as a worker sleeps that waits for one answer.
        letter_ = Letter(8);
        (void)trips(1);
        add({"message_wake", 0, 1, seconds_now(worker) - end_});
        for (std::uint64_t bytes = 8;;) {
            letter_ = Letter(bytes);
            // First two, so that no receiver sleeps. Where a message takes milliseconds a few say enough.
            const auto in_time = static_cast<std::uint64_t>(reading_seconds_max / (trips(2) / 2 + 1e-9));
            const std::uint64_t count =
                counts
                    .try_emplace(bytes,
                                 std::clamp<std::uint64_t>(in_time, 2, messages_of(effort_, 50, bytes)))
                    .first->second;
            add({"round_trip", letter_.wire_bytes(), static_cast<double>(count), trips(count)});
            if (bytes == effort_.message_bytes) break;
            bytes = std::min(4 * bytes, effort_.message_bytes);
        }
    }
}

// --- what the sender pays

/// Worker 0 of node 0 sends a burst. Node 1 says when all of it has come.
class SendProgram final : public ProbeProgram {
public:
    SendProgram(const Effort& effort, std::string quantity)
        : ProbeProgram(effort), quantity_(std::move(quantity)) {}

    void begin(Worker& worker) override;
    void receive(Node& node, NodeId from, std::uint64_t left);

private:
    std::string quantity_;
    Gate gate_;
    std::atomic<std::uint64_t> step_{0};
};

const runtime::Handler burst_handler(
    "calibration.burst", runtime::Handler::Kind::work, [](Node& node, NodeId from, auto message) {
        static_cast<SendProgram&>(node.program()).receive(node, from, Letter::number_in(message));
    });

void SendProgram::receive(Node& node, NodeId from, std::uint64_t left) {
    if (node.id() == 0) return gate_.open(node.receiver(), step_, 0);
    if (left == 0) Letter(8).post(node.receiver_outbox(), from, burst_handler, 0);
}

void SendProgram::begin(Worker& worker) {
    if (worker.id != WorkerId{0, 0}) return;
    for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
        for (const std::uint64_t bytes : {8ULL, 1ULL << 10, 16ULL << 10, 64ULL << 10}) {
            Letter letter(bytes);
            const std::uint64_t few = messages_of(effort_, 4, 4 * bytes);
            for (const std::uint64_t count : {few, messages_of(effort_, 100, 4 * bytes) + few}) {
                ++step_;
                settle(worker);
                const double begin = seconds_now(worker);
                for (std::uint64_t left = count; left > 0; --left)
                    letter.post(worker.outbox(), 1, burst_handler, left - 1);
                settle(worker);
                add({quantity_, letter.wire_bytes(), static_cast<double>(count),
                     seconds_now(worker) - begin});
                gate_.wait_for(worker, step_);
            }
        }
    }
}

// --- what the receiver's core loses

/// Node 1 computes while messages come to it, which node 0 sends when it is asked.
class ReceiveProgram final : public ProbeProgram {
public:
    ReceiveProgram(const Effort& effort, NodeId nodes)
        : ProbeProgram(effort), quantity_(nodes == 2 ? "receive" : "receive_of_three") {}

    void begin(Worker& worker) override;
    void ask(Node& node, NodeId from, std::span<const std::byte> message);
    void receive(Node& node);

private:
    struct Asked {
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
    };
    /// Returns how long it took until all had come.
    double request(Worker& worker, const Asked& asked);
    /// Keeps the core busy without declared work: a receiver that finds the workers of its node computing
    /// would sleep between messages, and waking it is no part of these readings.
    void be_busy(Worker& worker, std::uint64_t loops) {
        constexpr std::uint64_t piece = 500;
        const Time of_piece = from_seconds(20.0 * piece / worker.node().topology().core_speed);
        volatile double value = 1;
        for (std::uint64_t k = 0; k < loops; ++k) {
            value = value * 1.0000001;
            if (k % piece == 0) worker.charge(of_piece);
        }
    }
    double seconds_of(Worker& worker, std::uint64_t loops) {
        const double begin = seconds_now(worker);
        be_busy(worker, loops);
        return seconds_now(worker) - begin;
    }

    std::string quantity_;
    std::atomic<std::uint64_t> left_{0};
    Gate gate_;
    std::atomic<std::uint64_t> step_{0};
};

const runtime::Handler ask_handler("calibration.ask", runtime::Handler::Kind::work,
                                   [](Node& node, NodeId from, auto message) {
                                       static_cast<ReceiveProgram&>(node.program()).ask(node, from, message);
                                   });
const runtime::Handler load_handler("calibration.load", runtime::Handler::Kind::work,
                                    [](Node& node, NodeId, auto) {
                                        static_cast<ReceiveProgram&>(node.program()).receive(node);
                                    });

void ReceiveProgram::ask(Node& node, NodeId from, std::span<const std::byte> message) {
    const auto asked = runtime::value_in<Asked>(message);
    Letter letter(asked.bytes);
    for (std::uint64_t i = 0; i < asked.count; ++i)
        letter.post(node.receiver_outbox(), from, load_handler, i);
}

void ReceiveProgram::receive(Node& node) {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) gate_.open(node.receiver(), step_, 0);
}

double ReceiveProgram::request(Worker& worker, const Asked& asked) {
    left_.store(asked.count, std::memory_order_release);
    ++step_;
    const double begin = seconds_now(worker);
    worker.outbox().post(0, ask_handler, runtime::bytes_of(asked));
    return begin;
}

void ReceiveProgram::begin(Worker& worker) {
    if (worker.id != WorkerId{1, 0}) return;
    constexpr std::uint64_t trial = 10'000;
    constexpr double waking = 500e-6;  // of both nodes' receivers, which sleep meanwhile
    (void)seconds_of(worker, trial);
    const double of_one = seconds_of(worker, trial) / trial;
    for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
        for (const std::uint64_t bytes : {8ULL, 1ULL << 10, 16ULL << 10, 64ULL << 10}) {
            const std::uint64_t few = messages_of(effort_, 10, 4 * bytes);
            const std::uint64_t many = messages_of(effort_, 500, 4 * bytes) + few;
            // How long all of them take at most, where nothing disturbs them.
            const double begin = request(worker, {many, bytes});
            gate_.wait_for(worker, step_);
            const double alone = seconds_now(worker) - begin;
            const auto loops = static_cast<std::uint64_t>((2 * alone + waking) / of_one) + 1;
            for (const std::uint64_t count : {few, many}) {
                settle(worker);
                const double from = request(worker, {count, bytes});
                be_busy(worker, loops);
                settle(worker);
                add({quantity_, Letter(bytes).wire_bytes(), static_cast<double>(count),
                     seconds_now(worker) - from});
                gate_.wait_for(worker, step_);
            }
        }
    }
}

// --- a receiver that sleeps

/// Node 1 computes while messages come to it one by one, after pauses in which its receiver falls asleep.
/// Node 0's worker sends them, and works meanwhile.
class AsleepProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(Worker& worker) override {
        if (worker.id == WorkerId{0, 0}) return send_all(worker);
        if (worker.id != WorkerId{1, 0}) return;
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
            const std::uint64_t few = 2 + effort_.operations(4);
            for (const std::uint64_t count : {few, few + effort_.operations(20)}) read_loss(worker, count);
        }
        worker.outbox().post(0, order_handler, runtime::bytes_of(over));
    }
    void order(Node& node, std::uint64_t count) {
        ordered_.store(count, std::memory_order_release);
        gate_.open(node.receiver(), ++step_, 0);
    }
    void receive(Node& node) {
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) gate_.open(node.receiver(), step_, 0);
    }

private:
    static constexpr std::uint64_t over = 0;
    static constexpr double pause = 100e-6;
    static constexpr std::size_t letter_bytes = 8;

    static void work(Worker& worker, double seconds) {
        worker.compute({seconds * worker.node().topology().core_speed, 0}, {});
    }
    static const runtime::Handler order_handler;
    static const runtime::Handler arrived_handler;

    void read_loss(Worker& worker, std::uint64_t count) {
        left_.store(count, std::memory_order_release);
        ++step_;
        // The same for both counts, and enough for the larger one where nothing disturbs it.
        const double longest =
            3 * pause * static_cast<double>(4 + effort_.operations(4) + effort_.operations(20));
        settle(worker);
        const double begin = seconds_now(worker);
        worker.outbox().post(0, order_handler, runtime::bytes_of(count));
        work(worker, longest);
        settle(worker);
        add({"receive_asleep", Letter(letter_bytes).wire_bytes(), static_cast<double>(count),
             seconds_now(worker) - begin});
        gate_.wait_for(worker, step_);
    }
    void send_all(Worker& worker) {
        Letter letter(letter_bytes);
        for (std::uint64_t step = 1;; ++step) {
            gate_.wait_for(worker, step);
            const std::uint64_t count = ordered_.load(std::memory_order_acquire);
            if (count == over) return;
            double seconds = 0;
            for (std::uint64_t i = 0; i < count; ++i) {
                work(worker, pause);
                settle(worker);
                const double begin = seconds_now(worker);
                letter.post(worker.outbox(), 1, arrived_handler, i);
                settle(worker);
                seconds += seconds_now(worker) - begin;
            }
            add({"send_asleep", letter.wire_bytes(), static_cast<double>(count), seconds});
        }
    }

    std::atomic<std::uint64_t> left_{0}, ordered_{0};
    Gate gate_;
    std::atomic<std::uint64_t> step_{0};
};

const runtime::Handler AsleepProgram::order_handler(
    "calibration.order", runtime::Handler::Kind::work, [](Node& node, NodeId, auto message) {
        static_cast<AsleepProgram&>(node.program()).order(node, Letter::number_in(message));
    });
const runtime::Handler AsleepProgram::arrived_handler(
    "calibration.arrived", runtime::Handler::Kind::work,
    [](Node& node, NodeId, auto) { static_cast<AsleepProgram&>(node.program()).receive(node); });

template <class Made, class... More>
Probe between(std::string name, std::string what, NodeId nodes, CoreId cores, const Effort& effort,
              More... more) {
    return {std::move(name), std::move(what), nodes, cores, quiet_schedule(), [effort, more...](NodeId) {
                return std::make_unique<Made>(effort, more...);
            }};
}

}  // namespace

// The worker that waits for one answer does not sleep.
Probe round_trip_probe(const Effort& effort) {
    Probe probe =
        between<RoundTripProgram>("round trips", "round trips between two nodes, by size", 2, 1, effort);
    probe.schedule.spin = never_sleeps;
    return probe;
}

// The second core is idle, and the sender module uses it.
Probe enqueue_probe(const Effort& effort) {
    return between<SendProgram>("enqueue", "handing messages to the sender module", 2, 2, effort,
                                std::string("enqueue"));
}

Probe send_probe(const Effort& effort) {
    Probe probe = between<SendProgram>("send", "sending messages", 2, 1, effort, std::string("send"));
    probe.schedule.modules = runtime::Modules::worker;
    return probe;
}

Probe asleep_probe(const Effort& effort) {
    return between<AsleepProgram>("asleep", "messages to a receiver that sleeps", 2, 1, effort);
}

Probe receive_probe(const Effort& effort, NodeId nodes) {
    return between<ReceiveProgram>(
        nodes == 2 ? "receive" : "receive of three",
        nodes == 2 ? "what messages take from a core that computes" : "what a third node adds to that", nodes,
        1, effort, nodes);
}

}  // namespace heddle::calibration
