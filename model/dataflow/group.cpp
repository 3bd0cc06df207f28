// Runs a group, the recorded graph of tasks that a body forks. It starts the group's threads, gives them
// their first values, and notes where values are when the threads have ended.
#include "model/dataflow/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/error.hpp"
#include "model/dataflow/recorded_groups.hpp"
#include "runtime/strands/large_stack.hpp"

namespace heddle::dataflow {

namespace {

constexpr NodeId nowhere = GroupPrograms::nowhere;

/// What placing and cutting a graph costs for each task, where operations are charged: so many forks and
/// joins of a task. Natively a task took 1.7 us, and 62 ns to be forked and run (bench/native,
/// heddle_dataflow: group 10000 100 1, tasks 10000 100 1). The partitioner's own time is not in it.
constexpr std::int64_t tasks_to_place_one = 27;

bool is_among(std::span<const Target> targets, NodeId node) {
    return std::ranges::find(targets, node, &Target::node) != targets.end();
}

}  // namespace

void Group::begin(const Placer& placer) {
    if (everywhere_ && !self_.in_first_body())
        throw Error("a task makes a group that every node is to record",
                    "make it in `main` and in `elsewhere`, or let it be recorded once");
    name_ = everywhere_ ? self_.worker().node().state<RecordedGroups>().new_name() : sites().new_name();
    place(placer);
}

/// If it is unwound its objects are not used any more.
Group::~Group() noexcept(false) {
    Lending& lending = self_.lending();
    const bool unwound = std::uncaught_exceptions() > exceptions_;
    if (!unwound) tell_runs(0);
    if (elsewhere_ || unwound) {
        lending.ended(*this);
        return;
    }
    wait();
    home();
    call_all_in();
    if (everywhere_)
        for (NodeId node = 0; node < self_.worker().node().topology().nodes; ++node) has_placing_[node] = 0;
    for (const auto& [node, placing] : has_placing_) sites().forget(self_.worker(), node, name_);
}

/// The values are at home.
void Group::call_all_in() {
    for (const Recording::Object& object : recording_.objects())
        if (object.access) self_.lending().call_in(*object.access, name_);
}

void Group::place(const Placer& placer) {
    wait();
    const runtime::Topology& topology = self_.worker().node().topology();
    GroupPlacing placing;
    runtime::on_large_stack([&] { placing = placer(recording_); });  // partitioners recurse
    GroupPrograms programs =
        programs_of(recording_, placing, {topology.nodes, self_.worker().node().cores()});
    tell_runs(0);  // of the placing before
    placing_ = std::move(placing);
    programs_ = std::move(programs);
    ++placings_;
    runtime::Worker& worker = self_.worker();
    const auto tasks = static_cast<std::int64_t>(recording_.tasks().size());
    worker.charge(tasks * tasks_to_place_one * (worker.costs->fork + worker.costs->join));
    if (everywhere_) install_programs();
}

/// This node has its programs of itself.
void Group::install_programs() {
    runtime::Worker& worker = self_.worker();
    TaskDescriptions tasks;
    for (TaskIndex task = 0; task < recording_.tasks().size(); ++task) {
        const WorkerId at = placing_.of_task[task];
        tasks.push_back(
            fmt::format("{}, on worker {} of node {}", recording_.describe(task), at.core, at.node));
    }
    for (std::size_t i = 0; i < tasks.size(); ++i)
        tasks[placing_.sequence[i]] += fmt::format(", as number {}", i);
    digest_ = static_cast<std::uint32_t>(digest_of(tasks));
    GroupSites::Programs programs;
    for (const auto& [site, program] : programs_.of_site)
        if (site.node == worker.id.node) programs[site.core] = std::make_shared<const SiteProgram>(program);
    worker.node().state<RecordedGroups>().recorded(worker, {name_, placings_}, std::move(tasks));
    sites().install(worker, name_, placings_, std::move(programs));
    told_ = false;
    if (run_ != 0) tell_runs(0);
}

/// The first run of all, which each node begins of itself, has so many iterations and the present placing. 0:
/// it has another placing, or there is none.
void Group::tell_runs(std::uint32_t iterations) {
    if (std::exchange(told_, true)) return;
    runtime::Worker& worker = self_.worker();
    worker.node().state<RecordedGroups>().runs(worker, {name_, placings_}, iterations);
}

bool Group::conflicts(const Group& other) const {
    return std::ranges::any_of(recording_.objects(), [&](const Recording::Object& object) {
        return object.access && other.uses(*object.access) &&
               (writes(*object.access) || other.writes(*object.access));
    });
}

// --- a run

void Group::start(std::uint32_t iterations) {
    if (running_) throw Error("a group is started while it runs", "wait for it before");
    self_.sync();
    if (iterations == 0 || programs_.of_site.empty()) return;
    tell_runs(iterations);
    if (elsewhere_) return begin_elsewhere(iterations);
    self_.lending().wait_for_conflicts(*this);
    // Nodes that have recorded it do not ask where its values are.
    if (everywhere_ && run_ == 0) {
        home();
        call_all_in();
    }
    runtime::Worker& worker = self_.worker();
    const GroupQuestion question{name_, run_};
    Running& running = running_.emplace(Running{question, sites().ask(question), iterations});
    running.answers->expect(static_cast<std::uint32_t>(programs_.of_site.size()), worker.node(), worker);
    Runs runs;
    start_threads(runs, iterations);
    give_values(runs, running);
    for (auto& [node, run] : runs) sites().begin(worker, node, std::move(run));
    self_.lending().started(*this);
}

/// Only the first run: node 0 says when the others begin.
void Group::begin_elsewhere(std::uint32_t iterations) {
    if (run_ == 0) sites().begin(self_.worker(), self_.worker().id.node, run_of(iterations));
    ++run_;
}

void Group::start_threads(Runs& runs, std::uint32_t iterations) {
    const NodeId home = self_.worker().id.node;
    for (const auto& [site, program] : programs_.of_site) {
        if (everywhere_ && run_ == 0 && site.node != home) continue;  // it begins of itself
        runs.try_emplace(site.node, run_of(iterations));
        if (!everywhere_ && has_placing_[site.node] != placings_)
            runs[site.node].programs.emplace_back(site.core, program);
    }
    for (const auto& [node, run] : runs) has_placing_[node] = placings_;
}

NodeRun Group::run_of(std::uint32_t iterations) const {
    return {name_, run_, placings_, iteration_, iterations, placing_.strict, measures_, digest_, {}, {}};
}

void Group::give_values(Runs& runs, Running& running) {
    const auto count = static_cast<std::uint32_t>(recording_.objects().size());
    for (std::uint32_t object = 0; object < count; ++object)
        if (recording_.objects()[object].access) give_value(object, runs, running);
}

/// Each node that begins with a value, and does not have it, gets it from home, or from the first node that
/// has it.
void Group::give_value(std::uint32_t number, Runs& runs, Running& running) {
    const Recording::Object& object = recording_.objects()[number];
    Access& root = *object.access;
    const std::vector<Target>& begins = programs_.begins_at[number];
    const NodeId owner = programs_.owner[number];
    const bool written = owner != nowhere;
    const bool was_lent = root.is(Access::lent);
    Lending::Lent& lent = self_.lending().lend(root, *object.type);

    std::vector<Target> missing;
    for (const Target& target : begins) {
        const auto holder = std::ranges::find(lent.holders, target.node, &Lending::Holder::node);
        if (holder == lent.holders.end()) {
            missing.push_back(target);
            if (!written) running.copies.emplace_back(number, target.node);
        }
    }
    if (was_lent && written && is_among(missing, owner)) {
        ++moved_;
        sites().count_moved(1);
    }
    const bool from_home = !root.is(Access::away);
    if (from_home && !missing.empty()) send_from_home(number, missing);
    if (!from_home && !missing.empty()) Lending::expect_holder(lent);
    for (const Lending::Holder& holder : lent.holders) {
        GroupMove move{holder.value, number, object.first, written, 0, {}, false};
        for (const Target& target : begins)
            if (target.node == holder.node) move.readers = target.readers;
        if (!from_home) move.to = std::exchange(missing, {});
        add_move(holder, std::move(move), runs);
    }
    if (!written) return;
    lent.holders.clear();
    root.set(Access::away);
}

void Group::add_move(const Lending::Holder& holder, GroupMove move, Runs& runs) {
    if (move.readers == 0 && move.to.empty()) {
        if (move.written) sites().drop(self_.worker(), holder.node, holder.value);
        return;
    }
    if (!runs.contains(holder.node)) {
        runs[holder.node] = run_of(0);
        has_placing_.try_emplace(holder.node, 0);  // it is to forget the group, too
    }
    runs[holder.node].moves.push_back(std::move(move));
}

void Group::send_from_home(std::uint32_t number, std::span<const Target> to) {
    const Recording::Object& object = recording_.objects()[number];
    runtime::Writer writer;
    object.type->write(*object.access->data, writer);
    sites().send(self_.worker(), {name_, iteration_, object.first, digest_}, to, writer.take_body());
}

// --- its end

void Group::wait() {
    if (!running_) return;
    self_.wait(running_->answers->end());
    read_reports();
    sites().end(running_->question);
    const Running ended = std::move(*running_);
    running_.reset();
    self_.lending().ended(*this);
    lend_objects(ended);
    ++run_;
    iteration_ += ended.iterations;
}

void Group::measure() {
    if (everywhere_)
        throw Error("the tasks of a group that every node records are to be measured",
                    "let one node record it: the others would not know the times");
    wait();
    measures_ = true;
}

void Group::read_reports() {
    run_time_ = {};
    std::vector<Recording::Measured> times(measures_ ? recording_.tasks().size() : 0);
    const CoreId cores = self_.worker().node().cores();
    for (const auto& [site, report] : running_->answers->all()) {
        runtime::Reader reader(*report);
        run_time_ = std::max(run_time_, reader.get<Time>());
        if (measures_) read_times({site / cores, site % cores}, reader, times);
        if (!reader.done()) throw runtime::MalformedMessage("the end of a group's thread cannot be read");
    }
    if (std::exchange(measures_, false)) recording_.measured(std::move(times));
    sites().count_run(std::chrono::duration<double>(run_time_).count());
}

/// A thread tells them in the order of its tasks.
void Group::read_times(WorkerId site, runtime::Reader& report,
                       std::vector<Recording::Measured>& times) const {
    for (const TaskIndex task : placing_.sequence)
        if (placing_.of_task[task] == site) times[task] = {report.get<Time>(), site};
}

/// Objects of the body's callers come home at once: the body has them in one mode only, and its reads and
/// writes are not looked at.
void Group::lend_objects(const Running& ended) {
    Lending& lending = self_.lending();
    std::vector<Access*> foreign;
    for (std::uint32_t number = 0; number < recording_.objects().size(); ++number) {
        const Recording::Object& object = recording_.objects()[number];
        if (!object.access) continue;
        if (programs_.owner[number] != nowhere)
            lending.lend(*object.access, *object.type).holders = {
                {programs_.owner[number], value_of(number)}};
        if (object.access->root) foreign.push_back(object.access);
    }
    for (const auto& [number, node] : ended.copies) {
        const Recording::Object& object = recording_.objects()[number];
        auto& holders = lending.lend(*object.access, *object.type).holders;
        if (std::ranges::find(holders, node, &Lending::Holder::node) == holders.end()) {
            holders.push_back({node, value_of(number)});
        } else {
            sites().drop(self_.worker(), node, value_of(number));
        }
    }
    lending.fetch(foreign);
    for (Access* const root : foreign) lending.call_in(*root);
}

void Group::home() {
    if (elsewhere_) return;
    wait();
    std::vector<Access*> away;
    for (const Recording::Object& object : recording_.objects())
        if (object.access) away.push_back(object.access);
    self_.lending().fetch(away);
}

}  // namespace heddle::dataflow
