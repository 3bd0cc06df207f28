// Micro-benchmarks of what execution models add to the scheduler's operations: closures of dataflow, and
// messages between threads.
#include "calibration/probe.hpp"
#include "model/dataflow.hpp"
#include "model/messaging.hpp"

namespace heddle::calibration {

namespace {

using Count = std::uint32_t;

// --- closures

void sum(dataflow::Thread& /*self*/, dataflow::shared_r<Count> left, dataflow::shared_r<Count> right,
         dataflow::shared_w<Count> both) {
    both = left + right;
}

/// A tree of closures as recursion makes them: of each call two closures that call, and one that adds.
void grow(dataflow::Thread& self, Count height, dataflow::shared_w<Count> leaves) {
    if (height < 2) {
        leaves = 1;
        return;
    }
    dataflow::shared<Count> left(self), right(self);
    self.fork<grow>(height - 1, left);
    self.fork<grow>(height - 2, right);
    self.fork<sum>(left, right, leaves);
}

class ClosureProgram final : public dataflow::DataflowProgram {
public:
    explicit ClosureProgram(const Effort& effort) : effort_(effort) {}

    void main(dataflow::Thread& self) override {
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i)
            for (const std::uint64_t about : {1000, 20'000}) read_tree(self, effort_.operations(about));
    }
    runtime::Answer answer() const override { return {}; }
    runtime::Bytes evidence() const override { return to_bytes(readings_); }

private:
    void read_tree(dataflow::Thread& self, std::uint64_t closures_about) {
        Count before = 1, leaves = 1, height = 1;
        for (; std::uint64_t{3} * leaves <= closures_about; ++height)
            before = std::exchange(leaves, leaves + before);
        dataflow::shared<Count> all(self);
        settle(self.worker());
        const Time begin = self.worker().backend->now(self.worker());
        self.fork<grow>(height, all);
        self.sync();
        settle(self.worker());
        const double seconds = to_seconds(self.worker().backend->now(self.worker()) - begin);
        readings_.push_back({"closure", 0, static_cast<double>(3 * leaves - 2), seconds});
    }

    const Effort effort_;
    Readings readings_;
};

// --- threads that send messages

void answer_all(messaging::Thread& self, std::uint64_t messages);

/// Two threads of a worker send a message to and fro: each waits in turn.
class ThreadProgram final : public messaging::MessagingProgram {
public:
    explicit ThreadProgram(const Effort& effort) : effort_(effort) {}

    void main(messaging::Thread& self) override {
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i)
            for (const std::uint64_t about : {100, 2000}) read_exchange(self, effort_.operations(about));
    }
    runtime::Answer answer() const override { return {}; }
    runtime::Bytes evidence() const override { return to_bytes(readings_); }

    // Of no bytes: copies would be paid for besides.
    static void send(messaging::Thread& self, messaging::ThreadId to) {
        const std::byte nothing{};
        messaging::Handle handle = self.send_copy(to, 0, &nothing, 0);
        self.test_handle(handle, messaging::Mode::blocking);
    }
    static messaging::ThreadId receive(messaging::Thread& self) {
        std::byte nothing{};
        messaging::Actual actual;
        messaging::Handle handle = self.recv_copy({}, &nothing, 0, &actual);
        self.test_handle(handle, messaging::Mode::blocking);
        return actual.from;
    }

private:
    void read_exchange(messaging::Thread& self, std::uint64_t rounds) {
        const messaging::ThreadId other = self.create<answer_all>(self.process(), rounds + 1);
        const auto exchange = [&] {
            send(self, other);
            receive(self);
        };
        exchange();  // which starts the other
        settle(self.worker());
        const Time begin = self.worker().backend->now(self.worker());
        for (std::uint64_t i = 0; i < rounds; ++i) exchange();
        settle(self.worker());
        const double seconds = to_seconds(self.worker().backend->now(self.worker()) - begin);
        readings_.push_back({"thread_message", 0, static_cast<double>(2 * rounds), seconds});
    }

    const Effort effort_;
    Readings readings_;
};

void answer_all(messaging::Thread& self, std::uint64_t messages) {
    for (std::uint64_t i = 0; i < messages; ++i) ThreadProgram::send(self, ThreadProgram::receive(self));
}

template <class Made>
Probe alone(std::string name, std::string what, const Effort& effort) {
    Probe probe{std::move(name), std::move(what), 1, 1, quiet_schedule(), [effort](NodeId) {
                    return std::make_unique<Made>(effort);
                }};
    return probe;
}

}  // namespace

Probe closure_probe(const Effort& effort) {
    return alone<ClosureProgram>("closures", "closures of dataflow", effort);
}

Probe thread_message_probe(const Effort& effort) {
    return alone<ThreadProgram>("threads", "messages between threads", effort);
}

}  // namespace heddle::calibration
