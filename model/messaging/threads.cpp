// Starts threads in this process, and asks other processes to start threads.
#include "model/messaging/threads.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/error.hpp"
#include "model/messaging/requests.hpp"
#include "runtime/core/node.hpp"

namespace heddle::messaging {

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
                              runtime::Writer arguments) {
    ThreadId id;
    strand.worker().node().state<Requests>().ask(
        strand, process, handler, std::move(arguments),
        fmt::format("a thread that process {} is to start", process),
        [&](runtime::Reader& answer) { id = answer.get<ThreadId>(); });
    return id;
}

void Threads::on_start(runtime::Node& node, ProcessId from, std::span<const std::byte> message,
                       const std::string& what, Body (*read)(runtime::Reader& arguments)) {
    Requests::receive(node, from, message, [&](const Asker& asker, runtime::Reader& arguments) {
        Body body = read(arguments);
        if (!arguments.done()) return;
        runtime::Writer answer;
        answer.put(start(node, node.receiver(), what, std::move(body)));
        Requests::answer(node, asker, answer);
    });
}

std::vector<ProcessId> Threads::processes(const runtime::Node& node) {
    std::vector<ProcessId> all{node.id()};
    node.for_others([&](NodeId other) { all.push_back(other); });
    std::ranges::sort(all);
    return all;
}

void Threads::expect_process(const runtime::Node& node, ProcessId process) {
    const NodeId nodes = node.topology().nodes;
    if (process < nodes) return;
    throw Error(fmt::format("a thread should start on process {}, and there are {}", process, nodes),
                "processes are numbered from 0");
}

}  // namespace heddle::messaging
