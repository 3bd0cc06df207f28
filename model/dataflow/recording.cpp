// Makes a task graph of closures that were forked but not run.
#include "model/dataflow/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "model/dataflow/travel.hpp"
#include "runtime/core/task_type.hpp"

namespace heddle::dataflow {

void Recording::build(Closure* first, const GroupRecorder& recorder) {
    for (Closure* closure = first; closure; closure = closure->next) add(*closure, recorder);
    const auto count = static_cast<std::uint32_t>(objects_.size());
    for (std::uint32_t object = 0; object < count; ++object) combine(object);
    join_unread();
    build_graph();
}

/// If no task reads the first value of an object that the body declares, the object needs no other one.
void Recording::join_unread() {
    std::vector<bool> is_read(versions_.size());
    for (const Task& task : tasks_)
        for (const Use& use : task.uses)
            if (use.reads != none) is_read[use.reads] = true;
    for (std::uint32_t number = 0; number < objects_.size(); ++number) {
        Object& object = objects_[number];
        if (!object.declared || is_read[object.first]) continue;
        Access* const access = std::exchange(object.access, nullptr);
        objects_[number + 1].access = access;
        numbers_[access] = number + 1;
    }
}

void Recording::add(Closure& closure, const GroupRecorder& recorder) {
    const ClosureType& type = *closure.type;
    if (!type.task->travels()) {
        throw Error(fmt::format("the task {} has a parameter that cannot travel, and a group needs copies",
                                function_name(type)),
                    "say how its type travels (heddle::runtime::Serialize)");
    }
    const auto said = recorder.tasks_.find(forks_++);
    Task task{&type, {}, std::vector<Use>(type.accesses), 1, {}};
    if (said != recorder.tasks_.end()) std::tie(task.work, task.name) = said->second;
    for (std::uint32_t i = 0; i < type.accesses; ++i) add_use(closure, i, task, recorder);
    // The tasks that combine contributions before it have numbers now, so its own is known.
    for (const Use& use : task.uses)
        if (use.writes != none) versions_[use.writes].writer = static_cast<std::uint32_t>(tasks_.size());
    runtime::Writer writer;
    type.write_values(closure, writer);
    type.destroy_values(closure);
    task.arguments.assign(writer.bytes().begin(), writer.bytes().end());
    tasks_.push_back(std::move(task));
}

void Recording::add_use(Closure& closure, std::uint32_t i, Task& task, const GroupRecorder& recorder) {
    const Access& access = closure.accesses()[i];
    const Formal& formal = closure.type->formals[i];
    Use& use = task.uses[i];
    use.mode = access.mode;
    if (access.alias()) {
        use.same = access.root->index;
        use.object = task.uses[use.same].object;
        return;
    }
    const std::uint32_t number = object_of(*access.root, *formal.value, recorder);
    use.object = number;
    if (use.mode == Mode::cw && formal.combine) return contribute(number, formal, use);
    combine(number);
    Object& object = objects_[number];
    if (use.mode != Mode::w) use.reads = object.last;
    if (use.mode == Mode::r && versions_[object.last].writer == none && !access.root->data->written &&
        !access.root->is(Access::away) && !elsewhere_) {
        throw Error(
            fmt::format("the task {} reads a shared object to which neither a task of its group nor the "
                        "program has written before",
                        function_name(*closure.type)),
            "fork a task that writes it first, or declare it with a value");
    }
    if (use.mode != Mode::r) use.writes = object.last = new_version(number, none);
}

/// What the task accumulates becomes an object of its own.
void Recording::contribute(std::uint32_t object, const Formal& formal, Use& use) {
    if (objects_[object].combine != formal.combine) combine(object);
    const auto number = static_cast<std::uint32_t>(objects_.size());
    const std::uint32_t first = new_version(number, none);
    use.object = number;
    use.writes = new_version(number, none);
    objects_.push_back({nullptr, formal.value, objects_[object].bytes, first, use.writes});
    objects_[object].contributions.push_back(number);
    objects_[object].combine = formal.combine;
}

void Recording::combine(std::uint32_t number) {
    for (const std::uint32_t contribution : std::exchange(objects_[number].contributions, {})) {
        Object& object = objects_[number];
        Task task{object.combine, {}, std::vector<Use>(2), 0, "combine"};
        task.uses[0] = {number, Mode::rw, no_alias, object.last, none};
        task.uses[1] = {contribution, Mode::r, no_alias, objects_[contribution].last, none};
        task.uses[0].writes = object.last = new_version(number, static_cast<std::uint32_t>(tasks_.size()));
        tasks_.push_back(std::move(task));
    }
}

std::uint32_t Recording::new_version(std::uint32_t object, std::uint32_t writer) {
    versions_.push_back({object, writer});
    return static_cast<std::uint32_t>(versions_.size() - 1);
}

std::uint32_t Recording::object_of(Access& root, const ValueType& type, const GroupRecorder& recorder) {
    const auto [found, is_new] = numbers_.emplace(&root, static_cast<std::uint32_t>(objects_.size()));
    if (is_new) {
        const auto said = recorder.bytes_.find(&root);
        const double bytes =
            said != recorder.bytes_.end() ? said->second : static_cast<double>(type.bytes(*root.data));
        const std::uint32_t version = new_version(found->second, none);
        objects_.push_back({&root, &type, bytes, version, version});
        if (recorder.declared_.contains(&root)) {
            objects_.back().declared = true;
            objects_.push_back({nullptr, &type, bytes, new_version(found->second + 1, none), version});
        }
    }
    return found->second + (objects_[found->second].declared ? 1 : 0);
}

std::string Recording::describe(TaskIndex index) const {
    constexpr std::array modes{"r", "w", "rw", "cw"};
    const Task& task = tasks_[index];
    std::uint64_t sum = 0;
    for (const std::byte byte : task.arguments) sum = sum * 31 + static_cast<std::uint8_t>(byte);
    std::string text = function_name(*task.type);
    if (!task.name.empty()) text += ' ' + task.name;
    text += fmt::format(" of work {}", task.work);
    if (!task.arguments.empty()) text += fmt::format(", arguments {:x}", sum);
    for (const Use& use : task.uses) {
        const Object& object = objects_[use.object];
        text += fmt::format(", object {} ({}, {} bytes", use.object,
                            modes[static_cast<std::size_t>(use.mode)], object.bytes);
        if (use.reads != none)
            text += fmt::format(", of task {}", static_cast<std::int32_t>(versions_[use.reads].writer));
        text += ')';
    }
    return text;
}

void Recording::build_graph() {
    graph_ = graph_with(false, {});
    data_ = static_cast<DatumIndex>(objects_.size());
    for (const Task& task : tasks_) {
        const auto written =
            std::ranges::find_if(task.uses, [](const Use& use) { return use.writes != none; });
        written_.push_back(written == task.uses.end() ? data_++ : written->object);
    }
}

TaskGraph Recording::sent_graph(std::span<const double> work) const {
    return graph_with(true, work);
}

TaskGraph Recording::graph_with(bool all_bytes, std::span<const double> work) const {
    TaskGraphBuilder builder;
    for (TaskIndex index = 0; index < tasks_.size(); ++index) {
        builder.add_task(work.empty() ? tasks_[index].work : work[index], tasks_[index].name);
        for (const Use& use : tasks_[index].uses) {
            if (use.reads == none || versions_[use.reads].writer == none) continue;
            const Object& object = objects_[use.object];
            const double beside = all_bytes ? static_cast<double>(object.type->bytes_beside()) : 0;
            builder.add_edge(versions_[use.reads].writer, index, object.bytes + beside);
        }
    }
    return builder.build();
}

}  // namespace heddle::dataflow
