// Measures what strands, Heddle's user-level threads, cost. Usage:
//
//     heddle_strands OPERATION COUNT
//     OPERATION: switch|create|event|workers|barrier|channel|memory|messages|in_order|in_reverse
//
// `create` is a strand that starts, runs and ends. `event` and `workers` are round trips of two strands that
// wait for each other's events, on one worker or pinned to two. `barrier` is one of two strands on two
// workers. Prints nanoseconds of an operation; for `memory`, the resident bytes of a strand that waits.
#include <string>
#include <vector>

#include "bench/native/outcome.hpp"
#include "runtime/comm/channel.hpp"
#include "runtime/comm/endpoint.hpp"
#include "runtime/comm/team.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/strands/strands.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using runtime::Channel;
using runtime::Endpoint;
using runtime::Event;
using runtime::Parcel;
using runtime::Strand;
using runtime::Worker;

double begin_time = 0;
double end_time = 0;

void switch_to_and_fro(Worker& worker, std::uint64_t count) {
    begin_time = seconds_now();
    for (int i = 0; i < 2; ++i) {
        Strand::start(worker, [count](Strand& self) {
            for (std::uint64_t n = 0; n < count / 2; ++n) self.yield();
            end_time = seconds_now();
        });
    }
}

/// A thousand at a time, so that few stacks are in use.
void start_and_end(Worker& worker, std::uint64_t count) {
    begin_time = seconds_now();
    Strand::start(worker, [count](Strand& self) {
        for (std::uint64_t made = 0; made < count; made += 1000) {
            for (int i = 0; i < 1000; ++i) Strand::start(self.worker(), [](Strand&) {});
            self.yield();
        }
        end_time = seconds_now();
    });
}

struct PingPong {
    Event ping;
    Event pong;
};

void wait_for_each_other(Worker& worker, std::uint64_t count, PingPong& events, CoreId other) {
    const Strand::Options first{"ping", 0};
    const Strand::Options second{"pong", other};
    begin_time = seconds_now();
    Strand::start(
        worker,
        [&events, count](Strand& self) {
            for (std::uint64_t n = 0; n < count; ++n) {
                events.ping.complete(self.worker().node(), self.worker());
                self.wait(events.pong);
                events.pong.reset();
            }
            end_time = seconds_now();
        },
        first);
    Strand::start(
        worker,
        [&events, count](Strand& self) {
            for (std::uint64_t n = 0; n < count; ++n) {
                self.wait(events.ping);
                events.ping.reset();
                events.pong.complete(self.worker().node(), self.worker());
            }
        },
        second);
}

double resident_bytes() {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    unsigned long size = 0;
    unsigned long pages = 0;
    if (file) {
        if (std::fscanf(file, "%lu %lu", &size, &pages) != 2) pages = 0;
        std::fclose(file);
    }
    return static_cast<double>(pages) * 4096;
}

double all_wait(Worker& worker, std::uint64_t count, Event& event) {
    const double before = resident_bytes();
    for (std::uint64_t n = 0; n < count; ++n)
        Strand::start(worker, [&event](Strand& self) { self.wait(event); });
    static double after = 0;
    Strand::start(worker, [&event](Strand& self) {
        after = resident_bytes();
        event.complete(self.worker().node(), self.worker());
    });
    Event never_waited;
    Strand::start(worker, [&never_waited](Strand& self) {
        never_waited.complete(self.worker().node(), self.worker());
    });
    worker.wait(worker.base(), never_waited);
    return (after - before) / static_cast<double>(count);
}

/// Round trips over two channels.
void pass_to_and_fro(Worker& worker, std::uint64_t count) {
    auto ping = std::make_shared<Channel<std::uint64_t>>(1);
    auto pong = std::make_shared<Channel<std::uint64_t>>(1);
    begin_time = seconds_now();
    Strand::start(worker, [=](Strand& self) {
        for (std::uint64_t n = 0; n < count; ++n) {
            ping->send(self, n);
            pong->receive(self);
        }
        end_time = seconds_now();
    });
    Strand::start(worker, [=](Strand& self) {
        for (std::uint64_t n = 0; n < count; ++n) pong->send(self, ping->receive(self));
    });
}

/// Round trips of 8 bytes between two endpoints.
void talk(Worker& worker, std::uint64_t count) {
    begin_time = seconds_now();
    Strand::start(worker, [count](Strand& self) {
        Endpoint endpoint(self.worker().node(), 1);
        for (std::uint64_t n = 0; n < count; ++n) {
            endpoint.send(self, {0, 2}, n, Parcel(runtime::bytes_of(n)));
            endpoint.receive(self, {.tag = n});
        }
        end_time = seconds_now();
    });
    Strand::start(worker, [count](Strand& self) {
        Endpoint endpoint(self.worker().node(), 2);
        for (std::uint64_t n = 0; n < count; ++n) {
            const auto message = endpoint.receive(self);
            endpoint.send(self, message.from, message.tag, Parcel(message.data.bytes()));
        }
    });
}

/// A team of two strands, one on each worker.
void meet(Worker& worker, std::uint64_t count) {
    const auto team = std::make_shared<runtime::Team>(worker.node(), 1, 2);
    for (const CoreId core : {0, 1}) {
        Strand::start(worker,
                      [team, count](Strand& self) {
                          team->barrier(self);
                          if (self.pinned_to() == 0) begin_time = seconds_now();
                          for (std::uint64_t n = 0; n < count; ++n) team->barrier(self);
                          if (self.pinned_to() == 0) end_time = seconds_now();
                      },
                      {"a member", core});
    }
}

/// As many messages with tags of their own are pending, and taken in one order or the other.
void take_pending(Worker& worker, std::uint64_t count, bool reverse) {
    Strand::start(worker, [count, reverse](Strand& self) {
        Endpoint endpoint(self.worker().node(), 1, 1U << 30);
        for (std::uint64_t n = 0; n < count; ++n)
            endpoint.send(self, {0, 1}, n, Parcel(runtime::bytes_of(n)));
        begin_time = seconds_now();
        for (std::uint64_t n = 0; n < count; ++n)
            endpoint.receive(self, {.tag = reverse ? count - 1 - n : n});
        end_time = seconds_now();
    });
}

class Bench final : public runtime::Program {
public:
    Bench(std::string what, std::uint64_t count) : what_(std::move(what)), count_(count) {}

    void begin(Worker& worker) override {
        if (worker.id != WorkerId{0, 0}) return;
        if (what_ == "switch") switch_to_and_fro(worker, count_);
        if (what_ == "create") start_and_end(worker, count_);
        if (what_ == "event") wait_for_each_other(worker, count_, events_, 0);
        if (what_ == "workers") wait_for_each_other(worker, count_, events_, 1);
        if (what_ == "barrier") meet(worker, count_);
        if (what_ == "channel") pass_to_and_fro(worker, count_);
        if (what_ == "messages") talk(worker, count_);
        if (what_ == "in_order" || what_ == "in_reverse") take_pending(worker, count_, what_ == "in_reverse");
        if (what_ == "memory") bytes = all_wait(worker, count_, events_.ping);
    }
    runtime::Answer answer() const override { return {}; }

    static double bytes;

private:
    std::string what_;
    std::uint64_t count_;
    PingPong events_;
};

double Bench::bytes = 0;

}  // namespace

int main(int count, char** words) {
    if (count != 3) return 2;
    const std::string what = words[1];
    const std::uint64_t times = std::stoull(words[2]);
    native::NativeOptions options;
    options.cores = what == "workers" || what == "barrier" ? 2 : 1;
    native::NativeBackend backend(options);
    runtime::Execution execution(backend, {}, [&](NodeId) { return std::make_unique<Bench>(what, times); });
    (void)execution.run();
    if (what == "memory") {
        Outcome().add("bytes", Bench::bytes).print();
    } else {
        Outcome().add("ns", (end_time - begin_time) * 1e9 / static_cast<double>(times)).print();
    }
    return 0;
}
