// Saves the threads of a dataflow program into messages, and starts them where they arrive.
#include "model/dataflow/serialization.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/comm/outbox.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/sources/gift.hpp"

namespace heddle::dataflow {

namespace {

using runtime::Body;
using runtime::Reader;
using runtime::Writer;

/// Filled before `main`.
std::vector<const Serialization*>& serializations() {
    static std::vector<const Serialization*> all;
    return all;
}

// The payload of a stolen thread's task names what was saved, on the heap.
void put_saved(std::byte* payload, std::unique_ptr<Body> saved) {
    const void* const address = saved.release();
    std::memcpy(payload, &address, sizeof address);
}
std::unique_ptr<Body> take_saved(const std::byte* payload) {
    void* address = nullptr;
    std::memcpy(&address, payload, sizeof address);
    return std::unique_ptr<Body>(static_cast<Body*>(address));
}

std::uint64_t pack_thread(runtime::Node& /*node*/, const std::byte* payload, Writer& writer) {
    const std::unique_ptr<Body> saved = take_saved(payload);
    writer.put_size((*saved)->size()).put_bytes(**saved);
    return 0;
}

bool unpack_thread(runtime::Node& /*node*/, std::byte* payload, Reader& reader) {
    const auto bytes = reader.get_bytes(reader.get_size());
    if (!reader.ok()) return false;
    put_saved(payload, std::make_unique<Body>(std::make_shared<runtime::Bytes>(bytes.begin(), bytes.end())));
    return true;
}

constexpr runtime::Cargo thread_cargo{&pack_thread, &unpack_thread};

/// The thread's strand is the task.
void begin_stolen_thread(runtime::Worker& worker, runtime::Slot* /*head*/, std::byte* payload) {
    worker.discount_task();
    worker.take_victim();
    Travel::start(worker.node(), worker, **take_saved(payload));
}

const runtime::Handler thread_arrives("kaapi.thread", runtime::Handler::Kind::work,
                                      [](runtime::Node& node, NodeId, std::span<const std::byte> message) {
                                          const Body body = node.take_body();
                                          Travel::start(node, node.receiver(), body ? *body : message);
                                      });

}  // namespace

Serialization::Serialization(std::string name, StartRoutine routine, Save save, Restore restore)
    : routine_(routine),
      save_(save),
      restore_(restore),
      type_(std::move(name), &begin_stolen_thread, sizeof(void*), 0, true, Travel::special()) {
    serializations().push_back(this);
}

runtime::TaskType::Special Travel::special() {
    runtime::TaskType::Special special;
    special.cargo = &thread_cargo;
    special.drop_arguments = [](std::byte* payload) { take_saved(payload); };
    special.end = runtime::TaskType::End::detached;
    special.records = runtime::TaskType::Records::itself;
    return special;
}

Body Travel::save(const Serialization& serialization, void* argument) {
    Writer writer;
    writer.put(serialization.type_.id());
    serialization.save_(argument, writer);
    return writer.take_body();
}

void Travel::send(runtime::Worker& caller, NodeId to, Body saved) {
    const std::size_t bytes = saved->size();
    caller.outbox().post(to, thread_arrives, {}, runtime::Enclosure{std::move(saved), 0});
    caller.outbox().count_data(bytes);
}

void Travel::give(runtime::Gift& gift, const Serialization& serialization, const Body& saved) {
    std::array<std::byte, sizeof(void*)> payload{};
    put_saved(payload.data(), std::make_unique<Body>(saved));
    gift.add(serialization.type_, payload.data());
}

void Travel::start(runtime::Node& node, runtime::Context& caller, std::span<const std::byte> saved) {
    Reader reader(saved);
    const auto number = reader.get<runtime::TaskTypeId>();
    reader.check();
    for (const Serialization* serialization : serializations()) {
        if (serialization->type_.id() != number) continue;
        Attributes attributes;
        attributes.set_serialization(*serialization);
        void* const argument = serialization->restore_(reader, attributes);
        if (!reader.done()) throw runtime::MalformedMessage("a thread came that cannot be read");
        node.state<KaapiThreads>().start(caller, attributes, serialization->routine_, argument);
        return;
    }
    throw runtime::MalformedMessage("a thread came whose serialization is not known");
}

}  // namespace heddle::dataflow
