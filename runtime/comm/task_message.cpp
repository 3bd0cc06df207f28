// Posts and reads messages with a task's payload and its cargo, which is what the task has on the heap.
#include "runtime/comm/task_message.hpp"

#include <cstring>

#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"

namespace heddle::runtime {

namespace {

/// `plain`: bytes of the payload that travel as they are.
void post(Node& node, Outbox& outbox, NodeId to, const Handler& handler, std::span<const std::byte> header,
          std::span<const std::byte> plain, const Cargo* cargo, const std::byte* payload) {
    if (!cargo) return outbox.post(to, handler, header, Outbox::Urgency::now, plain);
    Writer first;
    first.put_bytes(header).put_bytes(plain);
    Writer packed;
    const std::uint64_t padding = cargo->pack(node, payload, packed);
    const std::uint64_t data = packed.bytes().size() + padding;
    outbox.post(to, handler, first.bytes(), Enclosure{packed.take_body(), padding});
    outbox.count_data(data);
}

void read(Node& node, std::span<const std::byte> message, std::size_t plain, const Cargo* cargo,
          std::byte* payload) {
    Reader reader(message);
    const auto bytes = reader.get_bytes(plain);
    reader.check();
    if (!bytes.empty()) std::memcpy(payload, bytes.data(), bytes.size());
    if (!cargo) {
        if (!reader.done()) throw MalformedMessage("it is too long");
        return;
    }
    const Body body = node.take_body();
    Reader packed = body ? Reader(body) : Reader(reader.get_rest());
    if (!cargo->unpack(node, payload, packed) || !packed.done())
        throw MalformedMessage("the data of its task cannot be read");
}

}  // namespace

void post_arguments(Node& node, Outbox& outbox, NodeId to, const Handler& handler,
                    std::span<const std::byte> header, const TaskType& type, const std::byte* payload) {
    post(node, outbox, to, handler, header, {payload, type.arguments_bytes()}, type.cargo(), payload);
}

void read_arguments(Node& node, const TaskType& type, std::span<const std::byte> message,
                    std::byte* payload) {
    read(node, message, type.arguments_bytes(), type.cargo(), payload);
}

// What a result's payload names is of no use elsewhere, so only the cargo travels.
void post_result(Node& node, Outbox& outbox, NodeId to, const Handler& handler,
                 std::span<const std::byte> header, const TaskType& type, const std::byte* payload) {
    const std::size_t plain = type.result_cargo() ? 0 : type.result_bytes();
    post(node, outbox, to, handler, header, {payload, plain}, type.result_cargo(), payload);
}

void read_result(Node& node, const TaskType& type, std::span<const std::byte> message, std::byte* payload) {
    read(node, message, type.result_cargo() ? 0 : type.result_bytes(), type.result_cargo(), payload);
}

}  // namespace heddle::runtime
