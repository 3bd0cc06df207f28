// Handles the messages of the directory of names. A process tells the home of a name, and the home tells the
// processes that have cached it.
#include "model/messaging/directory.hpp"

#include <utility>

#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/run/report.hpp"

namespace heddle::messaging {

using runtime::Handler;
using runtime::Node;
using runtime::Reader;
using runtime::SpinLock;
using runtime::Writer;

namespace {

Directory& directory_of(Node& node) {
    return node.state<Directory>();
}

std::string name_in(std::span<const std::byte> message) {
    Reader reader(message);
    std::string name = reader.get_text();
    if (!reader.done()) throw runtime::MalformedMessage("it is no name");
    return name;
}

const Handler change_handler("messaging.name", Handler::Kind::work,
                             [](Node& node, NodeId from, std::span<const std::byte> message) {
                                 Requests::receive(node, from, message,
                                                   [&](const Asker& asker, Reader& request) {
                                                       Directory::Change change{asker, {}, false, {}};
                                                       change.withdraws = request.get<std::uint8_t>() != 0;
                                                       change.thread = request.get<ThreadId>();
                                                       change.name = request.get_text();
                                                       if (request.ok())
                                                           directory_of(node).on_change(std::move(change));
                                                   });
                             });
const Handler find_handler("messaging.find", Handler::Kind::work,
                           [](Node& node, NodeId from, std::span<const std::byte> message) {
                               Requests::receive(node, from, message,
                                                 [&](const Asker& asker, Reader& request) {
                                                     const std::string name = request.get_text();
                                                     if (request.ok())
                                                         directory_of(node).on_find(asker, name);
                                                 });
                           });
const Handler forget_handler("messaging.forget", Handler::Kind::work,
                             [](Node& node, NodeId from, std::span<const std::byte> message) {
                                 directory_of(node).on_forget(from, name_in(message));
                             });
const Handler forgotten_handler("messaging.forgotten", Handler::Kind::work,
                                [](Node& node, NodeId, std::span<const std::byte> message) {
                                    directory_of(node).on_forgotten(name_in(message));
                                });

}  // namespace

// --- threads

void Directory::change(runtime::Strand& strand, const std::string& name, ThreadId thread, bool withdraws) {
    Writer request;
    request.put(static_cast<std::uint8_t>(withdraws ? 1 : 0)).put(thread).put_text(name);
    const std::string what = withdraws ? "withdrawn" : "published";
    node_.state<Requests>().ask(strand, home_of_name(name, node_.topology()), change_handler,
                                std::move(request), "the name " + name + " to be " + what,
                                [](Reader& /*answer*/) {});
}

void Directory::publish(runtime::Strand& strand, const std::string& name, ThreadId thread) {
    change(strand, name, thread, false);
}

void Directory::withdraw(runtime::Strand& strand, const std::string& name, ThreadId thread) {
    change(strand, name, thread, true);
}

ThreadId Directory::find(runtime::Strand& strand, const std::string& name) {
    {
        const SpinLock::Guard guard(lock_);
        ++found_;
        const auto known = cache_.find(name);
        if (known != cache_.end()) {
            ++cached_;
            return known->second;
        }
        ++asking_[name].finds;
    }
    Writer request;
    request.put_text(name);
    ThreadId thread;
    node_.state<Requests>().ask(strand, home_of_name(name, node_.topology()), find_handler,
                                std::move(request), "a thread of the name " + name, [&](Reader& answer) {
                                    thread = answer.get<ThreadId>();
                                    const SpinLock::Guard guard(lock_);
                                    const auto asking = asking_.find(name);
                                    if (!asking->second.forgotten) cache_[name] = thread;
                                    if (--asking->second.finds == 0) asking_.erase(asking);
                                });
    return thread;
}

// --- at the home of a name

// Changes of one name are made one after the other: while one waits for acknowledgments, finds wait too.
void Directory::on_change(Change change) {
    Name& name = names_[change.name];
    name.changes.push_back(std::move(change));
    if (name.changes.size() == 1) begin_change(name);
}

void Directory::begin_change(Name& name) {
    const Change& change = name.changes.front();
    // Another thread may have taken the name over.
    if (change.withdraws && name.thread != change.thread) return end_change(name);
    name.unacknowledged = name.told.size();
    if (name.unacknowledged == 0) return end_change(name);
    Writer text;
    text.put_text(change.name);
    for (const ProcessId process : std::exchange(name.told, {}))
        node_.receiver_outbox().post(process, forget_handler, text.bytes());
}

void Directory::end_change(Name& name) {
    const Change change = std::move(name.changes.front());
    name.changes.erase(name.changes.begin());
    if (!change.withdraws) {
        name.thread = change.thread;
    } else if (name.thread == change.thread) {
        name.thread.reset();
    }
    Requests::answer(node_, change.asker, {});
    if (!name.changes.empty()) return begin_change(name);
    if (name.thread) {
        for (const Asker& find : std::exchange(name.finds, {})) tell(find, name);
    } else if (name.finds.empty()) {
        names_.erase(change.name);  // no process knows it any more
    }
}

void Directory::on_find(const Asker& asker, const std::string& text) {
    Name& name = names_[text];
    if (!name.thread || !name.changes.empty()) {
        name.finds.push_back(asker);
    } else {
        tell(asker, name);
    }
}

void Directory::tell(const Asker& asker, Name& name) {
    name.told.insert(asker.process);
    Writer answer;
    answer.put(*name.thread);
    Requests::answer(node_, asker, answer);
}

void Directory::on_forgotten(const std::string& text) {
    const auto found = names_.find(text);
    if (found == names_.end() || found->second.unacknowledged == 0)
        throw runtime::MalformedMessage("it acknowledges what was not asked");
    if (--found->second.unacknowledged == 0) end_change(found->second);
}

// --- at a process that was told

void Directory::on_forget(ProcessId home, const std::string& name) {
    {
        const SpinLock::Guard guard(lock_);
        corrected_ += cache_.erase(name);
        if (const auto asking = asking_.find(name); asking != asking_.end()) asking->second.forgotten = true;
    }
    Writer text;
    text.put_text(name);
    node_.receiver_outbox().post(home, forgotten_handler, text.bytes());
}

void Directory::report(runtime::NodeReport& report) const {
    const SpinLock::Guard guard(lock_);
    const auto add = [&](const char* name, std::uint64_t value) {
        report.answer.push_back({name, static_cast<double>(value)});
    };
    add("names_found", found_);
    add("names_cached", cached_);
    add("names_corrected", corrected_);
}

}  // namespace heddle::messaging
