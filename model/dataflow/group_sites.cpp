// Handles the messages of groups (recorded graphs of dataflow tasks): they start runs, carry values to their
// readers, and bring answers home.
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

const Handler run_handler("dataflow.group", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    const Body body = enclosed(node, reader);
    Reader inner(*body);
    NodeRun run = NodeRun::read(inner);
    if (!inner.done()) throw MalformedMessage("a run of a group cannot be read");
    node.state<GroupSites>().begin_here(node.receiver(), std::move(run));
});

const Handler value_handler("dataflow.value", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    GroupValue value;
    value.group = group_in(reader);
    value.iteration = reader.get<std::uint32_t>();
    value.number = reader.get<std::uint32_t>();
    value.digest = reader.get<std::uint32_t>();
    const auto readers = reader.get<std::uint32_t>();
    reader.check();
    node.state<GroupSites>().arrive(node.receiver(), value, readers, enclosed(node, reader));
});

GroupQuestion question_in(Reader& reader) {
    GroupQuestion question;
    question.group = group_in(reader);
    question.run = reader.get<std::uint32_t>();
    return question;
}

const Handler answer_handler("dataflow.answer", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    const GroupQuestion question = question_in(reader);
    const auto number = reader.get<std::uint32_t>();
    reader.check();
    node.state<GroupSites>().answer(node.receiver(), question, number, enclosed(node, reader));
});

const Handler fetch_handler("dataflow.fetch", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    const ValueName name = value_in(reader);
    const GroupQuestion question = question_in(reader);
    const auto number = reader.get<std::uint32_t>();
    if (!reader.done()) throw MalformedMessage("a question for a value cannot be read");
    auto& sites = node.state<GroupSites>();
    const CellRef cell = sites.store().look(name);
    if (!cell) throw MalformedMessage("a value of a group does not rest here");
    Writer writer;
    cell.type().write(*cell, writer);
    const std::size_t bytes = writer.bytes().size();
    sites.answer(node.receiver(), question, number, writer.take_body());
    node.outbox_of(node.receiver()).count_data(bytes);
});

const Handler drop_handler("dataflow.drop", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    node.state<GroupSites>().store().take(value_in(reader));
});

/// Of a group that each node records the nodes are told that there may be, and so some that have not joined.
const Handler forget_handler(
    "dataflow.forget", Handler::Kind::work,
    [](Node& node, NodeId, auto message) {
        Reader reader(message);
        node.state<GroupSites>().forget_here(group_in(reader));
    },
    Handler::IfGone::drop);

}  // namespace

// --- answers

void GroupAnswers::expect(std::uint32_t count, Node& node, Context& caller) {
    {
        const SpinLock::Guard guard(lock_);
        expected_ = count;
        if (!complete()) return;
    }
    end_.complete(node, caller);
}

void GroupAnswers::put(std::uint32_t number, Body answer, Node& node, Context& caller) {
    {
        const SpinLock::Guard guard(lock_);
        if (!answers_.emplace(number, std::move(answer)).second)
            throw MalformedMessage("an answer of a group has come twice");
        if (!complete()) return;
    }
    end_.complete(node, caller);
}

GroupName GroupSites::new_name() {
    const SpinLock::Guard guard(lock_);
    return {node_.id(), next_++};
}

std::shared_ptr<GroupAnswers> GroupSites::ask(const GroupQuestion& question) {
    const SpinLock::Guard guard(lock_);
    auto& answers = questions_[question];
    if (!answers) answers = std::make_shared<GroupAnswers>();
    return answers;
}

void GroupSites::end(const GroupQuestion& question) {
    const SpinLock::Guard guard(lock_);
    questions_.erase(question);
}

void GroupSites::answer(Context& caller, const GroupQuestion& question, std::uint32_t number, Body body) {
    if (question.group.home == node_.id()) return ask(question)->put(number, std::move(body), node_, caller);
    Writer head;
    put_name(head, question.group);
    head.put(question.run).put(number);
    node_.outbox_of(caller).post(question.group.home, answer_handler, head.bytes(),
                                 Enclosure{std::move(body), 0});
}

void GroupSites::fetch(runtime::Worker& worker, NodeId node, const ValueName& value,
                       const GroupQuestion& question, std::uint32_t number) {
    Writer message;
    put_name(message, value);
    put_name(message, question.group);
    message.put(question.run).put(number);
    worker.outbox().post(node, fetch_handler, message.bytes());
}

// --- runs

void GroupSites::begin(runtime::Worker& worker, NodeId node, NodeRun run) {
    if (node == node_.id()) return begin_here(worker, std::move(run));
    Writer writer;
    run.write(writer);
    worker.outbox().post(node, run_handler, {}, Enclosure{writer.take_body(), 0});
}

std::shared_ptr<GroupSites::Here> GroupSites::here(GroupName group) {
    const SpinLock::Guard guard(lock_);
    auto& here = groups_[group];
    if (!here) here = std::make_shared<Here>();
    return here;
}

/// The programs of an earlier placing are not needed any more: its runs are over.
void GroupSites::begin_here(Context& caller, NodeRun run) {
    const std::shared_ptr<Here> here = this->here(run.group);
    for (GroupMove& move : run.moves)
        if (!std::exchange(move.moved, true)) this->move(caller, run, move, *here);
    if (run.iterations == 0) return;
    {
        const SpinLock::Guard guard(lock_);
        here->programs.erase(here->programs.begin(), here->programs.lower_bound(run.placing));
        if (!run.programs.empty()) {
            Programs& programs = here->programs[run.placing];
            for (auto& [core, program] : run.programs) {
                if (core >= node_.cores())
                    throw MalformedMessage("a group has a thread for a worker that is none");
                programs[core] = std::make_shared<const SiteProgram>(std::move(program));
            }
            run.programs.clear();
        }
        if (!here->programs.contains(run.placing)) return here->waiting.push_back(std::move(run));
    }
    start(caller, run, here);
}

void GroupSites::install(Context& caller, GroupName group, std::uint32_t placing, Programs programs) {
    const std::shared_ptr<Here> here = this->here(group);
    std::vector<NodeRun> waiting;
    {
        const SpinLock::Guard guard(lock_);
        here->programs[placing] = std::move(programs);
        waiting = std::exchange(here->waiting, {});
    }
    for (NodeRun& run : waiting) begin_here(caller, std::move(run));
}

void GroupSites::start(Context& caller, const NodeRun& run, const std::shared_ptr<Here>& here) {
    Programs programs;
    {
        const SpinLock::Guard guard(lock_);
        programs = here->programs.at(run.placing);
    }
    for (const auto& [core, program] : programs) {
        const std::shared_ptr<GroupMailbox> mailbox(here, &here->mailbox);
        SiteRun begin{run.group,    core,       run.run, run.iteration, run.iterations, run.strict,
                      run.measured, run.digest, {}};
        for (const GroupMove& move : run.moves)
            if (!move.written) begin.stay.insert(move.object);
        const auto site = std::make_shared<Site>(begin, program, mailbox);
        node_.state<Threads>().start(caller,
                                     {.name = "a thread of a group", .pinned_to = core, .task = false},
                                     [site](Thread& thread) {
                                         thread.keep(site);
                                         site->run(thread);
                                     });
    }
}

/// A value that the group only reads stays.
void GroupSites::move(Context& caller, const NodeRun& run, const GroupMove& move, Here& here) {
    CellRef cell = move.written ? store_.take(move.value) : store_.look(move.value);
    if (!cell) throw MalformedMessage("a value of a group does not rest here");
    const GroupValue value{run.group, run.iteration, move.number, run.digest};
    if (!move.to.empty()) {
        Writer writer;
        cell.type().write(*cell, writer);
        send(caller, value, move.to, writer.take_body());
    }
    if (move.readers == 0) return;
    here.mailbox.put(value, move.readers, {{}, std::move(cell), !move.written}, caller);
}

void GroupSites::send(Context& caller, const GroupValue& value, std::span<const Target> to,
                      const Body& body) {
    for (const Target& target : to) {
        if (target.node == node_.id()) {
            arrive(caller, value, target.readers, body);
            continue;
        }
        Writer head;
        put_name(head, value.group);
        head.put(value.iteration).put(value.number).put(value.digest).put(target.readers);
        runtime::Outbox& outbox = node_.outbox_of(caller);
        outbox.post(target.node, value_handler, head.bytes(), Enclosure{body, 0});
        outbox.count_data(body->size());
    }
}

void GroupSites::arrive(Context& caller, const GroupValue& value, std::uint32_t readers, Body body) {
    here(value.group)->mailbox.put(value, readers, {std::move(body), {}, false}, caller);
}

void GroupSites::drop(runtime::Worker& worker, NodeId node, const ValueName& value) {
    if (node == node_.id()) {
        store_.take(value);
        return;
    }
    Writer message;
    put_name(message, value);
    worker.outbox().post(node, drop_handler, message.bytes());
}

void GroupSites::forget(runtime::Worker& worker, NodeId node, GroupName group) {
    if (node == node_.id()) return forget_here(group);
    Writer message;
    put_name(message, group);
    worker.outbox().post(node, forget_handler, message.bytes());
}

void GroupSites::forget_here(GroupName group) {
    store_.drop(group);
    const SpinLock::Guard guard(lock_);
    groups_.erase(group);
}

void GroupSites::count_run(double seconds) {
    const SpinLock::Guard guard(lock_);
    ++runs_;
    seconds_ += seconds;
}

void GroupSites::count_moved(std::uint64_t objects) {
    const SpinLock::Guard guard(lock_);
    moved_ += objects;
}

bool GroupSites::keeps_node() const {
    {
        const SpinLock::Guard guard(lock_);
        if (!groups_.empty()) return true;
    }
    return !store_.empty();
}

void GroupSites::report(runtime::NodeReport& report) const {
    report.answer.push_back({"groups", static_cast<double>(runs_)});
    report.answer.push_back({"objects_moved", static_cast<double>(moved_)});
    report.answer.push_back({"group_seconds", seconds_});
}

}  // namespace heddle::dataflow
