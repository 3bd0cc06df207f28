// Writes a node's report (counters, answer, times) into a message, and reads it back with checks.
#include "runtime/run/report.hpp"

#include "runtime/core/node.hpp"

namespace heddle::runtime {

void NodeReport::write(Writer& writer) const {
    writer.put(node).put(counters).put(last_task_end).put(membership);
    writer.put(static_cast<std::uint32_t>(answer.size()));
    for (const AnswerValue& value : answer) writer.put_text(value.name).put(value.value).put(value.combine);
    writer.put(static_cast<std::uint32_t>(stolen_from.size()));
    for (const auto& [victim, tasks] : stolen_from) writer.put(victim).put(tasks);
    sharing.write(writer);
    writer.put_bytes(evidence);
}

bool NodeReport::read(Reader& reader) {
    node = reader.get<NodeId>();
    counters = reader.get<Counters>();
    last_task_end = reader.get<Time>();
    membership = reader.get<Membership>();
    for (auto left = reader.get<std::uint32_t>(); left != 0 && reader.ok(); --left) {
        AnswerValue value;
        value.name = reader.get_text();
        value.value = reader.get<double>();
        value.combine = reader.get<AnswerValue::Combine>();
        answer.push_back(std::move(value));
    }
    for (auto left = reader.get<std::uint32_t>(); left != 0 && reader.ok(); --left) {
        const auto victim = reader.get<NodeId>();
        stolen_from[victim] = reader.get<std::uint64_t>();
    }
    sharing.read(reader);
    const auto shown = reader.get_rest();
    evidence.assign(shown.begin(), shown.end());
    return reader.done();
}

}  // namespace heddle::runtime
