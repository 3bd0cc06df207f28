// The keys of an experiment file, each with its kind, range, help, and how to read and print it.
#include "configs/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "base/paths.hpp"
#include "base/units.hpp"
#include "configs/name_field.hpp"
#include "configs/node_fields.hpp"
#include "configs/policy_settings.hpp"
#include "partitioners/place_graph.hpp"
#include "runtime/stealing/policy.hpp"

namespace heddle::configs {

namespace {

using Kind = Shape::Kind;

/// Runs `read`, and gives its error the key and the place of the value.
template <class Read>
void located(const std::string& key, const Value& value, Read read) {
    try {
        read();
    } catch (const Error& error) {
        throw Error(key + ": " + error.message(), error.advice(), value.where);
    }
}

// Each makes a field from an accessor: a function that gives a reference to the value in an experiment,
// constant or not.

template <class Access>
Field integer(std::string key, double at_least, double at_most, std::string help, Access access) {
    using Target = std::decay_t<std::invoke_result_t<Access, Experiment&>>;
    HEDDLE_ASSERT(Settings::fits<Target>(at_least) && Settings::fits<Target>(at_most));
    const Shape shape{Kind::integer, at_least, at_most};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                access(experiment) = static_cast<Target>(whole_number(value, key, shape));
            },
            [=](const Experiment& experiment) { return nlohmann::ordered_json(access(experiment)); }};
}

template <class Access>
Field time(std::string key, std::string help, Access access) {
    const Shape shape{Kind::time};
    return {
        key, shape, std::move(help),
        [=](Experiment& experiment, const Value& value) {
            const std::string text = scalar_text(value, key, shape);
            located(key, value, [&] { access(experiment) = parse_time(text); });
        },
        [=](const Experiment& experiment) { return nlohmann::ordered_json(print_time(access(experiment))); }};
}

template <class Access>
Field quantity(std::string key, Kind kind, double (*parse)(std::string_view), std::string (*print)(double),
               double at_least, double at_most, std::string help, Access access) {
    using Target = std::decay_t<std::invoke_result_t<Access, Experiment&>>;
    if constexpr (std::is_integral_v<Target>)
        HEDDLE_ASSERT(Settings::fits<Target>(at_least) && Settings::fits<Target>(at_most));
    const Shape shape{kind, at_least, at_most};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                const std::string text = scalar_text(value, key, shape);
                located(key, value, [&] {
                    const double parsed = parse(text);
                    if (parsed < at_least || parsed > at_most) {
                        throw Error(fmt::format("{} is out of range", value.described()),
                                    fmt::format("expected {} to {}", print(at_least), print(at_most)));
                    }
                    access(experiment) = static_cast<Target>(parsed);
                });
            },
            [=](const Experiment& experiment) {
                return nlohmann::ordered_json(print(static_cast<double>(access(experiment))));
            }};
}

/// A choice by name: `get` and `set` convert.
template <class Get, class Set>
Field choice(std::string key, const std::vector<std::string>& choices, std::string help, Get get, Set set) {
    const Shape shape{Kind::choice, 0, 0, choices};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                const std::string text = scalar_text(value, key, shape);
                const auto found = std::find(choices.begin(), choices.end(), text);
                if (found == choices.end()) {
                    throw Error(fmt::format("{}: unknown value \"{}\"", key, text),
                                nearest_advice(text, choices), value.where);
                }
                set(experiment, text, static_cast<std::size_t>(found - choices.begin()));
            },
            [=](const Experiment& experiment) { return nlohmann::ordered_json(get(experiment)); }};
}

template <class Access>
Field integers(std::string key, std::string help, Access access) {
    using Item = typename std::decay_t<std::invoke_result_t<Access, Experiment&>>::value_type;
    const Shape shape{Kind::integers, 1, 4e9};
    HEDDLE_ASSERT(Settings::fits<Item>(shape.at_least) && Settings::fits<Item>(shape.at_most));
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                if (value.kind != Value::Kind::list) {
                    throw Error(fmt::format("{}: expected a list, found {}", key, value.described()),
                                fmt::format("write it like `{}: [16, 4]`", key.substr(key.rfind('.') + 1)),
                                value.where);
                }
                auto& target = access(experiment);
                target.clear();
                for (const Value& item : value.children) {
                    target.push_back(static_cast<Item>(whole_number(item, key, shape)));
                }
            },
            [=](const Experiment& experiment) { return nlohmann::ordered_json(access(experiment)); }};
}

template <class Access>
Field text(std::string key, std::string help, Access access) {
    const Shape shape{Kind::text};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                access(experiment) = scalar_text(value, key, shape);
            },
            [=](const Experiment& experiment) { return nlohmann::ordered_json(access(experiment)); }};
}

/// A file, as the caller can open it.
template <class Access>
Field path(std::string key, std::string help, Access access) {
    const Shape shape{Kind::text};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                access(experiment) = path_from(scalar_text(value, key, shape), value.where);
            },
            [=](const Experiment& experiment) { return nlohmann::ordered_json(access(experiment)); }};
}

struct Overhead {
    const char* name;
    Time Overheads::*member;
    const char* help;
};

constexpr Overhead overheads[] = {
    {"fork", &Overheads::fork, "create a task and push it"},
    {"join", &Overheads::join, "pop a task that was not stolen"},
    {"steal_attempt", &Overheads::steal_attempt,
     "look at another worker of the node that has no task to give"},
    {"steal", &Overheads::steal, "take a task from another worker of the node"},
    {"steal_far", &Overheads::steal_far,
     "what looking at a worker of another socket costs more, with success or without"},
    {"sync", &Overheads::sync, "signal a sync slot"},
    {"strand", &Overheads::strand, "start a strand"},
    {"strand_switch", &Overheads::strand_switch, "go on with another strand"},
    {"token", &Overheads::token, "take a token from the node's token queue, or put one there"},
    {"message_enqueue", &Overheads::message_enqueue,
     "hand a message to the sender module (paid by the worker)"},
    {"message_send", &Overheads::message_send, "send one message (paid by the sender module)"},
    {"message_receive", &Overheads::message_receive,
     "receive one message and run its handler (paid by the receiver module)"},
    {"poll", &Overheads::poll, "look for messages, where schedule.modules is single (paid by the worker)"},
    {"poll_peer", &Overheads::poll_peer,
     "what each other node adds to a look for messages, as select() goes through all sockets: to each poll "
     "of a worker, or to each message_receive"},
    {"wake_up", &Overheads::wake_up, "from an unpark to the parked worker's next instruction"},
};

std::vector<std::string> topology_names() {
    std::vector<std::string> names;
    for (const auto topology : {Network::Topology::star, Network::Topology::fat_tree,
                                Network::Topology::torus, Network::Topology::dragonfly}) {
        names.emplace_back(heddle::name(topology));
    }
    return names;
}

void add_platform(std::vector<Field>& all) {
    all.push_back(integer(
        "platform.nodes", 1, 1e7, "SMP machines; natively the processes that take part",
        [](auto& e) -> auto& { return e.platform.nodes; }));
    all.push_back(integer(
        "platform.cores", 1, 65536, "cores of each node; natively by default the machine's own",
        [](auto& e) -> auto& { return e.platform.cores; }));
    all.push_back(choice(
        "platform.transport", {name(Transport::tcp), name(Transport::mpi)},
        "natively: what carries messages between the processes",
        [](const Experiment& e) { return name(e.transport); },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.transport = static_cast<Transport>(index);
        }));
    all.push_back(quantity(
        "platform.core_speed", Kind::flops, parse_flops, print_flops, 1, 1e18, "flops per second of a core",
        [](auto& e) -> auto& { return e.platform.core_speed; }));
    all.push_back(quantity(
        "platform.memory_bandwidth", Kind::bandwidth, parse_bandwidth, print_bandwidth, 1, 1e18,
        "bytes per second, shared by the cores of a node",
        [](auto& e) -> auto& { return e.platform.memory_bandwidth; }));
    all.push_back(quantity(
        "platform.disk.bandwidth", Kind::bandwidth, parse_bandwidth, print_bandwidth, 1, 1e18,
        "bytes per second of a node's disk, for input and output that a program declares",
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
        "platform.network.gap", "least time between two messages that leave one node (LogGP's g)",
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
    for (const Overhead& overhead : overheads) {
        all.push_back(time(
            fmt::format("platform.overheads.{}", overhead.name),
            overhead.help, [member = overhead.member](auto& e) -> auto& {
                return e.platform.overheads.*member;
            }));
    }
}

void add_schedule(std::vector<Field>& all) {
    using Amount = runtime::Stealing::Amount;
    using runtime::Modules;
    all.push_back(choice(
        "schedule.placement", partitioners::placement_names(), "where a task starts",
        [](const Experiment& e) { return e.schedule.placement; },
        [](Experiment& e, const std::string& name, std::size_t) { e.schedule.placement = name; }));
    all.push_back(choice(
        "schedule.stealing.victim", runtime::victim_policies(), "where an idle worker looks for work",
        [](const Experiment& e) { return e.schedule.stealing.victim; },
        [](Experiment& e, const std::string& name, std::size_t) { choose_policy(e, name); }));
    const std::vector<std::string> amounts{"one", "half", "donation"};  // in the order of Amount
    all.push_back(choice(
        "schedule.stealing.amount", amounts, "how many tasks another node gives at once",
        [=](const Experiment& e) { return amounts[static_cast<std::size_t>(e.schedule.stealing.amount)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.schedule.stealing.amount = static_cast<Amount>(index);
        }));
    all.push_back(integer(
        "schedule.stealing.requests", 1, 1e6, "steal requests that a node may have under way to others",
        [](auto& e) -> auto& { return e.schedule.stealing.requests; }));
    using Busy = runtime::Stealing::Busy;
    all.push_back(choice(
        "schedule.stealing.busy", {"refuse", "wait"},
        "what a node does with a request while its workers have nothing to share: refuses it, or lets it "
        "wait "
        "until they have, or have no work any more",
        [](const Experiment& e) { return e.schedule.stealing.busy == Busy::refuse ? "refuse" : "wait"; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.schedule.stealing.busy = index == 0 ? Busy::refuse : Busy::wait;
        }));
    all.push_back(time(
        "schedule.stealing.back_off_min", "wait after the first round without success",
        [](auto& e) -> auto& { return e.schedule.stealing.back_off_min; }));
    all.push_back(time(
        "schedule.stealing.back_off_max",
        "longest wait between two rounds, unless back_off_share of the time without work is more",
        [](auto& e) -> auto& { return e.schedule.stealing.back_off_max; }));
    const std::string share = "schedule.stealing.back_off_share";
    const Shape at_most_one{Kind::number, 0, 1};
    all.push_back(
        {share, at_most_one,
         "where tasks are long, the longest wait is this share of the time without work, if that is more "
         "than back_off_max; 0: never",
         [=](Experiment& e, const Value& value) {
             e.schedule.stealing.back_off_share = number_in(value, share, at_most_one);
         },
         [](const Experiment& e) { return nlohmann::ordered_json(e.schedule.stealing.back_off_share); }});
    all.push_back(integer(
        "schedule.stealing.retries", 0, 1e9,
        "failed attempts before the policy's last resort (the longest wait, lifelines)",
        [](auto& e) -> auto& { return e.schedule.stealing.retries; }));
    static const std::vector<std::string> balancers{"none", "sender", "neighbours"};
    all.push_back(choice(
        "schedule.balancing.policy", balancers,
        "detached tasks (EARTH's tokens) that move unasked; sender: a node with many gives some to any node; "
        "neighbours: to the nodes beside it that have less",
        [](const Experiment& e) { return balancers[static_cast<std::size_t>(e.schedule.balancing.policy)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.schedule.balancing.policy = static_cast<runtime::Balancing::Policy>(index);
        }));
    all.push_back(integer(
        "schedule.balancing.threshold", 1, 1e6, "how many tasks are many, and what difference matters",
        [](auto& e) -> auto& { return e.schedule.balancing.threshold; }));
    static const std::vector<std::string> modules{"separate", "single"};
    all.push_back(choice(
        "schedule.modules", modules,
        "separate: a sender and a receiver beside a node's workers; single: workers send and receive "
        "themselves, and look for messages between tasks (natively over TCP only)",
        [](const Experiment& e) { return modules[e.schedule.modules == Modules::separate ? 0 : 1]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.schedule.modules = index == 0 ? Modules::separate : Modules::single;
        }));
    static const std::vector<std::string> queues{"worker", "node"};
    all.push_back(choice(
        "schedule.token_queue", queues,
        "where detached tasks that may leave the node (EARTH's tokens) wait: with the worker that made them, "
        "or in one queue of the node",
        [](const Experiment& e) { return queues[static_cast<std::size_t>(e.schedule.token_queue)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.schedule.token_queue = static_cast<runtime::TokenQueues>(index);
        }));
    all.push_back(integer(
        "schedule.deque_slots", 64, 1U << 30, "tasks that one worker can hold",
        [](auto& e) -> auto& { return e.schedule.deque_slots; }));
    all.push_back(quantity(
        "schedule.stack", Kind::bytes, parse_bytes, print_bytes, 65536, 1e12, "stack of one worker",
        [](auto& e) -> auto& { return e.schedule.stack_bytes; }));
    all.push_back(quantity(
        "schedule.strand_stack", Kind::bytes, parse_bytes, print_bytes, 16384, 1e9, "stack of one strand",
        [](auto& e) -> auto& { return e.schedule.strand_stack_bytes; }));
    all.push_back(quantity(
        "schedule.aggregate", Kind::bytes, parse_bytes, print_bytes, 0, 1U << 30,
        "small active messages to one node are sent together up to this size",
        [](auto& e) -> auto& { return e.schedule.aggregate_bytes; }));
}

void add_transport(std::vector<Field>& all) {
    static const std::vector<std::string> ways{"auto", "block", "poll"};
    all.push_back(choice(
        "transport.receive", ways,
        "natively, how a node waits for messages: auto looks for a short while after one has come, where a "
        "core "
        "is free, and then sleeps; block sleeps at once; poll always looks",
        [](const Experiment& e) { return ways[static_cast<std::size_t>(e.messages.receive)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.messages.receive = static_cast<Messages::Receive>(index);
        }));
    all.push_back(quantity(
        "transport.window", Kind::bytes, parse_bytes, print_bytes, 4096, 1e12,
        "natively, how much may be under way to one other node before workers wait; a larger message goes "
        "alone",
        [](auto& e) -> auto& { return e.messages.window_bytes; }));
}

std::vector<Field> make_fields() {
    std::vector<Field> all;
    all.push_back(name_field());
    add_platform(all);
    add_schedule(all);
    add_transport(all);
    all.push_back(choice(
        "backend", backend_names(), "the world that it runs in",
        [](const Experiment& e) { return name(e.backend); },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.backend = static_cast<Backend>(index);
        }));
    all.push_back(integer(
        "seed", 0, 9e15, "of all random choices", [](auto& e) -> auto& { return e.seed; }));
    all.push_back(integer(
        "repeat", 1, 1e6, "runs, with the seeds seed, seed + 1, ...",
        [](auto& e) -> auto& { return e.repeat; }));
    return all;
}

}  // namespace

const std::vector<Field>& fields() {
    static const std::vector<Field> all = make_fields();
    return all;
}

const Field* find_field(const std::string& key) {
    const auto found = std::find_if(fields().begin(), fields().end(),
                                    [&key](const Field& field) { return field.key == key; });
    return found == fields().end() ? nullptr : &*found;
}

bool is_section(const std::string& prefix) {
    return std::any_of(fields().begin(), fields().end(),
                       [&prefix](const Field& field) { return field.key.starts_with(prefix + "."); });
}

std::vector<std::string> names_below(const std::string& section) {
    std::vector<std::string> names;
    const std::string start = section.empty() ? "" : section + ".";
    for (const Field& field : fields()) {
        if (!field.key.starts_with(start)) continue;
        const std::string rest = field.key.substr(start.size());
        const std::string name = rest.substr(0, rest.find('.'));
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        if (section.empty() && name == "name") names.emplace_back("workload");
    }
    if (section.empty()) names.insert(names.end(), {"compare", "published"});
    return names;
}

Shape shape_of(const Setting& setting) {
    switch (setting.kind) {
        case SettingKind::integer:
            return {Kind::integer, setting.at_least, setting.at_most};
        case SettingKind::number:
            return {Kind::number, setting.at_least, setting.at_most};
        case SettingKind::boolean:
            return {Kind::boolean};
        case SettingKind::choice:
            return {Kind::choice, 0, 0, setting.choices};
        case SettingKind::time:
            return {Kind::time, setting.at_least, setting.at_most};
        case SettingKind::flops:
            return {Kind::flops, setting.at_least, setting.at_most};
        case SettingKind::bytes:
            return {Kind::bytes, setting.at_least, setting.at_most};
        case SettingKind::text:
        case SettingKind::input_path:
        case SettingKind::output_path:
            break;
    }
    return {Kind::text};
}

std::string scalar_text(const Value& value, const std::string& key, const Shape& shape) {
    if (value.kind != Value::Kind::scalar) {
        throw Error(fmt::format("{}: expected a single value, found {}", key, value.described()),
                    value.kind == Value::Kind::null ? "state a value or leave the key out" : "", value.where);
    }
    const bool number = shape.kind == Kind::integer || shape.kind == Kind::number ||
                        shape.kind == Kind::integers || shape.kind == Kind::boolean;
    if (number && value.quoted) {
        throw Error(
            fmt::format("{}: expected {}, found {}", key,
                        shape.kind == Kind::boolean ? "true or false" : "a number", value.described()),
            "leave the quotes out", value.where);
    }
    return value.text;
}

std::int64_t whole_number(const Value& value, const std::string& key, const Shape& shape) {
    const std::string text = scalar_text(value, key, shape);
    try {
        return parse_integer(text, shape.at_least, shape.at_most);
    } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", key, error.message()), error.advice(), value.where);
    }
}

std::vector<std::pair<std::string, Time>> overheads_by_name(const Overheads& costs) {
    std::vector<std::pair<std::string, Time>> named;
    for (const Overhead& overhead : overheads) named.emplace_back(overhead.name, costs.*overhead.member);
    return named;
}

}  // namespace heddle::configs
