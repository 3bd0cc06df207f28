// Reads and prints the keys of `schedule.memory`: protocol, pages, placement, trigger.
#include "configs/memory_fields.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "configs/field_makers.hpp"
#include "workloads/memory_protocols.hpp"

namespace heddle::configs {

namespace {

using Kind = Shape::Kind;

Field page_field() {
    const std::string key = "schedule.memory.page";
    constexpr double least = 4096;
    constexpr double most = 1 << 20;
    Field field = quantity(
        key, Kind::bytes, parse_bytes, print_bytes, least, most,
        "what moves between nodes: a multiple of 4KiB",
        [](auto& e) -> auto& { return e.schedule.memory.page_bytes; });
    field.read = [read = field.read, key](Experiment& experiment, const Value& value) {
        read(experiment, value);
        if (experiment.schedule.memory.page_bytes % 4096 != 0)
            throw Error(fmt::format("{}: {} is no multiple of 4KiB", key, value.described()),
                        "a node protects whole pages of its system, so write 4KiB, 8KiB, 64KiB, ...",
                        value.where);
    };
    return field;
}

}  // namespace

void add_memory_fields(std::vector<Field>& all) {
    using runtime::SharedPages;
    all.push_back(choice(
        "schedule.memory.protocol", workloads::memory_protocols(),
        "what makes the pages of shared memory one memory",
        [](const Experiment& e) { return e.schedule.memory.protocol; },
        [](Experiment& e, const std::string& name, std::size_t) { e.schedule.memory.protocol = name; }));
    all.push_back(page_field());
    all.push_back(integer(
        "schedule.memory.group", 1, 4096, "so many pages move together, as if they were one",
        [](auto& e) -> auto& { return e.schedule.memory.group; }));
    all.push_back(integer(
        "schedule.memory.prefetch", 0, 4096, "so many pages after one that is asked for are asked for too",
        [](auto& e) -> auto& { return e.schedule.memory.prefetch; }));
    static const std::vector<std::string> placements{"block", "cyclic", "first"};
    all.push_back(choice(
        "schedule.memory.placement", placements,
        "where pages begin: block: equal parts of each array, in the order of nodes; cyclic: each on another "
        "node; first: at the node that first touches it",
        [](const Experiment& e) { return placements[static_cast<std::size_t>(e.schedule.memory.placement)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.schedule.memory.placement = static_cast<SharedPages::Placement>(index);
        }));
    static const std::vector<std::string> triggers{"automatic", "userfaultfd", "mprotect", "checked"};
    all.push_back(choice(
        "schedule.memory.trigger", triggers,
        "how an access to a page that is not there is noticed: by the hardware, in one of two ways of the "
        "system, or checked: the program says what it touches",
        [](const Experiment& e) { return triggers[static_cast<std::size_t>(e.schedule.memory.trigger)]; },
        [](Experiment& e, const std::string&, std::size_t index) {
            e.schedule.memory.trigger = static_cast<runtime::Trigger>(index);
        }));
}

}  // namespace heddle::configs
