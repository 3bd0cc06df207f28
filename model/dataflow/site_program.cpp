// Divides a recorded task graph into the programs of a group's threads, one for each worker.
#include "model/dataflow/site_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "model/dataflow/travel.hpp"
#include "runtime/core/task_type.hpp"

namespace heddle::dataflow {

namespace {

using Kind = SiteProgram::Kind;
using When = SiteProgram::When;
using Step = SiteProgram::Step;
constexpr std::uint32_t none = Recording::none;

/// What the threads must know of each version: which of them read it.
class Readers {
public:
    Readers(const Recording& recording, const GroupPlacing& placing)
        : of_version_(recording.versions().size()) {
        for (const TaskIndex task : placing.sequence)
            for (const Recording::Use& use : recording.tasks()[task].uses)
                if (use.reads != none) ++of_version_[use.reads][placing.of_task[task]];
    }
    const std::map<WorkerId, std::uint32_t>& of(std::uint32_t version) const { return of_version_[version]; }
    bool at(std::uint32_t version, WorkerId site) const { return of_version_[version].contains(site); }
    /// All that read a version; but `site`, if one is named.
    std::vector<Target> targets(std::uint32_t version, std::optional<WorkerId> site = {}) const {
        std::vector<Target> found;
        for (const auto& [reader, times] : of_version_[version]) {
            if (reader == site) continue;
            if (found.empty() || found.back().node != reader.node) found.push_back({reader.node, 0});
            ++found.back().readers;
        }
        return found;
    }

private:
    std::vector<std::map<WorkerId, std::uint32_t>> of_version_;
};

/// Makes the program of one thread, task by task.
class SiteBuilder {
public:
    SiteBuilder(const Recording& recording, const Readers& readers, const GroupPlacing& placing,
                WorkerId site)
        : recording_(recording), readers_(readers), placing_(placing), site_(site) {}

    void add(TaskIndex index) {
        const Recording::Task& task = recording_.tasks()[index];
        Step step{Kind::task};
        step.type = task.type;
        step.arguments = task.arguments;
        for (std::size_t i = 0; i < task.uses.size(); ++i) {
            const Recording::Use& use = task.uses[i];
            if (use.same != no_alias) {
                step.uses.push_back({0, use.mode, use.same});
                continue;
            }
            step.uses.push_back({slot_for(use, {task.type, static_cast<std::uint8_t>(i)}), use.mode, use.same,
                                 expected(use)});
        }
        program_.steps.push_back(std::move(step));
        for (const Recording::Use& use : task.uses) {
            if (use.writes != none) hand_on(use);
            if (use.reads != none) read_once(use.reads);
            if (use.writes != none && !readers_.at(use.writes, site_) && !carried(use.writes) &&
                !rests(use.writes))
                give_up(use.writes);
        }
    }

    SiteProgram finish() {
        for (const auto& [object, slot] : first_slots_) {
            const std::uint32_t last = recording_.objects()[object].last;
            const auto found = slots_.find(last);
            if (!carried(last) || found == slots_.end() || found->second == slot) continue;
            Step step{Kind::copy, When::but_last};
            step.slot = found->second;
            step.number = slot;
            program_.steps.push_back(std::move(step));
        }
        for (const auto& [version, slot] : slots_) {
            const Recording::Object& object = object_of(version);
            if (!object.access || version != object.last) continue;
            const bool written = object.last != object.first;
            if (written && !writes_last(object)) continue;
            program_.kept.push_back(
                {recording_.versions()[version].object, slot, written, replaces(version)});
        }
        return std::move(program_);
    }

private:
    bool is_first(std::uint32_t version) const { return recording_.versions()[version].writer == none; }
    /// Whether it is an object's only version, which every iteration reads.
    bool is_constant(std::uint32_t version) const {
        const Recording::Object& object = object_of(version);
        return object.first == version && object.last == version;
    }
    const Recording::Object& object_of(std::uint32_t version) const {
        return recording_.objects()[recording_.versions()[version].object];
    }
    /// Whether this thread writes an object's last version and begins the next iteration with it.
    bool carried(std::uint32_t version) const {
        const Recording::Object& object = object_of(version);
        return version == object.last && version != object.first && writes_last(object) &&
               readers_.at(object.first, site_);
    }
    /// Whether this thread has the version when the last iteration has ended, and it is an object's value.
    bool rests(std::uint32_t version) const {
        const Recording::Object& object = object_of(version);
        return object.access && version == object.last && version != object.first && writes_last(object);
    }
    bool writes_last(const Recording::Object& object) const {
        const std::uint32_t writer = recording_.versions()[object.last].writer;
        return writer != none && placing_.of_task[writer] == site_;
    }

    /// The slot in which a task finds what it reads and leaves what it writes.
    std::uint32_t slot_for(const Recording::Use& use, SiteProgram::Slot type) {
        if (use.reads == none) {
            const std::uint32_t slot = this->use(use.writes, new_slot(type, use.writes));
            clear(slot);
            return slot;
        }
        if (!slots_.contains(use.reads)) receive(use.reads, type);
        const std::uint32_t before = slots_.at(use.reads);
        if (use.writes == none) return before;
        const bool needed = left(use.reads) > 1 || is_constant(use.reads);
        if (!needed) {
            this->use(use.writes, before);
            taken_over_.push_back(use.reads);
            return before;
        }
        const std::uint32_t after = new_slot(type, use.writes);
        Step step{Kind::copy};
        step.slot = before;
        step.number = after;
        program_.steps.push_back(std::move(step));
        return this->use(use.writes, after);
    }

    void receive(std::uint32_t version, SiteProgram::Slot type) {
        const Recording::Object& object = object_of(version);
        Step step{Kind::receive};
        step.number = version;
        // What stays from iteration to iteration has its slot for itself.
        const bool stays = is_constant(version) || (is_first(version) && writes_last(object));
        if (stays) step.when = When::first;
        step.slot = use(version, stays ? own_slot(type) : new_slot(type, version));
        if (!stays && !replaces(version)) clear(step.slot);  // it may come without a value
        if (is_first(version)) {
            first_slots_[recording_.versions()[version].object] = step.slot;
            if (writes_last(object)) is_kept_[step.slot] = true;
        }
        program_.steps.push_back(std::move(step));
    }

    void clear(std::uint32_t slot) {
        Step step{Kind::clear};
        step.slot = slot;
        program_.steps.push_back(std::move(step));
    }
    /// Whether a task must give the version a value (Mode::w).
    bool replaces(std::uint32_t version) const {
        if (is_first(version)) return false;
        const auto& uses = recording_.tasks()[recording_.versions()[version].writer].uses;
        return std::ranges::any_of(
            uses, [&](const Recording::Use& use) { return use.writes == version && use.mode == Mode::w; });
    }

    SiteProgram::Expected expected(const Recording::Use& use) const {
        using Expected = SiteProgram::Expected;
        if (use.reads == none || use.writes == none) return Expected::never;
        const auto written_here = [&](std::uint32_t version) {
            return replaces(version) && placing_.of_task[recording_.versions()[version].writer] == site_;
        };
        if (written_here(use.reads)) return Expected::always;
        const bool carries = is_first(use.reads) && written_here(object_of(use.reads).last);
        return carries ? Expected::carried : Expected::never;
    }

    std::uint32_t own_slot(SiteProgram::Slot type) {
        program_.slots.push_back(type);
        versions_in_.push_back(0);
        is_kept_.push_back(false);
        return static_cast<std::uint32_t>(program_.slots.size() - 1);
    }

    /// A slot that is free; for an object's last version preferably the one of its first.
    std::uint32_t new_slot(SiteProgram::Slot type, std::uint32_t version) {
        const auto first = first_slots_.find(recording_.versions()[version].object);
        if (first != first_slots_.end() && carried(version) && !is_used(first->second)) return first->second;
        auto& free = free_[&type.value()];
        if (!free.empty()) {
            const std::uint32_t slot = free.back();
            free.pop_back();
            return slot;
        }
        return own_slot(type);
    }
    bool is_used(std::uint32_t slot) const { return versions_in_[slot] != 0; }
    std::uint32_t use(std::uint32_t version, std::uint32_t slot) {
        ++versions_in_[slot];
        return slots_[version] = slot;
    }
    void leave(std::uint32_t version) {
        const auto found = slots_.find(version);
        --versions_in_[found->second];
        slots_.erase(found);
    }

    std::uint32_t left(std::uint32_t version) const {
        const auto found = read_.find(version);
        return readers_.of(version).at(site_) - (found == read_.end() ? 0 : found->second);
    }
    void read_once(std::uint32_t version) {
        ++read_[version];
        if (left(version) == 0 && !carried(version) && !rests(version)) give_up(version);
    }
    /// The version is not needed any more. What begins an iteration keeps its slot, unless it is received
    /// each time.
    void give_up(std::uint32_t version) {
        const auto found = slots_.find(version);
        const std::uint32_t slot = found->second;
        const auto over = std::ranges::find(taken_over_, version);
        if (over != taken_over_.end()) {
            taken_over_.erase(over);
            leave(version);
            return;
        }
        if (is_constant(version)) return;
        leave(version);
        if (is_kept_[slot]) return;
        free_[&program_.slots[slot].value()].push_back(slot);
    }
    /// Sends what was just written to the threads that read it.
    void hand_on(const Recording::Use& use) {
        const std::uint32_t slot = slots_.at(use.writes);
        const auto add = [&](When when, std::uint32_t number, std::vector<Target> to) {
            if (to.empty()) return;
            Step step{Kind::send, when};
            step.next_iteration = when == When::but_last;
            step.replaced = use.mode == Mode::w;
            step.slot = slot;
            step.number = number;
            step.to = std::move(to);
            program_.steps.push_back(std::move(step));
        };
        add(When::always, use.writes, readers_.targets(use.writes, site_));
        const Recording::Object& object = recording_.objects()[use.object];
        if (use.writes == object.last && object.access)
            add(When::but_last, object.first, readers_.targets(object.first, site_));
    }

    const Recording& recording_;
    const Readers& readers_;
    const GroupPlacing& placing_;
    WorkerId site_;
    SiteProgram program_;
    std::map<std::uint32_t, std::uint32_t> slots_;  ///< of each version that is here
    std::vector<std::uint32_t> versions_in_;        ///< each slot
    /// Whether an object that this thread carries into the next iteration begins in the slot.
    std::vector<bool> is_kept_;
    std::map<std::uint32_t, std::uint32_t> first_slots_;  ///< of each object's first version
    std::map<std::uint32_t, std::uint32_t> read_;         ///< how often each version was
    std::vector<std::uint32_t> taken_over_;               ///< versions whose slot is a newer one's
    std::map<const ValueType*, std::vector<std::uint32_t>> free_;
};

void check(const Recording& recording, const GroupPlacing& placing, WorkerGrid grid) {
    const std::size_t tasks = recording.tasks().size();
    if (placing.of_task.size() != tasks || placing.sequence.size() != tasks)
        throw Error(fmt::format("a group has {} tasks, and {} were placed", tasks, placing.of_task.size()),
                    "place each task of the recorded graph once");
    std::vector<std::uint32_t> position(tasks, none);
    for (std::uint32_t i = 0; i < tasks; ++i) {
        const TaskIndex task = placing.sequence[i];
        if (task >= tasks || position[task] != none)
            throw Error("the order of a group's tasks does not name each of them once", "");
        position[task] = i;
        const WorkerId at = placing.of_task[task];
        if (at.node >= grid.nodes || at.core >= grid.cores)
            throw Error(
                fmt::format(
                    "task {} of a group is placed on worker {} of node {}, and there are {} nodes of {}",
                    task, at.core, at.node, grid.nodes, grid.cores),
                "nodes and their workers are numbered from 0");
        for (const TaskGraph::Link& before : recording.graph().predecessors(task))
            if (position[before.task] == none)
                throw Error(fmt::format("task {} of a group comes before task {}, which writes what it reads",
                                        task, before.task),
                            "order each task after its predecessors");
    }
}

}  // namespace

GroupPrograms programs_of(const Recording& recording, const GroupPlacing& placing, WorkerGrid grid) {
    check(recording, placing, grid);
    const Readers readers(recording, placing);
    std::map<WorkerId, SiteBuilder> builders;
    for (const TaskIndex task : placing.sequence) {
        const WorkerId site = placing.of_task[task];
        builders.try_emplace(site, recording, readers, placing, site).first->second.add(task);
    }
    GroupPrograms made;
    for (auto& [site, builder] : builders) made.of_site[site] = builder.finish();
    for (const Recording::Object& object : recording.objects()) {
        const std::uint32_t writer = recording.versions()[object.last].writer;
        made.begins_at.push_back(readers.targets(object.first));
        made.owner.push_back(writer == none ? GroupPrograms::nowhere : placing.of_task[writer].node);
    }
    return made;
}

// --- as it travels

namespace {

/// What is expected travels in the byte of the mode.
constexpr std::uint32_t mode_bits = 4;

std::uint8_t packed(const SiteProgram::Bound& bound) {
    return static_cast<std::uint8_t>(static_cast<std::uint32_t>(bound.mode) |
                                     static_cast<std::uint32_t>(bound.expected) << mode_bits);
}

}  // namespace

void SiteProgram::write(runtime::Writer& writer) const {
    writer.put_size(slots.size());
    for (const Slot& slot : slots) writer.put(slot.type->task->id()).put(slot.formal);
    writer.put_size(steps.size());
    for (const Step& step : steps) {
        writer.put(step.kind)
            .put(step.when)
            .put(step.next_iteration)
            .put(step.replaced)
            .put(step.slot)
            .put(step.number);
        writer.put_size(step.to.size());
        for (const Target& to : step.to) writer.put(to.node).put(to.readers);
        if (step.kind != Kind::task) continue;
        writer.put(step.type->task->id()).put_size(step.arguments.size());
        writer.put_bytes(step.arguments);
        for (const Bound& bound : step.uses) writer.put(bound.slot).put(packed(bound)).put(bound.same);
    }
    writer.put_size(kept.size());
    for (const Kept& at_rest : kept)
        writer.put(at_rest.object).put(at_rest.slot).put(at_rest.written).put(at_rest.replaced);
}

namespace {

const ClosureType& read_type(runtime::Reader& reader) {
    const ClosureType* const type = closure_type_of(reader.get<runtime::TaskTypeId>());
    reader.check();
    if (!type) throw runtime::MalformedMessage("a group has a task that is not known here");
    return *type;
}

void read_task(runtime::Reader& reader, const std::vector<SiteProgram::Slot>& slots, Step& step) {
    step.type = &read_type(reader);
    const auto bytes = reader.get_bytes(reader.get_size());
    step.arguments.assign(bytes.begin(), bytes.end());
    for (std::uint32_t i = 0; i < step.type->accesses; ++i) {
        SiteProgram::Bound bound{};
        bound.slot = reader.get<std::uint32_t>();
        const auto mode = reader.get<std::uint8_t>();
        bound.mode = static_cast<Mode>(mode & ((1U << mode_bits) - 1));
        bound.expected = static_cast<SiteProgram::Expected>(mode >> mode_bits);
        bound.same = reader.get<std::uint8_t>();
        const bool alias = bound.same != no_alias;
        if (bound.mode > Mode::cw || bound.expected > SiteProgram::Expected::carried ||
            (alias && bound.same >= i) ||
            (!alias &&
             (bound.slot >= slots.size() || &slots[bound.slot].value() != step.type->formals[i].value)))
            throw runtime::MalformedMessage("a task of a group has an object of another type");
        step.uses.push_back(bound);
    }
}

}  // namespace

SiteProgram SiteProgram::read(runtime::Reader& reader) {
    SiteProgram program;
    for (std::uint64_t left = reader.get_size(); left != 0; --left) {
        const ClosureType& type = read_type(reader);
        const auto formal = reader.get<std::uint8_t>();
        if (formal >= type.accesses) throw runtime::MalformedMessage("a group has a slot without a type");
        program.slots.push_back({&type, formal});
    }
    for (std::uint64_t left = reader.get_size(); left != 0; --left) {
        Step step{};
        step.kind = reader.get<Kind>();
        step.when = reader.get<When>();
        step.next_iteration = reader.get<std::uint8_t>() != 0;
        step.replaced = reader.get<std::uint8_t>() != 0;
        step.slot = reader.get<std::uint32_t>();
        step.number = reader.get<std::uint32_t>();
        for (std::uint64_t sites = reader.get_size(); sites != 0; --sites) {
            reader.check();
            const auto node = reader.get<NodeId>();
            step.to.push_back({node, reader.get<std::uint32_t>()});
        }
        reader.check();
        const bool two_slots = step.kind == Kind::copy;
        if (step.kind > Kind::clear || step.when > When::but_last ||
            (step.kind != Kind::task && step.slot >= program.slots.size()) ||
            (two_slots && step.number >= program.slots.size()))
            throw runtime::MalformedMessage("a step of a group makes no sense");
        if (step.kind == Kind::task) read_task(reader, program.slots, step);
        program.steps.push_back(std::move(step));
    }
    for (std::uint64_t left = reader.get_size(); left != 0; --left) {
        Kept kept{};
        kept.object = reader.get<std::uint32_t>();
        kept.slot = reader.get<std::uint32_t>();
        kept.written = reader.get<std::uint8_t>() != 0;
        kept.replaced = reader.get<std::uint8_t>() != 0;
        reader.check();
        if (kept.slot >= program.slots.size())
            throw runtime::MalformedMessage("a group keeps what it does not have");
        program.kept.push_back(kept);
    }
    reader.check();
    return program;
}

}  // namespace heddle::dataflow
