// The keys of an experiment file, each with its kind, range, help, and how to read and print it.
#include "configs/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/units.hpp"
#include "configs/field_makers.hpp"
#include "configs/memory_fields.hpp"
#include "configs/name_field.hpp"
#include "configs/platform_fields.hpp"
#include "configs/policy_settings.hpp"
#include "partitioners/place_graph.hpp"
#include "runtime/stealing/policy.hpp"

namespace heddle::configs {

namespace {

using Kind = Shape::Kind;

void add_stealing(std::vector<Field>& all) {
    using Amount = runtime::Stealing::Amount;
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
}

void add_forks(std::vector<Field>& all) {
    static const std::vector<std::string> starts{"none", "tree"};
    all.push_back(choice(
        "schedule.start", starts,
        "how the first forks spread; none: they wait for thieves; tree: each worker sends its first forks to "
        "others, along a tree, until all workers of all nodes have work",
        [](const Experiment& e) { return starts[static_cast<std::size_t>(e.schedule.start)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.schedule.start = static_cast<runtime::Start>(index);
        }));
    static const std::vector<std::string> policies{"none", "queue_length", "node_length"};
    all.push_back(choice(
        "schedule.pruning.policy", policies,
        "when a fork is a plain call; queue_length: while enough tasks wait with the worker; node_length: "
        "with all workers of its node",
        [](const Experiment& e) { return policies[static_cast<std::size_t>(e.schedule.pruning.policy)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.schedule.pruning.policy = static_cast<runtime::Pruning::Policy>(index);
        }));
    all.push_back(integer(
        "schedule.pruning.threshold", 1, 1e6, "how many waiting tasks of a worker are enough",
        [](auto& e) -> auto& { return e.schedule.pruning.threshold; }));
    all.push_back(integer(
        "schedule.fork_window", 0, 1e12,
        "dataflow: a task that has forked so many tasks waits for them before it forks more, which bounds "
        "their "
        "memory; 0: it does not, unless the program says so",
        [](auto& e) -> auto& { return e.schedule.fork_window; }));
}

void add_schedule(std::vector<Field>& all) {
    using runtime::Modules;
    std::vector<std::string> placements = partitioners::placement_names();
    placements.emplace_back(partitioners::from_file);
    all.push_back(choice(
        "schedule.placement", placements, "where a task starts; file: as placement_file says",
        [](const Experiment& e) { return e.schedule.placement; },
        [](Experiment& e, const std::string& name, std::size_t) { e.schedule.placement = name; }));
    all.push_back(path(
        "schedule.placement_file",
        "for placement: file, a table with the worker of each task, relative to this file, such as `heddle "
        "run "
        "--tasks` writes",
        [](auto& e) -> auto& { return e.schedule.placement_file; }));
    add_forks(all);
    add_stealing(all);
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
    static const std::vector<std::string> modules{"separate", "single", "worker"};
    all.push_back(choice(
        "schedule.modules", modules,
        "separate: a sender and a receiver beside a node's workers; single: workers send and receive "
        "themselves, and look for messages between tasks (natively over TCP only); worker: each worker sends "
        "for itself, beside a receiver (natively as separate, whose workers write at once)",
        [](const Experiment& e) { return modules[static_cast<std::size_t>(e.schedule.modules)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.schedule.modules = static_cast<Modules>(index);
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
    add_memory_fields(all);
    all.push_back(time(
        "schedule.spin",
        "how long a worker without work looks before it sleeps, in a run of several nodes; 0s: it sleeps at "
        "once. In simulation waking it then takes overheads.wake_up_asleep more",
        [](auto& e) -> auto& { return e.schedule.spin; }));
    all.push_back(time(
        "schedule.spin_alone", "the same in a run of one node",
        [](auto& e) -> auto& { return e.schedule.spin_alone; }));
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
        "how a node waits for messages: natively auto looks for a short while after one has come, where a "
        "core "
        "is free, and then sleeps; block sleeps at once; poll always looks, which occupies a core, in "
        "simulation too",
        [](const Experiment& e) { return ways[static_cast<std::size_t>(e.messages.receive)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.messages.receive = static_cast<Messages::Receive>(index);
        }));
    static const std::vector<std::string> sends{"each", "sequence"};
    all.push_back(choice(
        "transport.send", sends,
        "in simulation, what a sender module sends at a time: each message, or all that wait for one node, "
        "as one; natively it always writes all that wait",
        [](const Experiment& e) { return sends[static_cast<std::size_t>(e.messages.send)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.messages.send = static_cast<Messages::Send>(index);
        }));
    static const std::vector<std::string> local{"shared_memory", "unix", "tcp"};
    all.push_back(choice(
        "transport.local", local,
        "natively, what connects processes of one machine: memory that both share, or Unix sockets, or TCP; "
        "if "
        "the first does not work between two of them, they take the next; tcp is as between machines, so "
        "with "
        "platform.transport: udp it is UDP",
        [](const Experiment& e) { return local[static_cast<std::size_t>(e.messages.local)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.messages.local = static_cast<Messages::Local>(index);
        }));
    static const std::vector<std::string> protections{"integrity", "encryption", "headers"};
    all.push_back(choice(
        "transport.protection", protections,
        "natively, how messages are protected on the way: integrity notices every change, encryption also "
        "hides what they say, headers notices no change of large data",
        [](const Experiment& e) { return protections[static_cast<std::size_t>(e.messages.protection)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.messages.protection = static_cast<Messages::Protection>(index);
        }));
    all.push_back(time(
        "transport.look",
        "with receive: auto, how long the receiver looks for another message before it sleeps",
        [](auto& e) -> auto& { return e.messages.look; }));
    all.push_back(time(
        "transport.gather",
        "natively, how long the sender lets the messages of a stream gather between two writes",
        [](auto& e) -> auto& { return e.messages.gather; }));
    all.push_back(quantity(
        "transport.window", Kind::bytes, parse_bytes, print_bytes, 4096, 1e12,
        "natively, how much may be under way to one other node before workers wait; a larger message goes "
        "alone",
        [](auto& e) -> auto& { return e.messages.window_bytes; }));
    all.push_back(text(
        "transport.interface",
        "natively, which of its machine's addresses a process listens on and connects from: an interface "
        "(eth1), a subnet (10.1.0.0/16, fd00::/64) or an address; empty: the one towards the meeting point",
        [](auto& e) -> auto& { return e.messages.interface; }));
    all.push_back(text(
        "transport.ports",
        "natively, the ports that the processes listen at, such as 40000-40100; empty: any that is free",
        [](auto& e) -> auto& { return e.messages.ports; }));
    all.push_back(time(
        "transport.meeting_time",
        "natively, how long a process waits for the others at the start; 0s: 10 seconds, and 0.1 for each",
        [](auto& e) -> auto& { return e.messages.meeting_time; }));
    all.push_back(quantity(
        "transport.udp.segment", Kind::bytes, parse_bytes, print_bytes, 0, 65000,
        "natively with platform.transport: udp, the largest datagram, at least 256B; 0B: what the network "
        "between "
        "two machines takes in one packet, and 32KiB at most",
        [](auto& e) -> auto& { return e.messages.udp_segment_bytes; }));
}

std::vector<Field> make_fields() {
    std::vector<Field> all;
    all.push_back(name_field());
    add_platform_fields(all);
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

}  // namespace heddle::configs
