// Sends requests and answers, and wakes the thread that has asked.
#include "model/messaging/requests.hpp"

#include <utility>

#include "base/fnv1a.hpp"
#include "base/random.hpp"
#include "runtime/core/node.hpp"

namespace heddle::messaging {

namespace {

const runtime::Handler answer_handler("messaging.answer", runtime::Handler::Kind::work,
                                      [](runtime::Node& node, NodeId, std::span<const std::byte> message) {
                                          runtime::Reader reader(message);
                                          const auto request = reader.get<std::uint64_t>();
                                          reader.check();
                                          const runtime::Body large = node.take_body();
                                          runtime::Reader answer(large ? std::span<const std::byte>(*large)
                                                                       : reader.get_rest());
                                          node.state<Requests>().on_answer(request, answer);
                                      });

}  // namespace

ProcessId home_of_name(const std::string& name, const runtime::Topology& topology) {
    if (topology.at_start) return 0;  // any other may leave before the name is used
    Fnv1a hash;
    hash.add_text(name);
    return static_cast<ProcessId>(Random(hash.value()).below(topology.nodes));
}

void Requests::ask(runtime::Strand& strand, ProcessId to, const runtime::Handler& handler,
                   runtime::Writer request, std::string what, Take take) {
    Question question;
    question.text = std::move(what);
    question.take = std::move(take);
    std::uint64_t number = 0;
    {
        const runtime::SpinLock::Guard guard(lock_);
        number = next_++;
        questions_.emplace(number, &question);
    }
    strand.worker().outbox().post(to, handler, runtime::bytes_of(number),
                                  runtime::Enclosure{request.take_body(), 0});
    strand.wait(question);
}

void Requests::answer(runtime::Node& node, const Asker& asker, const runtime::Writer& answer) {
    node.receiver_outbox().post(
        asker.process, answer_handler, runtime::bytes_of(asker.request),
        runtime::Enclosure{std::make_shared<runtime::Bytes>(answer.bytes().begin(), answer.bytes().end()),
                           0});
}

void Requests::on_answer(std::uint64_t request, runtime::Reader& answer) {
    Question* question = nullptr;
    {
        const runtime::SpinLock::Guard guard(lock_);
        const auto found = questions_.find(request);
        if (found == questions_.end())
            throw runtime::MalformedMessage("it answers no question of this process");
        question = found->second;
        questions_.erase(found);
    }
    question->take(answer);
    if (!answer.done()) throw runtime::MalformedMessage("the answer cannot be read");
    question->complete(node_, node_.receiver());
}

}  // namespace heddle::messaging
