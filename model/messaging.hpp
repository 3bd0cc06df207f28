// Thread-to-thread messaging: threads that talk by identifiers and names, wherever they are (Alves, Pina,
// Exposto, Rufino: "Scalable multithreading in a low latency Myrinet cluster", the pCoR runtime system). What
// programs include.
//
//     void echo(Thread& self, int rounds) {
//         self.publish("echo");
//         Actual actual;
//         for (int i = 0; i < rounds; ++i) {
//             const int value = self.receive<int>({}, &actual);
//             self.send(actual.from, actual.tag, value);
//         }
//     }
//
//     self.create<echo>(1, 10);                 // a thread of process 1
//     const ThreadId to = self.find("echo");    // waits until it has published its name
//     self.send(to, 3, 42);
#pragma once

#include <optional>

#include "model/messaging/dispatcher.hpp"
#include "model/messaging/resources.hpp"
#include "model/messaging/thread.hpp"
#include "model/messaging/threads.hpp"
#include "runtime/run/program.hpp"

namespace heddle::messaging {

/// A program whose main thread runs in process 0. The run ends when all threads have ended.
class MessagingProgram : public runtime::Program {
public:
    virtual void main(Thread& self) = 0;

    /// How dispatchers carry messages. None: endpoints of the core do.
    virtual std::optional<DispatcherSettings> dispatcher() const { return std::nullopt; }

    void set_up(runtime::Node& node) override {
        if (const auto settings = dispatcher()) node.state<Dispatcher>().use(*settings);
    }

    void begin(runtime::Worker& worker) override {
        if (worker.id != WorkerId{0, 0}) return worker.begins_nothing();
        Threads::start(worker.node(), worker, "main", [this](Thread& self) { main(self); });
    }
};

}  // namespace heddle::messaging
