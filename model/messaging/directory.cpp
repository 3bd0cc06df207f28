// The messages of the directory: to the home of a name, and from it to the processes that it has told.
#include "model/messaging/directory.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/random.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/run/report.hpp"

namespace heddle::messaging {

using runtime::Handler;
using runtime::Node;
using runtime::Reader;
using runtime::SpinLock;
using runtime::Writer;

/// What a thread waits for.
struct Directory::Question final : runtime::Event {
    std::string what() const override { return text; }

    std::string text;
    std::optional<ThreadId> thread;
};

namespace {

/// What all these messages say. A message that says nothing of a thread names none.
struct Letter {
    std::uint64_t request = 0;
    std::optional<ThreadId> thread;
    std::string name;
};

Letter read_letter(std::span<const std::byte> message) {
    Reader reader(message);
    Letter letter;
    letter.request = reader.get<std::uint64_t>();
    const auto has_thread = reader.get<std::uint8_t>();
    const auto thread = reader.get<ThreadId>();
    if (has_thread != 0) letter.thread = thread;
    letter.name = reader.get_text();
    if (!reader.done()) throw runtime::MalformedMessage("it is no message of the directory of names");
    return letter;
}

void post(runtime::Outbox& outbox, ProcessId to, const Handler& handler, const Letter& letter) {
    Writer writer;
    writer.put(letter.request).put(static_cast<std::uint8_t>(letter.thread ? 1 : 0));
    writer.put(letter.thread.value_or(ThreadId{})).put_text(letter.name);
    outbox.post(to, handler, writer.bytes());
}

Directory& directory_of(Node& node) {
    return node.state<Directory>();
}

const Handler change_handler(
    "messaging.name", Handler::Kind::work, [](Node& node, NodeId from, std::span<const std::byte> message) {
        Letter letter = read_letter(message);
        directory_of(node).on_change(from, {letter.request, letter.thread, std::move(letter.name)});
    });
const Handler find_handler("messaging.find", Handler::Kind::work,
                           [](Node& node, NodeId from, std::span<const std::byte> message) {
                               const Letter letter = read_letter(message);
                               directory_of(node).on_find(from, letter.request, letter.name);
                           });
const Handler answer_handler("messaging.found", Handler::Kind::work,
                             [](Node& node, NodeId, std::span<const std::byte> message) {
                                 const Letter letter = read_letter(message);
                                 directory_of(node).on_answer(letter.request, letter.thread, letter.name);
                             });
const Handler forget_handler("messaging.forget", Handler::Kind::work,
                             [](Node& node, NodeId from, std::span<const std::byte> message) {
                                 directory_of(node).on_forget(from, read_letter(message).name);
                             });
const Handler forgotten_handler("messaging.forgotten", Handler::Kind::work,
                                [](Node& node, NodeId, std::span<const std::byte> message) {
                                    directory_of(node).on_forgotten(read_letter(message).name);
                                });

}  // namespace

ProcessId Directory::home_of(const std::string& name) const {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a: the same in every process
    for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    return static_cast<ProcessId>(Random(hash).below(node_.topology().nodes));
}

// --- threads

void Directory::ask(runtime::Strand& strand, Question& question, const std::string& name,
                    const Handler& handler, const std::optional<ThreadId>& thread) {
    std::uint64_t request = 0;
    {
        const SpinLock::Guard guard(lock_);
        request = next_request_++;
        questions_.emplace(request, &question);
    }
    post(strand.worker().outbox(), home_of(name), handler, {request, thread, name});
    strand.wait(question);
}

void Directory::publish(runtime::Strand& strand, const std::string& name, ThreadId thread) {
    Question question;
    question.text = "the name " + name + " to be published";
    ask(strand, question, name, change_handler, thread);
}

void Directory::withdraw(runtime::Strand& strand, const std::string& name) {
    Question question;
    question.text = "the name " + name + " to be withdrawn";
    ask(strand, question, name, change_handler, std::nullopt);
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
    }
    Question question;
    question.text = "a thread of the name " + name;
    ask(strand, question, name, find_handler, std::nullopt);
    return *question.thread;
}

// --- at the home of a name

// Changes of one name are made one after the other: while one waits for acknowledgments, finds wait too.
void Directory::on_change(ProcessId from, Change change) {
    Name& name = names_[change.name];
    name.changes.emplace_back(from, std::move(change));
    if (name.changes.size() == 1) begin_change(name);
}

void Directory::begin_change(Name& name) {
    name.unacknowledged = name.told.size();
    if (name.unacknowledged == 0) return end_change(name);
    const std::string& text = name.changes.front().second.name;
    const std::set<ProcessId> told = std::exchange(name.told, {});
    for (const ProcessId process : told)
        post(node_.receiver_outbox(), process, forget_handler, {0, {}, text});
}

void Directory::end_change(Name& name) {
    const auto [process, change] = name.changes.front();
    name.changes.erase(name.changes.begin());
    name.thread = change.thread;
    answer({process, change.request}, std::nullopt, change.name);
    if (!name.changes.empty()) return begin_change(name);
    if (!name.thread) return;
    for (const Asker& find : std::exchange(name.finds, {})) {
        name.told.insert(find.process);
        answer(find, name.thread, change.name);
    }
}

void Directory::on_find(ProcessId from, std::uint64_t request, const std::string& text) {
    Name& name = names_[text];
    const Asker asker{from, request};
    if (!name.thread || !name.changes.empty()) {
        name.finds.push_back(asker);
        return;
    }
    name.told.insert(from);
    answer(asker, name.thread, text);
}

void Directory::on_forgotten(const std::string& text) {
    const auto found = names_.find(text);
    if (found == names_.end() || found->second.unacknowledged == 0)
        throw runtime::MalformedMessage("it acknowledges what was not asked");
    if (--found->second.unacknowledged == 0) end_change(found->second);
}

void Directory::answer(const Asker& asker, std::optional<ThreadId> thread, const std::string& name) {
    post(node_.receiver_outbox(), asker.process, answer_handler, {asker.request, thread, name});
}

// --- at a process that has asked

void Directory::on_answer(std::uint64_t request, std::optional<ThreadId> thread, const std::string& name) {
    Question* question = nullptr;
    {
        const SpinLock::Guard guard(lock_);
        const auto found = questions_.find(request);
        if (found == questions_.end())
            throw runtime::MalformedMessage("it answers no question of this process");
        question = found->second;
        questions_.erase(found);
        if (thread) cache_[name] = *thread;
    }
    question->thread = thread;
    question->complete(node_, node_.receiver());
}

void Directory::on_forget(ProcessId home, const std::string& name) {
    {
        const SpinLock::Guard guard(lock_);
        corrected_ += cache_.erase(name);
    }
    post(node_.receiver_outbox(), home, forgotten_handler, {0, {}, name});
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
