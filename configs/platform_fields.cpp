// Lists the keys of `platform` with ranges and help.
#include "configs/platform_fields.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/units.hpp"
#include "configs/field_makers.hpp"
#include "configs/network_fields.hpp"
#include "configs/node_fields.hpp"
#include "configs/sized_fields.hpp"

namespace heddle::configs {

namespace {

using Json = nlohmann::ordered_json;
using Kind = Shape::Kind;

struct Overhead {
    const char* name;
    Time Overheads::*member;
    const char* help;
};

constexpr Overhead overheads[] = {
    {"fork", &Overheads::fork, "create a task and push it"},
    {"join", &Overheads::join, "pop a task that was not stolen"},
    {"fork_shared", &Overheads::fork_shared,
     "added to a fork and its join if the task is shown to thieves at once: schedule.stealing.amount "
     "donation in "
     "a run of several nodes, and the tasks that wait with schedule.pruning"},
    {"closure", &Overheads::closure,
     "dataflow: added to the fork and join of a task, for its closure and accesses"},
    {"steal_attempt", &Overheads::steal_attempt,
     "look at another worker of the node that has no task to give"},
    {"steal", &Overheads::steal, "take a task from another worker of the node"},
    {"steal_far", &Overheads::steal_far,
     "what looking at a worker of another socket costs more, with success or without"},
    {"readiness", &Overheads::readiness,
     "dataflow: for each access that a thief looks at, to find a task that is ready (one thief of a thread "
     "at a "
     "time)"},
    {"sync", &Overheads::sync, "signal a sync slot"},
    {"strand", &Overheads::strand, "start a strand"},
    {"strand_switch", &Overheads::strand_switch, "go on with another strand"},
    {"token", &Overheads::token, "take a token from the node's token queue, or put one there"},
    {"compute", &Overheads::compute,
     "added to each piece of work that a program hands to the scheduler (Worker::compute), besides the work"},
    {"placed_task", &Overheads::placed_task,
     "task graphs: added for each task, besides token: its inputs, its record, what it hands on"},
    {"placed_input", &Overheads::placed_input, "task graphs: added for each input of a task, besides sync"},
    {"ready_elsewhere", &Overheads::ready_elsewhere,
     "added for each input of a task of a task graph that another worker of the node makes, or a message "
     "brings (paid there)"},
    {"message_enqueue", &Overheads::message_enqueue,
     "hand a message to the sender module (paid by the worker)"},
    {"message_send", &Overheads::message_send, "send one message (paid by the sender module)"},
    {"message_receive", &Overheads::message_receive,
     "receive one message and run its handler (paid by the receiver module)"},
    {"message_send_kib", &Overheads::message_send_kib, "added for each KiB of it: copies, checksums"},
    {"message_receive_kib", &Overheads::message_receive_kib, "the same where it arrives"},
    {"message_rouse", &Overheads::message_rouse,
     "added if the receiver of the message sleeps, and shares the sender's machine (paid by the sender)"},
    {"message_interrupt", &Overheads::message_interrupt,
     "added if the receiver of the message sleeps, and all cores of its node compute: one of them loses it"},
    {"message_match", &Overheads::message_match,
     "send a message at an endpoint, or receive one there: the worker pays it besides all others"},
    {"message_thread", &Overheads::message_thread,
     "messaging: added for each message that a thread sends, and for each that it receives: handles, small "
     "copies"},
    {"poll", &Overheads::poll, "look for messages, where schedule.modules is single (paid by the worker)"},
    {"poll_peer", &Overheads::poll_peer,
     "what each other node adds to a look for messages, as select() goes through all sockets: to each poll "
     "of a worker, or to each message_receive"},
    {"wake_up", &Overheads::wake_up, "from an unpark to the parked worker's next instruction"},
    {"wake_up_asleep", &Overheads::wake_up_asleep,
     "added to wake_up if the worker looks no more and sleeps (schedule.spin, spin_alone), and to the first "
     "message that a sleeping receiver gets"},
    {"wake_up_deep", &Overheads::wake_up_deep,
     "added to wake_up if the worker has been parked for deep_sleep or longer"},
    {"wake_up_message", &Overheads::wake_up_message,
     "added to wake_up if the handler of a message, or the end of a call of io, wakes the worker"},
    {"wake_up_receiving", &Overheads::wake_up_receiving,
     "from the end of a message's handler to the next instruction of a worker that receives itself, because "
     "one of its strands waits and nothing else is ready; 0: none does, and the strand is woken as others"},
    {"deep_sleep", &Overheads::deep_sleep, "a core that idles for so long sleeps deeply"},
    {"unpark", &Overheads::unpark,
     "wake a parked worker (paid by the worker, or by the module whose handler wakes it)"},
    {"page_fault", &Overheads::page_fault,
     "shared memory: from an access that a page does not permit to its handler, and back"},
    {"page_protect", &Overheads::page_protect,
     "shared memory: change what accesses one page, or one run of pages, permits"},
    {"page_fill", &Overheads::page_fill,
     "shared memory: put a fetched page in place, besides the copy of its bytes"},
    {"page_first", &Overheads::page_first,
     "shared memory: added when a node may access a page for the first time, which gives it memory"},
    {"page_diff_kib", &Overheads::page_diff_kib,
     "shared memory: for each KiB of a page that is copied to a twin, compared with it or patched"},
};

std::vector<std::string> topology_names() {
    std::vector<std::string> names;
    for (const auto topology : {Network::Topology::star, Network::Topology::fat_tree,
                                Network::Topology::torus, Network::Topology::dragonfly}) {
        names.emplace_back(heddle::name(topology));
    }
    return names;
}

Field memory_bandwidth() {
    const std::string key = "platform.memory_bandwidth";
    const Shape shape{Kind::bandwidths, 1, 1e18};
    return {key, shape,
            "bytes per second, shared by the cores of a machine; a list: while one core streams, two, three "
            "and so on, the last also for more",
            [=](Experiment& experiment, const Value& value) {
                std::vector<double> by_streams;
                const auto add = [&](const Value& item) {
                    by_streams.push_back(quantity_in(item, key, shape, parse_bandwidth, print_bandwidth));
                };
                if (value.kind == Value::Kind::list) {
                    for (const Value& item : value.children) add(item);
                } else {
                    add(value);
                }
                if (by_streams.empty()) {
                    throw Error(key + ": an empty list",
                                "state what one core gets, then what two get together, and so on",
                                value.where);
                }
                experiment.platform.memory_bandwidth = MemoryBandwidth(std::move(by_streams));
            },
            [](const Experiment& experiment) {
                const auto& by_streams = experiment.platform.memory_bandwidth.by_streams();
                if (by_streams.size() == 1) return Json(print_bandwidth(by_streams.front()));
                auto list = Json::array();
                for (const double bandwidth : by_streams) list.push_back(print_bandwidth(bandwidth));
                return list;
            }};
}

void add_platform(std::vector<Field>& all) {
    all.push_back(path(
        "platform.from",
        "a platform file, relative to this file, such as `heddle calibrate` writes: what it states holds "
        "unless a key beside this one states otherwise",
        [](auto& e) -> auto& { return e.platform_from; }));
    all.push_back(integer(
        "platform.nodes", 1, 1e7, "SMP machines; natively the processes that take part",
        [](auto& e) -> auto& { return e.platform.nodes; }));
    all.push_back(integer(
        "platform.nodes_at_start", 0, 1e7,
        "so many of the nodes begin the run, the others may join it later; 0: all begin it",
        [](auto& e) -> auto& { return e.platform.nodes_at_start; }));
    all.push_back(integer(
        "platform.processes", 1, 65536,
        "in simulation: so many neighbouring nodes share a machine, that is, its memory, disk and network "
        "card",
        [](auto& e) -> auto& { return e.platform.processes; }));
    all.push_back(time(
        "platform.shared_memory.latency", "of a message between two nodes of a machine",
        [](auto& e) -> auto& { return e.platform.shared_memory.latency; }));
    all.push_back(quantity(
        "platform.shared_memory.bandwidth", Kind::bandwidth, parse_bandwidth, print_bandwidth, 1, 1e18,
        "bytes per second from a node to one other of its machine",
        [](auto& e) -> auto& { return e.platform.shared_memory.bandwidth; }));
    all.push_back(integer(
        "platform.cores", 1, 65536, "cores of each node; natively by default the machine's own",
        [](auto& e) -> auto& { return e.platform.cores; }));
    all.push_back(choice(
        "platform.transport", {name(Transport::tcp), name(Transport::mpi), name(Transport::udp)},
        "natively: what carries messages between the processes",
        [](const Experiment& e) { return name(e.transport); },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.transport = static_cast<Transport>(index);
        }));
    all.push_back(quantity(
        "platform.core_speed", Kind::flops, parse_flops, print_flops, 1, 1e18, "flops per second of a core",
        [](auto& e) -> auto& { return e.platform.core_speed; }));
    all.push_back(kernel_speeds());
    all.push_back(choice(
        "platform.compute", {name(Compute::declared), name(Compute::measured)},
        "in simulation, how long code takes that a workload runs: declared: as long as its flops at "
        "core_speed; measured: as long as it took the processor of this machine, so that no two runs are "
        "alike",
        [](const Experiment& e) { return name(e.compute); },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.compute = static_cast<Compute>(index);
        }));
    all.push_back(memory_bandwidth());
    all.push_back(quantity(
        "platform.core_memory_bandwidth", Kind::bandwidth, parse_bandwidth, print_bandwidth, 0, 1e18,
        "bytes per second, the most that one core gets of them; 0Bps: no such limit",
        [](auto& e) -> auto& { return e.platform.core_memory_bandwidth; }));
    all.push_back(quantity(
        "platform.cache.line", Kind::bytes, parse_bytes, print_bytes, 1, 1e6,
        "what memory moves at a time: a copy of scattered pieces moves whole lines",
        [](auto& e) -> auto& { return e.platform.cache.line; }));
    all.push_back(quantity(
        "platform.cache.bytes", Kind::bytes, parse_bytes, print_bytes, 0, 1e15,
        "of each core: a copy moves a line once if the lines that it uses in turn fit",
        [](auto& e) -> auto& { return e.platform.cache.bytes; }));
    all.push_back(quantity(
        "platform.disk.bandwidth", Kind::bandwidth, parse_bandwidth, print_bandwidth, 1, 1e18,
        "bytes per second of a machine's disk, for input and output that a program declares",
        [](auto& e) -> auto& { return e.platform.disk.bandwidth; }));
    all.push_back(time(
        "platform.disk.latency", "of each read or write; a disk serves one after the other",
        [](auto& e) -> auto& { return e.platform.disk.latency; }));
    all.push_back(integer(
        "platform.sockets", 1, 65536, "of each node; its cores are divided evenly among them",
        [](auto& e) -> auto& { return e.platform.sockets; }));
    add_node_fields(all);
    all.push_back(integers(
        "platform.clusters", "natively: how many neighbouring nodes are near each other, cluster by cluster",
        [](auto& e) -> auto& { return e.platform.clusters; }));
    all.push_back(path(
        "platform.file", "a SimGrid platform file, relative to this file; its hosts are the nodes",
        [](auto& e) -> auto& { return e.platform.file; }));
}

void add_network(std::vector<Field>& all) {
    all.push_back(choice(
        "platform.network.topology", topology_names(), "how the nodes are connected",
        [](const Experiment& e) { return heddle::name(e.platform.network.topology); },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.platform.network.topology = static_cast<Network::Topology>(index);
        }));
    all.push_back(quantity(
        "platform.network.bandwidth", Kind::bandwidth, parse_bandwidth, print_bandwidth, 1, 1e18,
        "of each link in each direction", [](auto& e) -> auto& { return e.platform.network.bandwidth; }));
    all.push_back(time(
        "platform.network.latency", "of one link",
        [](auto& e) -> auto& { return e.platform.network.latency; }));
    all.push_back(time(
        "platform.network.gap", "least time between two messages that leave one machine (LogGP's g)",
        [](auto& e) -> auto& { return e.platform.network.gap; }));
    all.push_back(integers(
        "platform.network.shape",
        "fat_tree: nodes of a leaf switch, then children of a switch of each higher level; torus: "
        "extent of each dimension; dragonfly: groups, chassis of a group, routers of a chassis, "
        "nodes of a router",
        [](auto& e) -> auto& { return e.platform.network.shape; }));
    all.push_back(integers(
        "platform.network.cables", "fat_tree: parallel cables to each parent, a level each",
        [](auto& e) -> auto& { return e.platform.network.cables; }));
    all.push_back(choice(
        "platform.network.contention",
        {heddle::name(Network::Contention::full), heddle::name(Network::Contention::exact),
         heddle::name(Network::Contention::none)},
        "how messages share links: full: large ones in SimGrid, small ones are calculated; exact: all in "
        "SimGrid, which is slow; none: every message has the network to itself, as task schedulers assume",
        [](const Experiment& e) { return heddle::name(e.platform.network.contention); },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.platform.network.contention = static_cast<Network::Contention>(index);
        }));
    all.push_back(quantity(
        "platform.network.small_message_bytes", Kind::bytes, parse_bytes, print_bytes, 0, 1e15,
        "messages below this size are small: calculated, unless contention is exact",
        [](auto& e) -> auto& { return e.platform.network.small_message_bytes; }));
    all.push_back(choice(
        "platform.network.cost_model",
        {heddle::name(Network::CostModel::CM02), heddle::name(Network::CostModel::LV08)},
        "SimGrid's: CM02 takes latency and bandwidth as written, LV08 multiplies them by 13.01 and 0.97",
        [](const Experiment& e) { return heddle::name(e.platform.network.cost_model); },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.platform.network.cost_model = static_cast<Network::CostModel>(index);
        }));
    add_network_fields(all);
    for (const Overhead& overhead : overheads) {
        all.push_back(time(
            fmt::format("platform.overheads.{}", overhead.name),
            overhead.help, [member = overhead.member](auto& e) -> auto& {
                return e.platform.overheads.*member;
            }));
    }
    all.push_back(message_bytes());
}

}  // namespace

void add_platform_fields(std::vector<Field>& all) {
    add_platform(all);
    add_network(all);
}

std::vector<std::pair<std::string, Time>> overheads_by_name(const Overheads& costs) {
    std::vector<std::pair<std::string, Time>> named;
    for (const Overhead& overhead : overheads) named.emplace_back(overhead.name, costs.*overhead.member);
    return named;
}

}  // namespace heddle::configs
