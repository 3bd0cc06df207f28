// Starts the threads of a group, and collects what they have written.
#include "model/dataflow/group.hpp"

#include "base/error.hpp"
#include "runtime/strands/large_stack.hpp"

namespace heddle::dataflow {

Group::~Group() = default;

void Group::place(const Placer& placer) {
    const runtime::Topology& topology = self_.worker().node().topology();
    runtime::on_large_stack([&] { placing_ = placer(recording_); });  // partitioners recurse
    programs_ = programs_of(recording_, placing_, {topology.nodes, self_.worker().node().cores()});
}

void Group::start(std::uint32_t iterations) {
    if (run_) throw Error("a group is started while it runs", "wait for it before");
    self_.sync();
    if (iterations == 0 || programs_.of_site.empty()) return;
    const auto ends = static_cast<std::uint32_t>(programs_.of_site.size()) + programs_.results;
    run_.emplace(recording_.objects().size(), ends);
    runtime::Worker& worker = self_.worker();
    auto& sites = worker.node().state<GroupSites>();
    run_->name = sites.begin(run_->home);
    for (const auto& [site, program] : programs_.of_site)
        sites.start(worker, site, {run_->name, site.core, iterations, placing_.strict}, program);
    for (std::size_t i = 0; i < recording_.objects().size(); ++i) {
        const Recording::Object& object = recording_.objects()[i];
        if (programs_.begins_at[i].empty()) continue;
        runtime::Writer writer;
        object.type->write(*object.access->data, writer);
        sites.send(worker, {run_->name, 0, object.first}, programs_.begins_at[i], writer.take_body());
    }
}

void Group::wait() {
    if (!run_) return;
    self_.wait(run_->home.end());
    self_.worker().node().state<GroupSites>().end(run_->name);
    for (std::size_t i = 0; i < recording_.objects().size(); ++i) {
        const runtime::Body& value = run_->home.result(i);
        if (!value) continue;
        runtime::Reader reader(*value);
        const Recording::Object& object = recording_.objects()[i];
        object.type->read(*object.access->data, reader);
        if (!reader.done()) throw runtime::MalformedMessage("a result of a group cannot be read");
    }
    run_.reset();
}

}  // namespace heddle::dataflow
