// Moves closures between nodes: lays out thief threads, writes closures and outputs into messages, and reads
// them back.
#include "model/dataflow/travel.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "model/dataflow/shared.hpp"
#include "model/dataflow/threads.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/readable.hpp"
#include "runtime/sources/gift.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::dataflow {

Closure& new_closure(Thread& thread, const ClosureType& type) {
    auto* const closure = static_cast<Closure*>(thread.take(type.bytes));
    return *::new (static_cast<void*>(closure))
        Closure{&type, nullptr, nullptr, nullptr, nullptr, nullptr, {Closure::created}, false, false};
}

namespace {

using runtime::Bytes;
using runtime::Reader;
using runtime::Writer;

/// A closure on its way: its payload names one on the heap.
struct Parcel {
    NodeId home = 0;
    std::uint64_t id = 0;
    runtime::Body keeper;              ///< of what has its bytes
    std::span<const std::byte> bytes;  ///< aliases and modes, inputs, arguments by value
    bool begins_keeper = false;        ///< the keeper has what travels before them, them, and nothing else

    static constexpr std::size_t heading_bytes = sizeof home + sizeof id + sizeof(std::uint32_t);
    Writer& put_heading(Writer& writer) const { return writer.put(home).put(id).put_size(bytes.size()); }
};

Parcel* parcel_in(const std::byte* payload) {
    Parcel* parcel = nullptr;
    std::memcpy(&parcel, payload, sizeof parcel);
    return parcel;
}

/// What the closure that ends a thief thread must know. The thief's objects have the cells.
struct Signal {
    Thread* victim;    ///< null: on another node
    Closure* closure;  ///< the stolen one
    NodeId home;
    std::uint64_t id;
    const ClosureType* type;
    const Access* copies;
    Object* objects;
};

Signal& signal_of(Closure& closure) {
    return *std::launder(reinterpret_cast<Signal*>(closure.values()));
}

bool is_output(const Access& access) {
    return !access.alias() && access.mode != Mode::r;
}

const runtime::Handler outputs_handler("dataflow.outputs", runtime::Handler::Kind::work,
                                       [](runtime::Node& node, NodeId, std::span<const std::byte> message) {
                                           receive_outputs(node, message);
                                       });

/// Gives the outputs to the victim, on the same node.
void give_back(Thread& thief, const Signal& signal) {
    const std::uint32_t count = signal.type->accesses;
    auto** const outputs = static_cast<Cell**>(thief.take(count * sizeof(Cell*)));
    for (std::uint32_t i = 0; i < count; ++i) {
        const Access& copy = signal.copies[i];
        Cell* const data = copy.alias() ? nullptr : std::exchange(signal.objects[i].data, nullptr);
        outputs[i] = is_output(copy) ? data : nullptr;
        // Now, because an input may be a cell in a frame of the victim's, which may end after the next call.
        if (data && !outputs[i]) release(*data, *signal.type->formals[i].value);
    }
    signal.victim->terminated(*signal.closure, {outputs, count}, thief.worker());
}

/// Sends them to the victim's node.
void send_back(Thread& thief, const Signal& signal) {
    Writer writer;
    for (std::uint32_t i = 0; i < signal.type->accesses; ++i)
        if (is_output(signal.copies[i]))
            signal.type->formals[i].value->write(*signal.objects[i].data, writer);
    runtime::Outbox& outbox = thief.worker().outbox();
    const std::size_t bytes = writer.bytes().size();
    outbox.post(signal.home, outputs_handler, runtime::bytes_of(signal.id),
                runtime::Enclosure{bytes == 0 ? nullptr : writer.take_body(), 0});
    outbox.count_data(bytes);
}

void run_signal(Thread& thief, Closure& closure) {
    const Signal& signal = signal_of(closure);
    signal.victim ? give_back(thief, signal) : send_back(thief, signal);
}

void nothing_to_destroy(Closure& /*closure*/) {}

constexpr ClosureType signal_type{sizeof(Closure) + sizeof(Signal),
                                  sizeof(Closure),
                                  0,
                                  nullptr,
                                  &run_signal,
                                  nullptr,
                                  &nothing_to_destroy,
                                  nullptr,
                                  nullptr,
                                  nullptr};

/// Makes access `i` of a thief's copy, to an object of the thief's own whose cell is `data`.
void link_copy(Thread& thief, Closure& copy, std::uint32_t i, Mode mode, std::uint8_t alias_of,
               Object& object, Cell* data) {
    Access& access = copy.accesses()[i];
    const bool alias = alias_of != no_alias;
    copy.aliases = copy.aliases || alias;
    Access* root = alias ? copy.accesses() + alias_of : &object;
    const auto link = alias ? Access::Link::alias : Access::Link::object;
    access = {root, nullptr, 0, mode, link, static_cast<std::uint8_t>(i), 0};
    if (alias) return;
    thief.declare(object, *copy.type->formals[i].value, nullptr, data);
}

std::uint8_t alias_of(Closure& closure, std::uint32_t i) {
    const Access& access = closure.accesses()[i];
    return access.alias() ? access.root->index : no_alias;
}

Cell* renamed(const Thread& thief, const Formal& formal) {
    thief.threads().count_renaming();
    return formal.value->make();
}

Object* new_objects(Thread& thief, std::uint32_t count) {
    return static_cast<Object*>(thief.take(count * sizeof(Object)));
}

void add_signal(Thread& thief, const Signal& signal) {
    Closure& closure = new_closure(thief, signal_type);
    ::new (static_cast<void*>(closure.values())) Signal(signal);
    thief.add(closure);
}

bool reads(Mode mode) {
    return mode == Mode::r || mode == Mode::rw;
}

void begin_arrived(Thread& thief, const ClosureType& type, Parcel& parcel) {
    Reader reader(parcel.bytes);
    Closure& copy = new_closure(thief, type);
    Object* const objects = new_objects(thief, type.accesses);
    for (std::uint32_t i = 0; i < type.accesses; ++i) {
        const auto alias = reader.get<std::uint8_t>();
        const auto mode = reader.get<Mode>();
        if ((alias != no_alias && alias >= i) || mode > Mode::cw)
            throw runtime::MalformedMessage("a closure came that cannot be read");
        const bool input = alias == no_alias && reads(mode);
        Cell* const data = alias != no_alias ? nullptr
                           : input           ? type.formals[i].value->make()
                                             : renamed(thief, type.formals[i]);
        if (input) type.formals[i].value->read(*data, reader);
        link_copy(thief, copy, i, mode, alias, objects[i], data);
    }
    type.read_values(copy, reader);
    if (!reader.done()) throw runtime::MalformedMessage("a closure came that cannot be read");
    parcel.keeper.reset();
    thief.add(copy);
    add_signal(thief, {nullptr, nullptr, parcel.home, parcel.id, &type, copy.accesses(), objects});
}

/// Once for each way: a closure that came may go on to a third node.
std::uint64_t pack(runtime::Node& /*node*/, const std::byte* payload, Writer& writer) {
    const std::unique_ptr<Parcel> parcel(parcel_in(payload));
    if (parcel->begins_keeper) {
        writer.put_bytes(std::move(*parcel->keeper));
    } else {
        parcel->put_heading(writer).put_bytes(parcel->bytes);
    }
    return 0;
}

bool unpack(runtime::Node& /*node*/, std::byte* payload, Reader& reader) {
    auto parcel = std::make_unique<Parcel>();
    parcel->home = reader.get<NodeId>();
    parcel->id = reader.get<std::uint64_t>();
    parcel->bytes = reader.get_bytes(reader.get_size());
    if (!reader.ok()) return false;
    parcel->keeper = reader.keeper();
    if (!parcel->keeper) {
        parcel->keeper = std::make_shared<Bytes>(parcel->bytes.begin(), parcel->bytes.end());
        parcel->bytes = *parcel->keeper;
    }
    const Parcel* const address = parcel.release();
    std::memcpy(payload, &address, sizeof address);
    return true;
}

constexpr runtime::Cargo cargo{&pack, &unpack};

}  // namespace

namespace {

/// Filled before `main`.
std::vector<const ClosureType*>& closure_types() {
    static std::vector<const ClosureType*> types;
    return types;
}

}  // namespace

const ClosureType* closure_type_of(runtime::TaskTypeId id) {
    for (const ClosureType* type : closure_types())
        if (type->task->id() == id) return type;
    return nullptr;
}

runtime::TaskType::Special travelling_special(const ClosureType& type) {
    closure_types().push_back(&type);
    runtime::TaskType::Special special;
    special.cargo = &cargo;
    special.drop_arguments = [](std::byte* payload) {
        const std::unique_ptr<Parcel> parcel(parcel_in(payload));
    };
    special.end = runtime::TaskType::End::detached;
    special.records = runtime::TaskType::Records::itself;
    return special;
}

void start_arrived(runtime::Worker& worker, const std::byte* payload, const ClosureType& type) {
    const std::shared_ptr<Parcel> parcel(parcel_in(payload));
    worker.discount_task();
    worker.node().state<Threads>().start_thief(
        worker, worker.take_victim(), [parcel, &type](Thread& own) { begin_arrived(own, type, *parcel); });
}

namespace {

/// Takes the inputs. `writer` has what comes before them.
void write_inputs(Closure& closure, Writer& writer) {
    const ClosureType& type = *closure.type;
    bool first = true;
    for (std::uint32_t i = 0; i < type.accesses; ++i) {
        Access& access = closure.accesses()[i];
        writer.put(alias_of(closure, i)).put(access.mode);
        if (access.alias() || !reads(access.mode)) continue;
        const std::size_t before = writer.bytes().size();
        Cell& input = *std::exchange(access.data, nullptr);
        type.formals[i].value->write(input, writer);
        release(input, *type.formals[i].value);
        // A task's inputs are often of one size. Without room each would move those before it.
        if (std::exchange(first, false))
            writer.reserve((type.accesses - i - 1) * (writer.bytes().size() - before));
    }
}

/// The writer has what it is, with a heading of a short size before it.
std::unique_ptr<Parcel> parcel_of(Writer& writer, NodeId home, std::uint64_t id) {
    auto parcel = std::make_unique<Parcel>();
    parcel->home = home;
    parcel->id = id;
    parcel->keeper = writer.take_body();
    parcel->bytes = std::span<const std::byte>(*parcel->keeper).subspan(Parcel::heading_bytes);
    Writer heading;
    parcel->put_heading(heading);
    parcel->begins_keeper = heading.bytes().size() == Parcel::heading_bytes;
    if (parcel->begins_keeper)
        std::memcpy(parcel->keeper->data(), heading.bytes().data(), Parcel::heading_bytes);
    return parcel;
}

}  // namespace

void send_closure(Closure& closure, std::uint64_t id, runtime::Gift& gift) {
    const ClosureType& type = *closure.type;
    Writer writer;
    writer.put(std::array<std::byte, Parcel::heading_bytes>{});
    write_inputs(closure, writer);
    type.write_values(closure, writer);
    type.destroy_values(closure);
    closure.moved = true;
    const Parcel* const address = parcel_of(writer, gift.node().id(), id).release();
    std::array<std::byte, sizeof address> payload{};
    std::memcpy(payload.data(), &address, sizeof address);
    gift.add(*type.task, payload.data());
}

void receive_outputs(runtime::Node& node, std::span<const std::byte> message) {
    Reader head(message);
    const auto id = head.get<std::uint64_t>();
    head.check();
    const runtime::Body body = node.take_body();
    Reader reader(body ? std::span<const std::byte>(*body) : head.get_rest());
    const auto [victim, closure] = node.state<Threads>().returns(id);
    const ClosureType& type = *closure->type;
    std::vector<Cell*> outputs(type.accesses, nullptr);
    for (std::uint32_t i = 0; i < type.accesses; ++i) {
        if (!is_output(closure->accesses()[i])) continue;
        outputs[i] = type.formals[i].value->make();
        type.formals[i].value->read(*outputs[i], reader);
    }
    if (!reader.done()) throw runtime::MalformedMessage("its outputs cannot be read");
    victim->terminated(*closure, outputs, node.receiver());
}

void begin_stolen(Thread& thief, Thread& victim, Closure& closure) {
    const ClosureType& type = *closure.type;
    Closure& copy = new_closure(thief, type);
    Object* const objects = new_objects(thief, type.accesses);
    for (std::uint32_t i = 0; i < type.accesses; ++i) {
        Access& access = closure.accesses()[i];
        Cell* data = nullptr;
        if (!access.alias())
            data = reads(access.mode) ? std::exchange(access.data, nullptr) : renamed(thief, type.formals[i]);
        link_copy(thief, copy, i, access.mode, alias_of(closure, i), objects[i], data);
    }
    type.move_values(copy, closure);
    closure.moved = true;
    thief.add(copy);
    add_signal(thief, {&victim, &closure, 0, 0, &type, copy.accesses(), objects});
}

void join_alias(Closure& closure, Access& before, Access& access) {
    const Formal* const formals = closure.type->formals;
    const bool together = formals[before.index].merge == formals[access.index].merge;
    before.mode = together ? both(before.mode, access.mode) : Mode::rw;
    access.link = Access::Link::alias;
    access.root = &before;
    closure.aliases = true;
}

std::string function_name(const ClosureType& type) {
    return runtime::function_in(runtime::readable(type.task->name()));
}

void refuse_to_travel(const ClosureType& type) {
    throw Error(fmt::format("the task {} has a parameter that cannot travel, and the run has several nodes",
                            function_name(type)),
                "say how its type travels (heddle::runtime::Serialize), or run on one node");
}

void refuse_read() {
    throw Error(
        "a task reads a shared object to which no task has written before",
        "fork a task that writes it first, or declare it with a value: shared<T> object(self, value)");
}

void refuse_write() {
    throw Error("a task writes a shared object, or passes it on, after it has passed it on to be written",
                "let a body that has an object as shared_w fork the task that writes it last");
}

}  // namespace heddle::dataflow
