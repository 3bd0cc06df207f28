// Makes a graph of closures that were forked and not run.
#include "model/dataflow/recording.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "runtime/core/readable.hpp"
#include "runtime/core/task_type.hpp"

namespace heddle::dataflow {

void Recording::build(Closure* first, const GroupRecorder& recorder) {
    for (Closure* closure = first; closure; closure = closure->next) add(*closure, recorder);
    connect(recorder);
}

void Recording::add(Closure& closure, const GroupRecorder& recorder) {
    const ClosureType& type = *closure.type;
    const std::string name = runtime::readable(type.task->name());
    if (!type.task->travels()) {
        throw Error(fmt::format("the task {} has a parameter that cannot travel, and a group needs copies", name),
                    "say how its type travels (heddle::runtime::Serialize)");
    }
    Task task{&type, {}, std::vector<Use>(type.accesses)};
    for (std::uint32_t i = 0; i < type.accesses; ++i) {
        const Access& access = closure.accesses()[i];
        Use& use = task.uses[i];
        use.mode = access.mode;
        if (access.alias) {
            use.same = access.root->index;
            use.object = task.uses[use.same].object;
            continue;
        }
        use.object = object_of(*access.root, *type.formals[i].value, recorder);
        Object& object = objects_[use.object];
        if (use.mode != Mode::w) use.reads = object.last;
        if (use.mode == Mode::r && object.last == object.first && !access.root->data->written) {
            throw Error(fmt::format("the task {} reads a shared object to which neither a task of its group nor the "
                                    "program has written before",
                                    name),
                        "fork a task that writes it first, or declare it with a value");
        }
        if (use.mode == Mode::r) continue;
        use.writes = object.last = static_cast<std::uint32_t>(versions_.size());
        versions_.push_back({use.object, static_cast<std::uint32_t>(tasks_.size())});
    }
    runtime::Writer writer;
    type.write_values(closure, writer);
    type.destroy_values(closure);
    task.arguments.assign(writer.bytes().begin(), writer.bytes().end());
    tasks_.push_back(std::move(task));
}

std::uint32_t Recording::object_of(Access& root, const ValueType& type, const GroupRecorder& recorder) {
    const auto [found, is_new] = numbers_.emplace(&root, static_cast<std::uint32_t>(objects_.size()));
    if (is_new) {
        const auto said = recorder.bytes_.find(&root);
        const auto version = static_cast<std::uint32_t>(versions_.size());
        const double bytes =
            said != recorder.bytes_.end() ? said->second : static_cast<double>(type.bytes(*root.data));
        objects_.push_back({&root, &type, bytes, version, version});
        versions_.push_back({found->second, none});
    }
    return found->second;
}

void Recording::connect(const GroupRecorder& recorder) {
    TaskGraphBuilder builder;
    const auto count = static_cast<TaskIndex>(tasks_.size());
    data_ = static_cast<DatumIndex>(objects_.size());
    for (TaskIndex index = 0; index < count; ++index) {
        const auto said = recorder.tasks_.find(index);
        const GroupRecorder::Said what = said == recorder.tasks_.end() ? GroupRecorder::Said{} : said->second;
        builder.add_task(what.work, what.name);
        std::uint32_t written = none;
        for (const Use& use : tasks_[index].uses) {
            if (use.writes != none && written == none) written = use.object;
            if (use.reads == none || versions_[use.reads].writer == none) continue;
            builder.add_edge(versions_[use.reads].writer, index, objects_[use.object].bytes);
        }
        written_.push_back(written == none ? data_++ : written);
    }
    graph_ = builder.build();
}

}  // namespace heddle::dataflow
