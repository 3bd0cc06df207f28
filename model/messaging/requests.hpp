// Sends requests from one process to another: a thread asks, and waits for the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "model/messaging/thread_id.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::messaging {

/// The process where that name is kept: the same wherever it is asked. Process 0 where nodes may join and
/// leave.
ProcessId home_of_name(const std::string& name, const runtime::Topology& topology);

/// What waits for an answer: a request of a process.
struct Asker {
    ProcessId process;
    std::uint64_t request;
};

/// Those of one process that are not answered.
class Requests final : public runtime::State<runtime::Node> {
public:
    /// What becomes of the answer. In the handler that it has come to, so before any message that comes
    /// later.
    using Take = std::function<void(runtime::Reader& answer)>;

    explicit Requests(runtime::Node& node) : node_(node) {}

    /// Sends the request to `to`'s handler, and waits for the answer. `what`: for a message about the thread.
    void ask(runtime::Strand& strand, ProcessId to, const runtime::Handler& handler, runtime::Writer request,
             std::string what, Take take);

    /// In the handler of a request. Throws MalformedMessage unless `read(asker, request)` has read all of it.
    template <class Read>
    static void receive(runtime::Node& node, ProcessId from, std::span<const std::byte> message,
                        const Read& read) {
        runtime::Reader head(message);
        const auto number = head.get<std::uint64_t>();
        head.check();
        const runtime::Body large = node.take_body();
        runtime::Reader request(large ? std::span<const std::byte>(*large) : head.get_rest());
        read(Asker{from, number}, request);
        if (!request.done()) throw runtime::MalformedMessage("the request cannot be read");
    }

    /// In a handler, now or later.
    static void answer(runtime::Node& node, const Asker& asker, const runtime::Writer& answer);

    void on_answer(std::uint64_t request, runtime::Reader& answer);

private:
    struct Question final : runtime::Event {
        std::string what() const override { return text; }

        std::string text;
        Take take;
    };

    runtime::Node& node_;
    runtime::SpinLock lock_;  ///< over what follows
    std::unordered_map<std::uint64_t, Question*> questions_;
    std::uint64_t next_ = 1;
};

}  // namespace heddle::messaging
