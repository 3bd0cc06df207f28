// Reads workflows in WfFormat, the JSON format of WfCommons. It reads version 1.5, which separates
// specification and execution, earlier versions, and SimGrid's dialect of these.
#include <fmt/format.h>

#include <unordered_map>

#include "graphs/json_document.hpp"
#include "graphs/readers.hpp"
#include "graphs/workflow.hpp"

namespace heddle::graphs {

namespace {

using JsonKind = JsonValue::Kind;

/// The member `name` as a list; an empty list where it is absent.
std::vector<JsonValue> list_in(const JsonValue& object, std::string_view name, std::string_view whose) {
    std::vector<JsonValue> values;
    if (const auto list = object.find(name)) {
        list->expect(JsonKind::list, fmt::format("\"{}\" of {}", name, whose));
        for (const JsonValue value : *list) values.push_back(value);
    }
    return values;
}

std::string_view id_of(const JsonValue& task) {
    const auto id = task.find("id");
    return id ? id->text("the id of a task") : task.at("name", "a task").text("the name of a task");
}

std::string_view name_of(const JsonValue& task) {
    const auto name = task.find("name");
    return name ? name->text("the name of a task") : std::string_view();
}

std::string_view kernel_of(const JsonValue& task) {
    if (const auto command = task.find("command")) {
        if (const auto program = command->find("program")) return program->text("the program of a command");
    }
    const auto category = task.find("category");
    return category ? category->text("the category of a task") : std::string_view();
}

double runtime_of(const JsonValue& task, std::string_view id) {
    for (const char* name : {"runtimeInSeconds", "runtime"}) {
        if (const auto runtime = task.find(name))
            return runtime->weight(fmt::format("the runtime of task {}", id));
    }
    throw Error(fmt::format("task {} has no runtime", id), "expected \"runtimeInSeconds\"", task.where());
}

void add_relatives(Workflow& workflow, const JsonValue& task, std::string_view id) {
    for (const JsonValue parent : list_in(task, "parents", id)) {
        workflow.depends(id, parent.text(fmt::format("a parent of {}", id)), parent.line());
    }
    for (const JsonValue child : list_in(task, "children", id)) {
        workflow.depends(child.text(fmt::format("a child of {}", id)), id, child.line());
    }
}

GraphFile read_1_5(const JsonValue& root, const SourceText& source, const ReadOptions& options) {
    Workflow workflow(source, options);
    const JsonValue specification = root.at("specification", "the workflow");
    const auto execution = root.find("execution");
    if (!execution) {
        throw Error("the workflow has no \"execution\"", "the runtimes of tasks stand there", root.where());
    }
    std::unordered_map<std::string_view, JsonValue> executed;
    for (const JsonValue task : list_in(*execution, "tasks", "the execution")) {
        const std::string_view id = task.at("id", "a task of the execution").text("the id of a task");
        if (!executed.emplace(id, task).second)
            throw Error(fmt::format("task {} is executed twice", id), {}, task.where());
    }
    std::unordered_map<std::string_view, double> size_of;
    for (const JsonValue file : list_in(specification, "files", "the specification")) {
        const std::string_view id = file.at("id", "a file").text("the id of a file");
        const double size =
            file.at("sizeInBytes", fmt::format("the file {}", id)).weight(fmt::format("the size of {}", id));
        if (!size_of.emplace(id, size).second)
            throw Error(fmt::format("two files are called {}", id), {}, file.where());
    }
    const JsonValue tasks = specification.at("tasks", "the specification");
    tasks.expect(JsonKind::list, "\"tasks\"");
    for (const JsonValue task : tasks) {
        const std::string_view id = id_of(task);
        const auto run = executed.find(id);
        if (run == executed.end()) {
            throw Error(fmt::format("task {} has no runtime", id), "it does not appear in \"execution\"",
                        task.where());
        }
        const TaskIndex index = workflow.add_task(id, name_of(task), runtime_of(run->second, id),
                                                  kernel_of(run->second), task.line());
        const auto size = [&](const JsonValue& file) {
            const auto found = size_of.find(file.text(fmt::format("a file of {}", id)));
            return found == size_of.end() ? Workflow::unknown_size : found->second;
        };
        for (const JsonValue file : list_in(task, "inputFiles", id)) {
            workflow.reads(index, file.text("a file"), size(file), file.line());
        }
        for (const JsonValue file : list_in(task, "outputFiles", id)) {
            workflow.writes(index, file.text("a file"), size(file), file.line());
        }
        add_relatives(workflow, task, id);
    }
    return workflow.build();
}

void add_files(Workflow& workflow, TaskIndex index, const JsonValue& task, std::string_view id) {
    for (const JsonValue file : list_in(task, "files", id)) {
        const std::string whose = fmt::format("a file of task {}", id);
        const auto named = file.find("id") ? file.find("id") : file.find("name");
        if (!named) throw Error(whose + " has no \"name\"", {}, file.where());
        const std::string_view name = named->text(whose);
        double size = Workflow::unknown_size;
        for (const char* key : {"sizeInBytes", "size"}) {
            if (const auto given = file.find(key)) size = given->weight(fmt::format("the size of {}", name));
        }
        const std::string_view link = file.at("link", whose).text("\"link\"");
        if (link != "input" && link != "output") {
            throw Error(fmt::format("the file {} of task {} is neither input nor output", name, id), {},
                        file.where());
        }
        link == "input" ? workflow.reads(index, name, size, file.line())
                        : workflow.writes(index, name, size, file.line());
    }
}

/// SimGrid writes transfers as tasks of their own, with bytes instead of a runtime; here they are what edges
/// carry. In WfFormat a task of type transfer is one like any other.
bool is_simgrid_transfer(const JsonValue& task) {
    const auto type = task.find("type");
    return type && type->kind() == JsonKind::text && type->text("the type") == "transfer" &&
           task.find("writtenBytes") && !task.find("runtimeInSeconds") && !task.find("runtime");
}

GraphFile read_before_1_5(const JsonValue& root, const SourceText& source, const ReadOptions& options) {
    Workflow workflow(source, options);
    const JsonValue tasks = root.find("jobs") ? *root.find("jobs") : root.at("tasks", "the workflow");
    tasks.expect(JsonKind::list, "\"tasks\"");
    // SimGrid states flops where WfFormat states seconds.
    WorkUnit unit = WorkUnit::seconds;
    for (const JsonValue task : tasks) {
        const std::string_view id = id_of(task);
        if (is_simgrid_transfer(task)) {
            unit = WorkUnit::flops;
            const double bytes = task.at("writtenBytes", fmt::format("the transfer {}", id))
                                     .weight(fmt::format("the bytes of transfer {}", id));
            workflow.add_transfer(id, name_of(task), bytes, task.line());
        } else {
            const TaskIndex index =
                workflow.add_task(id, name_of(task), runtime_of(task, id), kernel_of(task), task.line());
            add_files(workflow, index, task, id);
        }
        add_relatives(workflow, task, id);
    }
    return workflow.build(unit);
}

}  // namespace

GraphFile read_wfformat(const SourceText& source, const ReadOptions& options) {
    const JsonDocument document(source);
    document.root().expect(JsonKind::object, "the file");
    if (!document.root().find("workflow"))
        source.refuse(document.root().line(), "the file has neither \"workflow\" nor \"heddle_graph\"",
                      "a graph in JSON is a WfCommons workflow, or one of Heddle's own");
    const JsonValue workflow = document.root().at("workflow", "the file");
    workflow.expect(JsonKind::object, "\"workflow\"");
    return workflow.find("specification") ? read_1_5(workflow, source, options)
                                          : read_before_1_5(workflow, source, options);
}

}  // namespace heddle::graphs
