// Writes a trace in the Paje format: its header of event kinds, then an event a line.
#include "results/paje_trace.hpp"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <utility>

namespace heddle::results {

namespace {

/// Kinds of events, by the number that stands for them in this file.
enum PajeKind : int {
    define_container_type,
    define_state_type,
    define_entity_value,
    define_link_type,
    create_container,
    destroy_container,
    set_state,
    push_state,
    pop_state,
    start_link,
    end_link,
    push_task,
    pop_task,
};

using Fields = std::initializer_list<std::pair<const char*, const char*>>;

std::string defined(PajeKind kind, const char* event, Fields fields) {
    std::string text = fmt::format("%EventDef {} {}\n", event, static_cast<int>(kind));
    for (const auto& [field, type] : fields) text += fmt::format("%  {} {}\n", field, type);
    return text + "%EndEventDef\n";
}

std::string definitions() {
    constexpr std::pair time{"Time", "date"};
    constexpr std::pair alias{"Alias", "string"}, type{"Type", "string"}, name{"Name", "string"};
    constexpr std::pair container{"Container", "string"}, value{"Value", "string"}, key{"Key", "string"};
    return defined(define_container_type, "PajeDefineContainerType", {alias, type, name}) +
           defined(define_state_type, "PajeDefineStateType", {alias, type, name}) +
           defined(define_entity_value, "PajeDefineEntityValue", {alias, type, name, {"Color", "color"}}) +
           defined(define_link_type, "PajeDefineLinkType",
                   {alias, type, {"StartContainerType", "string"}, {"EndContainerType", "string"}, name}) +
           defined(create_container, "PajeCreateContainer", {time, alias, type, container, name}) +
           defined(destroy_container, "PajeDestroyContainer", {time, type, name}) +
           defined(set_state, "PajeSetState", {time, type, container, value}) +
           defined(push_state, "PajePushState", {time, type, container, value}) +
           defined(pop_state, "PajePopState", {time, type, container}) +
           defined(start_link, "PajeStartLink",
                   {time, type, container, value, {"StartContainer", "string"}, key}) +
           defined(end_link, "PajeEndLink", {time, type, container, value, {"EndContainer", "string"}, key}) +
           defined(push_task, "PajePushState",
                   {time,
                    type,
                    container,
                    value,
                    {"Task", "string"},
                    {"TaskName", "string"},
                    {"Placed", "string"},
                    {"StolenFrom", "string"},
                    {"Ready", "string"}}) +
           defined(pop_task, "PajePopState",
                   {time, type, container, {"Flops", "double"}, {"MemoryBytes", "double"}});
}

// Types: C the whole cluster, N a node, W a worker, M a module; A what a worker does, T its tasks, B what a
// module does, L a message.
constexpr const char* cluster = "cluster";

std::string types() {
    // Colours that differ in lightness too: working is green, stealing orange, waiting red, idle almost
    // white.
    constexpr std::array colors = {"0.20 0.63 0.17", "0.12 0.47 0.71", "1.00 0.60 0.00", "0.89 0.10 0.11",
                                   "0.90 0.90 0.90"};
    static_assert(colors.size() == all_activities.size());
    std::string text = fmt::format(
        "{0} C 0 Cluster\n{0} N C Node\n{0} W N Worker\n{0} M N Module\n{1} A W Activity\n{1} B M Message\n"
        "{1} T W Task\n{2} L C M M Message\n",
        static_cast<int>(define_container_type), static_cast<int>(define_state_type),
        static_cast<int>(define_link_type));
    for (const Activity activity : all_activities) {
        text += fmt::format("{} {} A {} \"{}\"\n", static_cast<int>(define_entity_value), name(activity),
                            name(activity), colors[static_cast<std::size_t>(activity)]);
    }
    return text +
           fmt::format("{} message B message \"0.42 0.24 0.60\"\n", static_cast<int>(define_entity_value));
}

/// Seconds with twelve decimals: whole picoseconds.
std::string shown(Time time) {
    constexpr std::int64_t second = 1'000'000'000'000;
    return fmt::format("{}.{:012}", time.count() / second, time.count() % second);
}

std::string container(WorkerId worker) {
    return fmt::format("w{}.{}", worker.node, worker.core);
}
std::string sender(NodeId node) {
    return fmt::format("s{}", node);
}
std::string receiver(NodeId node) {
    return fmt::format("r{}", node);
}

std::string created(const char* type, const std::string& alias, const std::string& parent,
                    const std::string& name) {
    return fmt::format("{} {} {} {} {} \"{}\"\n", static_cast<int>(create_container), shown(Time::zero()),
                       alias, type, parent, name);
}
std::string destroyed(Time time, const char* type, const std::string& alias) {
    return fmt::format("{} {} {} {}\n", static_cast<int>(destroy_container), shown(time), type, alias);
}
std::string link(PajeKind kind, Time time, const MessageNote& message, const std::string& end) {
    return fmt::format("{} {} L {} {} {} {}.{}\n", static_cast<int>(kind), shown(time), cluster,
                       message.bytes, end, message.from, message.number);
}
std::string pushed(Time time, const std::string& module) {
    return fmt::format("{} {} B {} message\n", static_cast<int>(push_state), shown(time), module);
}
constexpr std::array kernel_colors = {"0.12 0.47 0.71", "0.89 0.10 0.11", "0.20 0.63 0.17", "1.00 0.50 0.00",
                                      "0.42 0.24 0.60", "0.69 0.35 0.16", "0.98 0.60 0.60", "0.65 0.81 0.89"};

/// A text in quotes, on one line and without quotes inside: the format has no escapes. Empty ones are "-",
/// because pj_dump loses count of the fields where one is empty.
std::string quoted(std::string text) {
    if (text.empty()) text = "-";
    for (char& c : text) {
        if (c == '"') c = '\'';
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    return '"' + text + '"';
}
std::string popped(Time time, const std::string& module) {
    return fmt::format("{} {} B {}\n", static_cast<int>(pop_state), shown(time), module);
}

}  // namespace

void PajeTrace::begin(NodeId nodes, CoreId cores) {
    nodes_ = nodes;
    cores_ = cores;
    sink_.write(definitions() + types() + created("C", cluster, "0", cluster));
    for (NodeId node = 0; node < nodes; ++node) {
        const std::string alias = fmt::format("n{}", node);
        std::string text = created("N", alias, cluster, fmt::format("node {}", node));
        for (CoreId core = 0; core < cores; ++core) {
            text += created("W", container(WorkerId{node, core}), alias,
                            fmt::format("node {} worker {}", node, core));
        }
        text += created("M", sender(node), alias, fmt::format("node {} sender", node));
        text += created("M", receiver(node), alias, fmt::format("node {} receiver", node));
        sink_.write(text);
    }
}

void PajeTrace::state(WorkerId worker, Activity activity, Time time, bool /*first*/) {
    sink_.write(fmt::format("{} {} A {} {}\n", static_cast<int>(set_state), shown(time), container(worker),
                            name(activity)));
}

void PajeTrace::send_begins(const MessageNote& message, Time time) {
    sink_.write(pushed(time, sender(message.from)) + link(start_link, time, message, sender(message.from)));
}

void PajeTrace::send_ends(const MessageNote& message, Time time) {
    sink_.write(popped(time, sender(message.from)));
}

void PajeTrace::receive_begins(const MessageNote& message, Time time) {
    sink_.write(pushed(time, receiver(message.to)));
}

void PajeTrace::receive_ends(const MessageNote& message, Time time) {
    sink_.write(popped(time, receiver(message.to)) + link(end_link, time, message, receiver(message.to)));
}

void PajeTrace::task_begins(const TracedTask& task) {
    task_goes_on(task, task.begin);
}

void PajeTrace::task_pauses(const TracedTask& task, Time time) {
    task_ends(task, {}, time);
}

// A kernel gets its colour with its first task.
void PajeTrace::task_goes_on(const TracedTask& task, Time time) {
    const auto [entry, is_new] = kernels_.try_emplace(task.kernel, fmt::format("k{}", kernels_.size()));
    std::string text;
    if (is_new) {
        text = fmt::format("{} {} T {} \"{}\"\n", static_cast<int>(define_entity_value), entry->second,
                           quoted(task.kernel), kernel_colors[(kernels_.size() - 1) % kernel_colors.size()]);
    }
    text += fmt::format("{} {} T {} {} {} {} {} {} {}\n", static_cast<int>(push_task), shown(time),
                        container(task.worker), entry->second,
                        quoted(task.numbered() ? std::to_string(task.note.number) : ""), quoted(task.name),
                        quoted(task.placed ? show_worker(*task.placed) : ""),
                        quoted(task.stolen() ? show_worker(task.note.victim) : ""),
                        quoted(task.note.ready == never ? "" : shown(task.note.ready)));
    sink_.write(text);
}

void PajeTrace::task_ends(const TracedTask& task, const TaskWork& work, Time time) {
    sink_.write(fmt::format("{} {} T {} {} {}\n", static_cast<int>(pop_task), shown(time),
                            container(task.worker), work.flops, work.bytes));
}

void PajeTrace::states_end(Time time) {
    for (NodeId node = 0; node < nodes_; ++node) {
        for (CoreId core = 0; core < cores_; ++core)
            sink_.write(destroyed(time, "W", container(WorkerId{node, core})));
    }
}

void PajeTrace::end(Time time) {
    for (NodeId node = 0; node < nodes_; ++node) {
        sink_.write(destroyed(time, "M", sender(node)) + destroyed(time, "M", receiver(node)) +
                    destroyed(time, "N", fmt::format("n{}", node)));
    }
    sink_.write(destroyed(time, "C", cluster));
}

}  // namespace heddle::results
