// Tests that tasks of the dataflow model that came from another node and never run leave nothing on the heap.
// Counts all allocations of the process.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "model/dataflow.hpp"
#include "model/dataflow/serialization.hpp"
#include "tests/strand_testing.hpp"

namespace {

std::atomic<long> allocations{0};

}  // namespace

void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* const memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    if (memory) --allocations;
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    operator delete(memory);
}

namespace heddle {
namespace {

void body(dataflow::Thread& /*thread*/, int /*value*/) {}

void routine(dataflow::Kaapi& /*self*/, void* /*argument*/) {}
void save(void* /*argument*/, runtime::Writer& /*to*/) {}
void* restore(runtime::Reader& /*from*/, dataflow::Attributes& /*attributes*/) {
    return nullptr;
}
const dataflow::Serialization serialization("leftover_cargo", &routine, &save, &restore);

const runtime::TaskType& type_of(const std::string& name) {
    for (runtime::TaskTypeId id = 0; const runtime::TaskType* const type = runtime::find_task_type(id); ++id)
        if (type->name() == name) return *type;
    throw Error("no task type " + name, "name one that is registered");
}

/// How many allocations are left of a task that came in `message` and is dropped; if it is not, in `before`.
long left_of(runtime::Node& node, const runtime::TaskType& type, const runtime::Writer& message,
             long& before) {
    const long begin = allocations;
    alignas(16) std::byte payload[runtime::payload_bytes];
    runtime::Reader reader(message.bytes());
    EXPECT_TRUE(type.cargo()->unpack(node, payload, reader));
    before = allocations - begin;
    type.drop(runtime::Holds::arguments, payload);
    return allocations - begin;
}

TEST(LeftoverCargo, LeavesNothingOnTheHeap) {
    const auto first = [](runtime::Worker& worker) {
        const std::vector<std::byte> bytes(100);
        long before = 0;
        runtime::Writer closure;
        closure.put(NodeId{0}).put(std::uint64_t{1}).put_size(bytes.size());
        closure.put_bytes(bytes);
        EXPECT_EQ(left_of(worker.node(), dataflow::Task<&body>::travelling, closure, before), 0);
        EXPECT_GT(before, 0);
        runtime::Writer thread;
        thread.put_size(bytes.size());
        thread.put_bytes(bytes);
        EXPECT_EQ(left_of(worker.node(), type_of(serialization.name()), thread, before), 0);
        EXPECT_GT(before, 0);
    };
    inprocess::InprocessBackend backend({});
    runtime::Execution(backend, {}, [&](NodeId) {
        return std::make_unique<testing_strands::FirstTask>(first);
    }).run();
}

}  // namespace
}  // namespace heddle
