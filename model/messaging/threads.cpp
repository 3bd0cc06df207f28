// Threads of this process, and requests for threads of others.
#include "model/messaging/threads.hpp"

#include <fmt/format.h>

#include <memory>
#include <unordered_map>

#include "base/error.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::messaging {

namespace {

using runtime::Reader;
using runtime::SpinLock;
using runtime::Writer;

/// A thread that waits for the identifier of one that it has asked for.
struct Asked final : runtime::Event {
    std::string what() const override { return fmt::format("a thread that process {} is to start", process); }

    ProcessId process = 0;
    ThreadId answer;
};

class AskedThreads final : public runtime::State<runtime::Node> {
public:
    explicit AskedThreads(runtime::Node& /*node*/) {}

    std::uint64_t put(Asked& asked) {
        const SpinLock::Guard guard(lock_);
        all_.emplace(next_, &asked);
        return next_++;
    }
    Asked& take(std::uint64_t number) {
        const SpinLock::Guard guard(lock_);
        const auto found = all_.find(number);
        if (found == all_.end()) throw runtime::MalformedMessage("it answers no request of this node");
        Asked& asked = *found->second;
        all_.erase(found);
        return asked;
    }

private:
    SpinLock lock_;
    std::unordered_map<std::uint64_t, Asked*> all_;
    std::uint64_t next_ = 1;
};

struct Started {
    std::uint64_t request;
    ThreadId thread;
};

const runtime::Handler started_handler("messaging.started", runtime::Handler::Kind::work,
                                       [](runtime::Node& node, NodeId, std::span<const std::byte> message) {
                                           const auto started = runtime::value_in<Started>(message);
                                           Asked& asked = node.state<AskedThreads>().take(started.request);
                                           asked.answer = started.thread;
                                           asked.complete(node, node.receiver());
                                       });

}  // namespace

ThreadId Threads::start(runtime::Node& node, runtime::Context& caller, std::string what, Body body) {
    const auto thread = std::make_shared<Thread>(node, std::move(what));
    const ThreadId id = thread->id();
    const char* const name = thread->what_.c_str();
    runtime::Strand::start(node, caller,
                           [thread, body = std::move(body)](runtime::Strand& strand) {
                               thread->strand_ = &strand;
                               body(*thread);
                               thread->end();
                           },
                           {name});
    return id;
}

ThreadId Threads::start_there(runtime::Strand& strand, ProcessId process, const runtime::Handler& handler,
                              Writer arguments) {
    runtime::Worker& worker = strand.worker();
    Asked asked;
    asked.process = process;
    const std::uint64_t request = worker.node().state<AskedThreads>().put(asked);
    worker.outbox().post(process, handler, runtime::bytes_of(request),
                         runtime::Enclosure{arguments.take_body(), 0});
    strand.wait(asked);
    return asked.answer;
}

void Threads::on_start(runtime::Node& node, ProcessId from, std::span<const std::byte> message,
                       const std::string& what, Body (*read)(Reader& arguments)) {
    Reader head(message);
    const auto request = head.get<std::uint64_t>();
    head.check();
    const runtime::Body large = node.take_body();
    Reader arguments(large ? std::span<const std::byte>(*large) : head.get_rest());
    Body body = read(arguments);
    if (!arguments.done()) throw runtime::MalformedMessage("its arguments are not those of its thread");
    const ThreadId id = start(node, node.receiver(), what, std::move(body));
    node.receiver_outbox().post(from, started_handler, runtime::bytes_of(Started{request, id}));
}

void Threads::expect_process(const runtime::Node& node, ProcessId process) {
    const NodeId nodes = node.topology().nodes;
    if (process < nodes) return;
    throw Error(fmt::format("a thread should start on process {}, and there are {}", process, nodes),
                "processes are numbered from 0");
}

}  // namespace heddle::messaging
