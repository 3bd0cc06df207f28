// Starts the threads of a group, gives them the values with which they begin, and remembers where values are
// when they have ended.
#include "model/dataflow/group.hpp"

#include <algorithm>
#include <exception>

#include "base/error.hpp"
#include "runtime/strands/large_stack.hpp"

namespace heddle::dataflow {

namespace {

constexpr NodeId nowhere = GroupPrograms::nowhere;

bool is_among(std::span<const Target> targets, NodeId node) {
    return std::ranges::find(targets, node, &Target::node) != targets.end();
}

}  // namespace

void Group::begin(const Placer& placer) {
    name_ = sites().new_name();
    place(placer);
}

/// If it is unwound its objects are not used any more.
Group::~Group() noexcept(false) {
    Lending& lending = self_.lending();
    if (std::uncaught_exceptions() > exceptions_) {
        lending.ended(*this);
        return;
    }
    wait();
    home();
    for (const Recording::Object& object : recording_.objects())
        if (object.access) lending.call_in(*object.access, name_);
    for (const auto& [node, placing] : has_placing_) sites().forget(self_.worker(), node, name_);
}

void Group::place(const Placer& placer) {
    wait();
    const runtime::Topology& topology = self_.worker().node().topology();
    runtime::on_large_stack([&] { placing_ = placer(recording_); });  // partitioners recurse
    programs_ = programs_of(recording_, placing_, {topology.nodes, self_.worker().node().cores()});
    ++placings_;
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
    self_.lending().wait_for_conflicts(*this);
    runtime::Worker& worker = self_.worker();
    const GroupQuestion question{name_, run_};
    Running& running = running_.emplace(Running{question, sites().ask(question), iterations});
    running.answers->expect(static_cast<std::uint32_t>(programs_.of_site.size()), worker.node(), worker);
    Runs runs;
    for (const auto& [site, program] : programs_.of_site) {
        const bool is_new = !runs.contains(site.node);
        if (is_new) runs[site.node] = run_of(site.node, iterations);
        if (has_placing_[site.node] != placings_) runs[site.node].programs.emplace_back(site.core, program);
    }
    for (const auto& [node, run] : runs) has_placing_[node] = placings_;
    give_values(runs, running);
    for (auto& [node, run] : runs) sites().begin(worker, node, std::move(run));
    self_.lending().started(*this);
}

NodeRun Group::run_of(NodeId /*node*/, std::uint32_t iterations) {
    return {name_, run_, placings_, iteration_, iterations, placing_.strict, false, {}, {}};
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
    if (!runs.contains(holder.node)) runs[holder.node] = run_of(holder.node, 0);
    runs[holder.node].moves.push_back(std::move(move));
}

void Group::send_from_home(std::uint32_t number, std::span<const Target> to) {
    const Recording::Object& object = recording_.objects()[number];
    runtime::Writer writer;
    object.type->write(*object.access->data, writer);
    sites().send(self_.worker(), {name_, iteration_, object.first}, to, writer.take_body());
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

void Group::read_reports() {
    run_time_ = {};
    for (const auto& [site, report] : running_->answers->all()) {
        runtime::Reader reader(*report);
        run_time_ = std::max(run_time_, reader.get<Time>());
        reader.check();
    }
    sites().count_run(std::chrono::duration<double>(run_time_).count());
}

/// Objects of the body's callers come home at once: the body has them in one mode only, and its own accesses
/// are not looked at.
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
    wait();
    std::vector<Access*> away;
    for (const Recording::Object& object : recording_.objects())
        if (object.access) away.push_back(object.access);
    self_.lending().fetch(away);
}

}  // namespace heddle::dataflow
