// The messages of groups: how threads begin, values go to those that read them, and results come home.
#include "model/dataflow/group_sites.hpp"

#include <utility>

#include "model/dataflow/site.hpp"
#include "model/dataflow/threads.hpp"
#include "runtime/run/report.hpp"

namespace heddle::dataflow {

namespace {

using runtime::Body;
using runtime::Context;
using runtime::Enclosure;
using runtime::Handler;
using runtime::MalformedMessage;
using runtime::Node;
using runtime::Reader;
using runtime::SpinLock;
using runtime::Writer;

/// What was enclosed: a small body is the rest of its message.
Body enclosed(Node& node, Reader& reader) {
    if (Body body = node.take_body()) return body;
    const auto rest = reader.get_rest();
    return std::make_shared<runtime::Bytes>(rest.begin(), rest.end());
}

GroupName name_in(Reader& reader) {
    GroupName group;
    group.home = reader.get<NodeId>();
    group.number = reader.get<std::uint32_t>();
    reader.check();
    return group;
}

const Handler start_handler("dataflow.group", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    const Body body = enclosed(node, reader);
    node.state<GroupSites>().begin_site(node.receiver(), *body);
});

const Handler value_handler("dataflow.value", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    const auto head = reader.get_bytes(reader.get<std::uint32_t>());
    reader.check();
    node.state<GroupSites>().arrive(node.receiver(), head, enclosed(node, reader));
});

const Handler result_handler("dataflow.result", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    const GroupName group = name_in(reader);
    const auto object = reader.get<std::uint32_t>();
    reader.check();
    node.state<GroupSites>().finished(node.receiver(), group, object, enclosed(node, reader));
});

}  // namespace

// --- what a thread receives

void GroupMailbox::end(const Expected& expected, Context& caller) {
    Cell* cell = expected.type->make();
    Reader reader(*expected.value);
    expected.type->read(*cell, reader);
    if (!reader.done()) throw MalformedMessage("a value of a group cannot be read");
    expected.thread->terminated(*expected.closure, {&cell, 1}, caller);
}

void GroupMailbox::put(std::uint32_t iteration, std::uint32_t number, Body value, Context& caller) {
    Expected expected;
    {
        const SpinLock::Guard guard(lock_);
        const auto [found, is_new] = expected_.try_emplace({iteration, number});
        if (found->second.value) throw MalformedMessage("a value of a group has come twice");
        found->second.value = std::move(value);
        if (is_new) return;
        expected = std::move(found->second);
        expected_.erase(found);
    }
    end(expected, caller);
}

void GroupMailbox::expect(std::uint32_t iteration, std::uint32_t number, Thread& thread, Closure& closure,
                          const ValueType& type) {
    Expected expected{{}, &thread, &closure, &type};
    {
        const SpinLock::Guard guard(lock_);
        const auto [found, is_new] = expected_.try_emplace({iteration, number}, expected);
        if (is_new) return;
        expected.value = std::move(found->second.value);
        expected_.erase(found);
    }
    end(expected, thread.worker());
}

// --- what the group's maker waits for

GroupHome::GroupHome(std::size_t objects, std::uint32_t ends) : results_(objects), left_(ends) {}

void GroupHome::put(Node& node, Context& caller, std::uint32_t object, Body value) {
    {
        const SpinLock::Guard guard(lock_);
        if (object != Recording::none) {
            if (object >= results_.size() || results_[object] || !value)
                throw MalformedMessage("a group has no such result");
            results_[object] = std::move(value);
        }
        if (left_ == 0 || --left_ != 0) return;
    }
    end_.complete(node, caller);
}

// --- the node

void GroupSites::start(runtime::Worker& worker, WorkerId site, const SiteStart& start,
                       const SiteProgram& program) {
    Writer writer;
    writer.put(start.group.home)
        .put(start.group.number)
        .put(start.core)
        .put(start.iterations)
        .put(start.strict);
    program.write(writer);
    if (site.node == node_.id()) return begin_site(worker, writer.bytes());
    worker.outbox().post(site.node, start_handler, {}, Enclosure{writer.take_body(), 0});
}

void GroupSites::begin_site(Context& caller, std::span<const std::byte> message) {
    Reader reader(message);
    SiteStart start;
    start.group = name_in(reader);
    start.core = reader.get<CoreId>();
    start.iterations = reader.get<std::uint32_t>();
    start.strict = reader.get<std::uint8_t>() != 0;
    reader.check();
    if (start.core >= node_.cores()) throw MalformedMessage("a group has a thread for a worker that is none");
    SiteProgram program = SiteProgram::read(reader);
    if (!reader.done()) throw MalformedMessage("the program of a group's thread cannot be read");
    const auto site = std::make_shared<Site>(start, std::move(program), mailbox(start.group, start.core));
    node_.state<Threads>().start(caller, {"a thread of a group", start.core},
                                 [site](Thread& thread) { site->run(thread); });
}

void GroupSites::send(runtime::Worker& worker, const GroupValue& value, std::span<const WorkerId> to,
                      Body body) {
    for (std::size_t begin = 0; begin < to.size();) {
        std::size_t end = begin;
        Writer head;
        head.put(value.group.home).put(value.group.number).put(value.iteration).put(value.number);
        for (; end < to.size() && to[end].node == to[begin].node; ++end) head.put(to[end].core);
        if (to[begin].node == node_.id()) {
            arrive(worker, head.bytes(), body);
        } else {
            Writer message;
            message.put(static_cast<std::uint32_t>(head.bytes().size())).put_bytes(head.bytes());
            worker.outbox().post(to[begin].node, value_handler, message.bytes(), Enclosure{body, 0});
            worker.outbox().count_data(body->size());
        }
        begin = end;
    }
}

void GroupSites::arrive(Context& caller, std::span<const std::byte> head, Body body) {
    Reader reader(head);
    GroupValue value;
    value.group = name_in(reader);
    value.iteration = reader.get<std::uint32_t>();
    value.number = reader.get<std::uint32_t>();
    reader.check();
    while (!reader.done()) {
        const auto core = reader.get<CoreId>();
        reader.check();
        if (core >= node_.cores()) throw MalformedMessage("a value is for a worker that is none");
        mailbox(value.group, core)->put(value.iteration, value.number, body, caller);
    }
}

void GroupSites::finish(runtime::Worker& worker, GroupName group, std::uint32_t object, Body body) {
    if (group.home == node_.id()) return finished(worker, group, object, std::move(body));
    Writer head;
    head.put(group.home).put(group.number).put(object);
    if (body) worker.outbox().count_data(body->size());
    worker.outbox().post(group.home, result_handler, head.bytes(), Enclosure{std::move(body), 0});
}

void GroupSites::finished(Context& caller, GroupName group, std::uint32_t object, Body body) {
    GroupHome* home = nullptr;
    {
        const SpinLock::Guard guard(lock_);
        const auto found = homes_.find(group.number);
        if (group.home == node_.id() && found != homes_.end()) home = found->second;
    }
    if (!home) throw MalformedMessage("a result is for a group that does not run");
    home->put(node_, caller, object, std::move(body));
}

std::shared_ptr<GroupMailbox> GroupSites::mailbox(GroupName group, CoreId core) {
    const SpinLock::Guard guard(lock_);
    auto& mailbox = mailboxes_[{group, core}];
    if (!mailbox) mailbox = std::make_shared<GroupMailbox>();
    return mailbox;
}

void GroupSites::close(GroupName group, CoreId core) {
    const SpinLock::Guard guard(lock_);
    mailboxes_.erase({group, core});
}

GroupName GroupSites::begin(GroupHome& home) {
    const SpinLock::Guard guard(lock_);
    homes_[next_] = &home;
    ++groups_;
    return {node_.id(), next_++};
}

void GroupSites::end(GroupName group) {
    const SpinLock::Guard guard(lock_);
    homes_.erase(group.number);
}

void GroupSites::report(runtime::NodeReport& report) const {
    report.answer.push_back({"groups", static_cast<double>(groups_)});
}

}  // namespace heddle::dataflow
