// The micro-benchmark of a strand that waits for a message while its worker receives for it: the time from
// the end of the message's handler to the strand's next instruction.
#include <algorithm>

#include "calibration/probe.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::calibration {

namespace {

using runtime::Node;
using runtime::Worker;

/// A strand of node 0 asks node 1 for an answer. It begins to wait shortly before the answer comes, because a
/// worker receives for a strand for some microseconds only.
class ReceivingProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(Worker& worker) override {
        if (worker.id != WorkerId{0, 0} || !worker.node().topology().receives) return;
        runtime::Strand::start(worker, [this](runtime::Strand& self) {
            double trip = 0;
            for (std::uint32_t i = 0; i <= effort_.repetitions; ++i) trip = ask(self, trip);
        });
    }
    void reply(Node& node, NodeId from) {
        if (node.id() != 0) return node.receiver_outbox().post(from, handler, runtime::bytes_of(NodeId{}));
        came_ = seconds_now(node.receiver());
        answered_.complete(node, node.receiver());
    }

private:
    static constexpr double waits_about = 4e-6;
    static const runtime::Handler handler;

    /// `trip`: how long an answer takes, 0 if that is not known. Returns how long this one took.
    double ask(runtime::Strand& self, double trip) {
        Worker& worker = self.worker();
        answered_.reset();
        settle(worker);
        const double begin = seconds_now(worker);
        worker.outbox().post(1, handler, runtime::bytes_of(NodeId{}));
        const double work = std::max(0.0, trip - waits_about) * worker.node().topology().core_speed;
        worker.compute({work, 0}, {});
        const bool waits = !answered_.done();
        self.wait(answered_);
        const double end = seconds_now(worker);
        if (waits && trip > 0) add({"strand_receives", 0, 1, end - came_});
        return came_ - begin;
    }

    runtime::Event answered_;
    double came_ = 0;
};

const runtime::Handler ReceivingProgram::handler(
    "calibration.answer", runtime::Handler::Kind::work,
    [](Node& node, NodeId from, auto) { static_cast<ReceivingProgram&>(node.program()).reply(node, from); });

}  // namespace

// Node 1's worker does not sleep either.
Probe receiving_probe(const Effort& effort) {
    Probe probe{
        "receiving", "a strand for which its worker receives", 2, 1, quiet_schedule(), [effort](NodeId) {
            return std::make_unique<ReceivingProgram>(effort);
        }};
    probe.schedule.spin = never_sleeps;
    return probe;
}

}  // namespace heddle::calibration
